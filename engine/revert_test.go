package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// back is an answer that gives up others; 0: all.
func back(answers int, category, text string) script.Call {
	in := fmt.Sprintf(`"category":%q,"text":%q`, category, text)
	if answers > 0 {
		in = fmt.Sprintf(`"answers":%d,`, answers) + in
	}
	return script.Call{Name: tool.Revert, Input: "{" + in + "}"}
}

func look(n int) script.Call { return script.Call{Name: "look", Input: fmt.Sprintf(`{"n":%d}`, n)} }

// branch shows what the next request sends: users, calls and results.
func branch(list []*message.Message) string {
	var all []string
	for _, m := range list {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				all = append(all, string(m.Role)+" "+p.Text)
			case message.ToolCall:
				if p.Name == tool.Revert {
					all = append(all, "back")
					break
				}
				all = append(all, "look "+string(p.Input))
			case message.ToolResult:
				all = append(all, "result")
			}
		}
	}
	return strings.Join(all, "; ")
}

func TestRevertTo(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []script.Reply
		want  string // the branch at the end
		told  string // what the last revert_to was told begins with
	}{
		{"all since the user's message", []script.Reply{calls(look(1)), calls(look(2)), calls(back(0, "lesson", "1 and 2 are empty"))},
			"user go; back; result; assistant done", "ok: What you tried since here"},
		{"the last answer", []script.Reply{calls(look(1)), calls(look(2)), calls(back(1, "finding", "2 is empty"))},
			`user go; look {"n":1}; result; back; result; assistant done`, "ok: "},
		{"as many as there are", []script.Reply{calls(look(1)), calls(look(2)), calls(back(2, "outcome", "both are empty"))},
			"user go; back; result; assistant done", "ok: "},
		{"past the user's message", []script.Reply{calls(look(1)), calls(back(2, "lesson", "no"))},
			`user go; look {"n":1}; result; back; result; assistant done`, "error: you have given 1 answers since the user's last message"},
		{"with nothing to give up", []script.Reply{calls(back(0, "checkpoint", "no"))},
			"user go; back; result; assistant done", "error: there is no answer to give up"},
		{"beside another call", []script.Reply{calls(look(1)), calls(look(2), back(0, "lesson", "no"))},
			`user go; look {"n":1}; result; look {"n":2}; back; result; result; assistant done`, "error: what was tried can only be given up by a call that is alone"},
		{"without a category", []script.Reply{calls(look(1)), calls(back(0, "", "no"))},
			`user go; look {"n":1}; result; back; result; assistant done`, "error: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, script.New(append(c.turns, says("done"))...).Model("script/x"), newProbe("look", nil), tool.NewRevert())
			b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
			events := b.run(engine.Deps{})
			if e := end(t, events); e.Reason != session.ReasonDone || e.Text != "done" {
				t.Fatalf("%+v", e)
			}
			if got := branch(b.state().Root.Messages); got != c.want {
				t.Errorf("the branch is\n%s\nwant\n%s", got, c.want)
			}
			if list := results(events, "s"); !slices.ContainsFunc(list, func(got string) bool { return strings.HasPrefix(got, c.told) }) {
				t.Errorf("told %q, want %q", list, c.told)
			}
			if n := len(find[*session.Reverted](events)); (n == 1) != strings.HasPrefix(c.told, "ok") {
				t.Errorf("%d events of it", n)
			}
			for _, r := range find[*session.TurnRequest](events) {
				if r.Digest == "" {
					t.Error("a request has no digest")
				}
			}
		})
	}
}

// TestRevertStopsAtASteeringMessage: what the user has said meanwhile stays.
func TestRevertStopsAtASteeringMessage(t *testing.T) {
	var b *bench
	steer := newProbe("steer", nil)
	b = newBench(t, script.New(calls(look(1)), uses("steer"), calls(look(2)), calls(back(0, "lesson", "no")), says("done")).Model("script/x"),
		newProbe("look", nil), steer, tool.NewRevert())
	b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	steer.run = func(context.Context, tool.Call) (tool.Result, error) {
		b.post(&session.Steer{Parts: text("this too")})
		return tool.Text("ok"), nil
	}
	events := b.run(engine.Deps{})
	want := `user go; look {"n":1}; result; look {}; result; user this too; back; result; assistant done`
	if got := branch(b.state().Root.Messages); got != want {
		t.Errorf("the branch is\n%s\nwant\n%s, after %s", got, want, types(events))
	}
}

// TestRevertIsTakenUp: whichever event is the last one that was stored, the
// conversation is gone back in once.
func TestRevertIsTakenUp(t *testing.T) {
	turns := []script.Reply{calls(look(1)), calls(look(2)), calls(look(3)), calls(back(1, "lesson", "3 is empty")), says("done")}
	whole := newBench(t, script.New(turns...).Model("script/x"), newProbe("look", nil), tool.NewRevert())
	whole.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	var log []session.Event
	for _, e := range whole.run(engine.Deps{}) {
		if e.Seq > 0 {
			log = append(log, e)
		}
	}
	want := branch(whole.state().Root.Messages)
	at := slices.IndexFunc(log, func(e session.Event) bool { return e.Type == "revert" })
	if at < 0 {
		t.Fatal("it was not gone back")
	}
	for n := at - 3; n < len(log); n++ {
		t.Run(fmt.Sprintf("%02d-%s", n, log[n].Type), func(t *testing.T) {
			b := newBench(t, script.New(turns...).Model("script/x"), newProbe("look", nil), tool.NewRevert())
			b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
			var owned []session.Event
			for _, e := range log[:n+1] {
				for _, digest := range e.Refs {
					data, err := whole.store.Blob(t.Context(), key.Tenant, digest)
					if err == nil {
						_, err = b.store.PutBlob(t.Context(), key.Tenant, data)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				owned = append(owned, e)
			}
			if _, err := b.store.Append(t.Context(), key, b.lease, 1, owned); err != nil {
				t.Fatal(err)
			}
			if log[n].Type != "loop.end" {
				b.run(engine.Deps{})
			}
			if got := branch(b.state().Root.Messages); got != want {
				t.Errorf("the branch is\n%s\nwant\n%s", got, want)
			}
		})
	}
}
