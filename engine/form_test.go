package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

const numbered = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`

// asked is a model that keeps the schemas of its requests.
type asked struct {
	model.Model
	schemas []*model.Schema
}

func (a *asked) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	a.schemas = append(a.schemas, r.Params.Schema)
	return a.Model.Stream(ctx, r)
}

func answers(texts ...string) []script.Reply {
	var list []script.Reply
	for _, t := range texts {
		list = append(list, script.Reply{Text: t})
	}
	return list
}

func TestAnswersBySchema(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		turns   int
		reason  session.Reason
		text    string // of the end
		code    string // of its error
		told    string // part of the last message of the user
	}{
		{"fits", []string{`{"n": 1}`}, 50, session.ReasonDone, `{"n": 1}`, "", "go"},
		{"fits when asked again", []string{"one", `{"n":1}`}, 50, session.ReasonDone, `{"n":1}`, "", "not valid JSON"},
		{"fits at last", []string{"one", `{"n":"1"}`, `{"n":1}`}, 50, session.ReasonDone, `{"n":1}`, "", "n: got string, want integer"},
		{"never fits", []string{"one", "two", `{"m":3}`, `{"n":1}`}, 50, session.ReasonError, `{"m":3}`, "SchemaMismatch", "not valid JSON"},
		{"no turn is left to ask again", []string{"one", `{"n":1}`}, 1, session.ReasonLimit, "one", "", "go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &asked{Model: script.New(answers(c.answers...)...).Model("script/x")}
			b := newBench(t, m)
			b.spec.Limits.Turns = c.turns
			b.post(&session.Prompt{Parts: text("go"), Profile: "p", Overrides: session.Overrides{Schema: json.RawMessage(numbered)}})
			e := end(t, b.run(engine.Deps{}))
			if e.Reason != c.reason || e.Text != c.text || (e.Error == nil) != (c.code == "") || e.Error != nil && e.Error.Code != c.code {
				t.Errorf("end: %+v, error %+v", e, e.Error)
			}
			for _, s := range m.schemas {
				if s == nil || string(s.JSON) != numbered || !s.Strict || s.Name == "" {
					t.Errorf("the model was told of the schema %+v", s)
				}
			}
			last := ""
			for _, m := range b.state().Root.Messages {
				if m.Role == message.User {
					last = m.Text()
				}
			}
			if !strings.Contains(last, c.told) {
				t.Errorf("the model was told %q, want %q in it", last, c.told)
			}
		})
	}
}

// TestSchemaIsOfOneLoop looks at the loops after one with a schema: a follow-up
// is answered in that loop and by the schema; the next prompt has none.
func TestSchemaIsOfOneLoop(t *testing.T) {
	m := &asked{Model: script.New(answers(`{"n":1}`, "two", `{"n":2}`, "plain text")...).Model("script/x")}
	b := newBench(t, m)
	b.post(&session.Prompt{Parts: text("go"), Profile: "p", Overrides: session.Overrides{Schema: json.RawMessage(numbered)}}, &session.Followup{Parts: text("and then?")})
	if e := end(t, b.run(engine.Deps{})); e.Text != `{"n":2}` || e.Reason != session.ReasonDone {
		t.Errorf("end: %+v", e)
	}
	b.post(&session.Prompt{Parts: text("in words"), Profile: "p"})
	if e := end(t, b.run(engine.Deps{})); e.Text != "plain text" || e.Reason != session.ReasonDone {
		t.Errorf("end: %+v", e)
	}
	if n := len(m.schemas); n != 4 || m.schemas[2] == nil || m.schemas[3] != nil {
		t.Errorf("%d calls, by schemas %v", n, m.schemas)
	}
}

// TestSchemaAfterACrash takes the run up after each of its events, and holds the
// messages of what comes of it against those of one that was never broken off.
func TestSchemaAfterACrash(t *testing.T) {
	replies := answers("one", `{"n":"1"}`, `{"n":1}`)
	prompt := &session.Prompt{Parts: text("go"), Profile: "p", Overrides: session.Overrides{Schema: json.RawMessage(numbered)}}
	whole := newBench(t, script.New(replies...).Model("script/x"))
	whole.post(prompt)
	whole.run(engine.Deps{})
	want := said(whole)
	var log []session.Event
	for e := range whole.store.Read(t.Context(), key, 1) {
		log = append(log, e)
	}
	for n := range log {
		if n > 0 && log[n-1].Type == "loop.start" {
			continue // which is committed together with the message
		}
		t.Run(fmt.Sprintf("%02d %s", n, log[n].Type), func(t *testing.T) {
			b := newBench(t, script.New(replies...).Model("script/x"))
			b.post(prompt)
			if n > 0 {
				before := append([]session.Event(nil), log[:n]...)
				for i := range before {
					before[i].Refs = nil
				}
				if _, err := b.store.Append(t.Context(), key, b.lease, 1, before); err != nil {
					t.Fatal(err)
				}
			}
			b.lease.Takeover = session.TakeoverDead
			if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDone || e.Text != `{"n":1}` {
				t.Errorf("end: %+v", e)
			}
			if got := said(b); got != want {
				t.Errorf("said\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func said(b *bench) string {
	var s strings.Builder
	for _, m := range b.state().Root.Messages {
		fmt.Fprintf(&s, "%s: %s\n", m.Role, m.Text())
	}
	return s.String()
}
