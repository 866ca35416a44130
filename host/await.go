package host

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
)

// Await shows all that a prompt brings about, in batches, until its loop has
// ended, and returns that end. It needs Follow and Backend of d. A loop that
// waits for a person is waited for. If the events come faster than they are
// taken, it goes on with what is stored.
func Await(ctx context.Context, d Deps, sub Submitted, see func([]session.Event)) (*session.LoopEnd, error) {
	return (&Host{deps: d}).watch(sub).await(ctx, see)
}

// AwaitPerson is Await that ends also where the loop waits for a person, with
// session.ReasonWaiting.
func AwaitPerson(ctx context.Context, d Deps, sub Submitted, see func([]session.Event)) (*session.LoopEnd, error) {
	w := (&Host{deps: d}).watch(sub)
	w.stops = true
	return w.await(ctx, see)
}

func (w *watch) await(ctx context.Context, see func([]session.Event)) (*session.LoopEnd, error) {
	sub := w.sub
	after := sub.After()
	for {
		var behind *dispatch.FellBehind
		for batch, err := range w.until(ctx, after) {
			if err != nil && !errors.As(err, &behind) {
				return nil, err
			}
			see(batch)
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
