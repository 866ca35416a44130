package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// putBack is a clock that is put back by a day after it was looked at some times.
type putBack struct {
	clock.Clock
	looks atomic.Int64
	after int64
}

func (c *putBack) Now() time.Time {
	if c.looks.Add(1) > c.after {
		return c.Clock.Now().Add(-24 * time.Hour)
	}
	return c.Clock.Now()
}

// TestClockIsPutBack: a run does not notice, wherever in it that happens: it
// neither ends by its time limit nor counts time twice.
func TestClockIsPutBack(t *testing.T) {
	for after := range int64(12) {
		b := newBench(t, script.New(
			script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n":1}`}}},
			script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n":2}`}}},
			script.Reply{Text: "Done."},
		).Model("script/x"), newProbe("probe", nil))
		b.spec.Limits.Duration = time.Minute
		b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
		ctx := clock.With(t.Context(), &putBack{Clock: clock.From(context.Background()), after: after})
		var events []session.Event
		for e, err := range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if end := end(t, events); end.Reason != session.ReasonDone || end.Text != "Done." {
			t.Errorf("put back after %d looks: %+v", after, end)
		}
		b.checkLog()
		st := session.NewState(key)
		for e, err := range b.store.Read(t.Context(), key, 0) {
			if err == nil {
				err = st.Apply(&e)
			}
			if err != nil {
				t.Fatal(err)
			}
			if l := st.Root.Loop; l != nil && (l.Active < 0 || l.Active > time.Minute) {
				t.Errorf("put back after %d looks: %v at work at event %d", after, l.Active, e.Seq)
			}
		}
	}
}
