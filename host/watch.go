package host

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
)

// watch finds the end of the loop that answers a post. The loop is the one
// whose message delivers the post.
type watch struct {
	host *Host
	sub  Submitted
	loop string
	rest rest
	end  *session.LoopEnd
	// stops ends it also where the loop waits for a person.
	stops bool
}

func (h *Host) watch(sub Submitted) *watch {
	return &watch{host: h, sub: sub, rest: rest{host: h, key: sub.Key}}
}

// errEnded is for a source of events that ends by itself.
var errEnded = errors.New("the session's events ended before its loop")

// wait returns the end of the loop.
func (w *watch) wait(ctx context.Context) (*session.LoopEnd, error) {
	after := w.sub.Post - 1
	for {
		var behind *dispatch.FellBehind
		for _, err := range w.until(ctx, after) {
			if err != nil && !errors.As(err, &behind) {
				return nil, err
			}
		}
		if w.end != nil {
			return w.end, nil
		}
		if behind == nil {
			return nil, errEnded
		}
		after = behind.From
	}
}

// until yields the session's events after seq after, up to the end of the loop.
func (w *watch) until(ctx context.Context, after int64) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		if w.end != nil {
			return
		}
		fail := func(err error) { yield(nil, causeOf(ctx, err)) }
		for batch, err := range w.host.deps.Follow(ctx, w.sub.Key, after) {
			if err != nil {
				fail(err)
				return
			}
			n := w.seeAll(batch)
			if n >= 0 {
				yield(batch[:n+1], nil)
				return
			}
			if !yield(batch, nil) {
				return
			}
			if waits, err := w.waits(ctx, batch); waits || err != nil {
				if err != nil {
					fail(err)
				}
				return
			}
			// A loop may have ended without taking the post, as a steering
			// message that comes too late for a loop that is cancelled.
			quiet, err := w.rest.after(ctx, batch)
			if err != nil {
				fail(err)
				return
			}
			if quiet {
				w.end = w.rest.end
				return
			}
		}
	}
}

// waits says whether the loop waits for a person, if that is to end it. What was
// answered since is not looked at again.
func (w *watch) waits(ctx context.Context, batch []session.Event) (bool, error) {
	begins := func(e session.Event) bool { return e.Type == "loop.waiting" && e.Loop == w.loop }
	if !w.stops || !slices.ContainsFunc(batch, begins) {
		return false, nil
	}
	sum, err := w.host.summary(ctx, w.sub.Key)
	if err != nil || !sum.Suspended {
		return false, err
	}
	w.end = &session.LoopEnd{Reason: session.ReasonWaiting}
	return true, nil
}

// seeAll returns the place of the end of the loop in a batch, or -1.
func (w *watch) seeAll(batch []session.Event) int {
	for i := range batch {
		if w.see(&batch[i]) {
			return i
		}
	}
	return -1
}

// see says whether an event is the end of the loop.
func (w *watch) see(e *session.Event) bool {
	switch e.Type {
	case "message":
		if b, ok := body[*session.Message](e); ok && b.Post == w.sub.Post {
			w.loop, w.rest.never = e.Loop, true
		}
	case "loop.end":
		if b, ok := body[*session.LoopEnd](e); ok && w.loop != "" && e.Loop == w.loop {
			w.end = b
		}
	}
	return w.end != nil
}

// skip passes over what a client has seen, up to seq, and returns where it
// stands.
func (w *watch) skip(ctx context.Context, seq int64) (int64, error) {
	store, err := w.host.deps.Backend(ctx)
	if err != nil {
		return 0, err
	}
	at := w.sub.Post - 1
	for e, err := range store.Read(ctx, w.sub.Key, at) {
		if err != nil {
			return 0, err
		}
		if e.Seq > seq {
			return at, nil
		}
		if at = e.Seq; w.see(&e) {
			return at, nil
		}
	}
	if at < seq {
		return 0, noEvent("Last-Event-ID", seq)
	}
	return at, nil
}

// rest finds out when a session has nothing left to do, for one who reads its
// events.
type rest struct {
	host  *Host
	key   session.Key
	never bool             // it is not of interest
	due   bool             // a loop has ended since the last look
	upTo  int64            // the next look is due when this event was read
	end   *session.LoopEnd // the newest
}

// after takes the next events in, and says whether nothing will follow them.
func (r *rest) after(ctx context.Context, batch []session.Event) (bool, error) {
	if r.never {
		return false, nil
	}
	var last int64
	for i := range batch {
		e := &batch[i]
		last = max(last, e.Seq)
		if e.Type == "loop.end" && e.Depth == 0 {
			r.due = true
			r.end, _ = body[*session.LoopEnd](e)
		}
	}
	if !r.due || last < r.upTo || last == 0 {
		return false, nil
	}
	return r.at(ctx, last)
}

// at says whether the session rests and event last is its newest.
func (r *rest) at(ctx context.Context, last int64) (bool, error) {
	sum, err := r.host.summary(ctx, r.key)
	if err != nil {
		return false, err
	}
	if !sum.AtRest() {
		r.due = false
		return false, nil
	}
	r.due, r.upTo = true, sum.Last
	return last >= sum.Last, nil
}
