package engine

import (
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/spec"
)

// budget is how many tokens a request may have.
type budget struct {
	window int64 // what the model takes, its answer included
	room   int64 // of it, without what is kept free for the answer
	limit  int64 // where the conversation is made smaller
}

// budget finds that for the model that is asked.
func (r *run) budget() budget { return r.budgetOf(r.asked()) }

// asked is the model of the chain that the loop asks.
func (r *run) asked() *link {
	if l := r.s.Loop; l != nil {
		for i := range r.models {
			if r.models[i].Name() == l.Model {
				return &r.models[i]
			}
		}
	}
	return &r.models[0]
}

func (r *run) budgetOf(l *link) budget {
	c := &r.Spec.Context
	window := int64(l.window)
	if window == 0 {
		window = spec.DefaultWindow
	}
	if n := int64(c.Window); n > 0 && (l.window == 0 || n < window) {
		window = n
	}
	free := int64(usualOutput)
	switch {
	case c.Reserve != nil:
		free = int64(*c.Reserve)
	case l.params.MaxTokens > 0:
		free = int64(l.params.MaxTokens)
	case l.output > 0:
		free = int64(l.output)
	}
	b := budget{window: window, room: window - min(free, window/2)}
	b.limit = min(b.room, int64(float64(window)*c.CompactAt))
	return b
}

// Bounds of how far a provider's count may be from an estimate.
const (
	leastFactor = 0.25
	mostFactor  = 4
)

// load tells how many tokens the next request has: what the provider counted
// last, and an estimate of what is new. factor is how many tokens the provider
// counts for one that is estimated.
func (r *run) load() (tokens int64, factor float64) {
	l := &r.s.Load
	prefix := message.Tokens(len(r.prefixJSON))
	if l.Counted == 0 {
		return prefix + l.All, 1
	}
	factor = 1
	if then := prefix + l.All - l.Since; then > 0 {
		factor = min(max(float64(l.Counted)/float64(then), leastFactor), mostFactor)
	}
	return l.Counted + int64(float64(l.Since)*max(factor, 1)), factor
}
