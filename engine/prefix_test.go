package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestAnyPrefixCanBeResumed cuts a log anywhere, as a worker that dies leaves it,
// and has another worker take it up: it comes to rest, and holds what every log
// holds.
func TestAnyPrefixCanBeResumed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from := newTreeWorld(t, rt)
		from.post(0)
		from.rest()
		var log []session.Event
		for e, err := range from.store.Read(context.Background(), key, 0) {
			if err != nil {
				rt.Fatal(err)
			}
			log = append(log, e)
		}
		to := newTreeWorld(t, rt)
		to.load(from.store, log[:rapid.IntRange(1, len(log)).Draw(rt, "prefix")])
		to.rest()
	})
}

// rest runs what there is to run, and answers what is asked, until nothing is
// left to do, and holds the log.
func (w *world) rest() {
	for range 200 {
		if !w.runOnce() && !w.postAnswer() && !w.postIdle() {
			w.check()
			return
		}
	}
	w.rt.Fatalf("the session does not come to rest")
}

// load writes a log that a worker has left, which is dead now. What its calls
// may have done counts as done, unless they may be made again.
func (w *world) load(from *memory.Store, log []session.Event) {
	ctx := context.Background()
	for i := range log {
		e := log[i]
		body, err := e.Decode()
		if err != nil {
			w.rt.Fatal(err)
		}
		e.Body = body
		for _, ref := range e.Refs {
			data, err := from.Blob(ctx, key.Tenant, ref)
			if err == nil {
				_, err = w.store.PutBlob(ctx, key.Tenant, data)
			}
			if err != nil {
				w.rt.Fatal(err)
			}
		}
		if b, ok := body.(*session.ToolBefore); ok && b.Recovery == "" && b.Effect == "allow" && !skipped(log, b.Call) {
			w.effects[b.Call] = 1
		}
		if session.Inbound(e.Type) {
			posted, err := w.store.Post(ctx, key, session.Post{Worker: w.lease.Worker, Events: []session.Event{e}})
			if err != nil {
				w.rt.Fatal(err)
			}
			if posted.Lease != nil {
				w.lease = *posted.Lease
			}
		} else if _, err := w.store.Append(ctx, key, w.lease, e.Seq-1, []session.Event{e}); err != nil {
			w.rt.Fatalf("event %d %s: %v", e.Seq, e.Type, err)
		}
	}
	w.claim()
}

// skipped says that a call is known not to have run.
func skipped(log []session.Event, call string) bool {
	for i := range log {
		body, _ := log[i].Decode()
		if b, ok := body.(*session.ToolAfter); ok && b.Call == call {
			return b.Outcome == session.Skipped || b.Outcome == session.Denied
		}
	}
	return false
}

// agrees holds the state of a run, at one of its commits, against the fold of
// the log up to there.
func (w *world) agrees(st *session.State, last int64) {
	if w.folded == nil {
		w.folded = session.NewState(key)
	}
	folded := w.folded
	for e, err := range w.store.Read(context.Background(), key, folded.Last) {
		if err == nil && e.Seq > last {
			break // a post that the run does not know of
		}
		if err == nil {
			err = folded.Apply(&e)
		}
		if err != nil {
			w.rt.Fatal(err)
		}
	}
	if l := folded.Root.Loop; l == nil || l.Waiting {
		return // the run applies its last event only now
	}
	own, log := st.Root, folded.Root
	own.Held, log.Held = 0, 0 // it says something only between loops
	a, _ := json.Marshal([]any{&own, st.Children, st.Asks, st.Grants})
	b, _ := json.Marshal([]any{&log, folded.Children, folded.Asks, folded.Grants})
	if string(a) != string(b) {
		w.rt.Fatalf("at event %d the state of the run and that of the log differ:\n%s\n%s", last, a, b)
	}
}
