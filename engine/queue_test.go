package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// spoken shows a conversation by its turns: what the user said before each answer.
func spoken(list []*message.Message) string {
	turns := []string{""}
	for _, m := range list {
		switch m.Role {
		case message.User:
			turns[len(turns)-1] += m.Text() + " "
		case message.Assistant:
			turns = append(turns, "")
		}
	}
	for i := range turns {
		turns[i] = strings.TrimSpace(turns[i])
	}
	return strings.TrimSuffix(strings.Join(turns, " | "), " | ")
}

// TestQueueModes: how many of the messages that wait a turn takes. A run that is
// taken up at any event of the log takes the same.
func TestQueueModes(t *testing.T) {
	s1, s2 := &session.Steer{Parts: text("s1")}, &session.Steer{Parts: text("s2")}
	f1, f2 := &session.Followup{Parts: text("f1")}, &session.Followup{Parts: text("f2")}
	for _, c := range []struct {
		name               string
		steering, followUp string
		turns              int
		want               string
		loops              int
	}{
		{"one at a time", spec.OneAtATime, spec.OneAtATime, 50, "go s1 | s2 | f1 | f2", 1},
		{"as a spec without the keys", "", "", 50, "go s1 | s2 | f1 | f2", 1},
		{"all steering messages", spec.QueueAll, spec.OneAtATime, 50, "go s1 s2 | f1 | f2", 1},
		{"all follow-ups", spec.OneAtATime, spec.QueueAll, 50, "go s1 | s2 | f1 f2", 1},
		{"all of both", spec.QueueAll, spec.QueueAll, 50, "go s1 s2 | f1 f2", 1},
		{"what no turn is left for begins the next loop", spec.OneAtATime, spec.OneAtATime, 2, "go s1 | s2 | f1 | f2", 2},
		{"with its like, where all go together", spec.QueueAll, spec.QueueAll, 1, "go s1 s2 | f1 f2", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := func() *bench {
				s := script.New(script.Reply{Text: "well"})
				s.Loop = true
				b := newBench(t, s.Model("script/x"))
				b.spec.Steering, b.spec.FollowUp, b.spec.Limits.Turns = c.steering, c.followUp, c.turns
				b.post(&session.Prompt{Parts: text("go")}, s1, f1, s2, f2)
				return b
			}
			// rest runs what is left to do.
			rest := func(b *bench) *session.Session {
				for range 10 {
					if st := b.state(); !st.Root.Runnable() {
						return &st.Root
					}
					b.run(engine.Deps{})
					if _, l, err := b.store.Claim(t.Context(), "w", nil); err == nil {
						b.lease = l
					}
				}
				t.Fatal("the session does not come to rest")
				return nil
			}
			whole := made()
			root := rest(whole)
			if got := spoken(root.Messages); got != c.want || root.Loops != c.loops {
				t.Fatalf("got %q in %d loops, want %q in %d", got, root.Loops, c.want, c.loops)
			}
			var log []session.Event
			for e := range whole.store.Read(t.Context(), key, 0) {
				log = append(log, e)
			}
			const posts = 5
			for n := posts; n < len(log); n++ {
				if log[n-1].Type == "loop.start" {
					continue // it is committed together with its message
				}
				b := made()
				if own := log[posts:n]; len(own) > 0 {
					again := make([]session.Event, len(own))
					for i := range own {
						again[i] = own[i]
						again[i].Seq, again[i].Refs = 0, nil
					}
					if _, err := b.store.Append(t.Context(), key, b.lease, posts, again); err != nil {
						t.Fatal(err)
					}
				}
				if got := spoken(rest(b).Messages); got != c.want {
					t.Errorf("taken up after %d events, the last %s: %q", n, log[n-1].Type, got)
				}
			}
		})
	}
}

// TestSteeringOneAtATimeSkipsCalls: as long as steering messages wait, calls make
// room for them, one turn after the other.
func TestSteeringOneAtATimeSkipsCalls(t *testing.T) {
	for _, c := range []struct {
		mode string
		runs int64
		want string
	}{
		{spec.OneAtATime, 2, "go | s1 | s2 | "},
		{spec.QueueAll, 3, "go | s1 s2 |  | "},
	} {
		t.Run(c.mode, func(t *testing.T) {
			var b *bench
			p := newProbe("probe", nil)
			p.run = func(context.Context, tool.Call) (tool.Result, error) {
				if p.runs.Load() == 1 {
					b.post(&session.Steer{Parts: text("s1")}, &session.Steer{Parts: text("s2")})
				}
				return tool.Text(fmt.Sprint("run ", p.runs.Load())), nil
			}
			call := script.Reply{Tools: []script.Call{{Name: "probe"}}}
			b = newBench(t, script.New(call, call, call, script.Reply{Text: "done"}).Model("script/x"), p)
			b.spec.Steering = c.mode
			b.post(&session.Prompt{Parts: text("go")})
			e := end(t, b.run(engine.Deps{}))
			if got := spoken(b.state().Root.Messages); p.runs.Load() != c.runs || got != c.want || e.Text != "done" {
				t.Errorf("%d runs, %q, %+v", p.runs.Load(), got, e)
			}
		})
	}
}
