package engine

import (
	"context"
	"math"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// reserved is what model calls that are under way may yet take: those of a
// session and of all that work for it.
type reserved struct {
	calls  int
	tokens int64
	cost   float64
}

// usualOutput is how many tokens an answer is taken to have at most, where
// neither the profile nor the catalog says.
const usualOutput = 8192

// reserve keeps room for a child's next call in the limits of all that it works
// for, so that several children at once go past a limit by no more than one call
// would. It waits for those under way where there is not enough room. It returns
// what gives the room back, or the limit that has been reached.
func (r *run) reserve() (settle func(), limit *session.Limit) {
	if r.above == nil {
		return func() {}, nil
	}
	defer r.wakeAtEnd()()
	tokens, cost := r.mayTake()
	for r.work.Err() == nil {
		if limit := r.spent(); limit != nil {
			return nil, limit
		}
		if r.room(tokens, cost) {
			break
		}
		r.settled.Wait()
	}
	r.hold(1, tokens, cost)
	return func() {
		r.hold(-1, -tokens, -cost)
		r.settled.Broadcast()
	}, nil
}

// wakeAtEnd wakes who waits for others when this run's work is to end. What it
// returns ends that.
func (r *run) wakeAtEnd() (stop func() bool) {
	return context.AfterFunc(r.work, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.settled.Broadcast()
	})
}

func (r *run) hold(calls int, tokens int64, cost float64) {
	for x := r; x != nil; x = x.above {
		x.held.calls += calls
		x.held.tokens += tokens
		x.held.cost += cost
	}
}

// outputLeft is how many tokens the answer to come may have before a limit on
// what may be used is reached, of this session or of one that it works for. What
// goes in is not known before the end, and counts then.
func (r *run) outputLeft() int64 {
	left := int64(math.MaxInt64)
	for x := r; x != nil; x = x.above {
		m, used := &x.Spec.Limits, &x.s.Loop.Usage
		if m.Tokens > 0 {
			left = min(left, m.Tokens-used.Limited())
		}
		if price := r.link.price.Output; m.Cost > 0 && price > 0 {
			left = min(left, int64(min((m.Cost-used.Cost)*1e6/price, maxOutput)))
		}
	}
	return left
}

// room says whether a call that takes so much stays within every limit, or is
// the only one there.
func (r *run) room(tokens int64, cost float64) bool {
	for x := r; x != nil; x = x.above {
		m, used := &x.Spec.Limits, &x.s.Loop.Usage
		if x.held.calls == 0 {
			continue
		}
		if m.Tokens > 0 && used.Limited()+x.held.tokens+tokens > m.Tokens || m.Cost > 0 && used.Cost+x.held.cost+cost > m.Cost {
			return false
		}
	}
	return true
}

// mayTake estimates what the next call takes at most.
func (r *run) mayTake() (tokens int64, cost float64) {
	input, _ := r.load()
	u := message.Usage{Input: input, Output: usualOutput}
	if n := r.Spec.Model.MaxOutput; n > 0 {
		u.Output = int64(n)
	}
	if n := r.link.params.MaxTokens; n > 0 {
		u.Output = int64(n)
	}
	return u.Limited(), r.link.cost(&u)
}

// maxOutput is more tokens than any answer has.
const maxOutput = 1e12
