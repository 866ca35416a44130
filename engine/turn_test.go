package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

func TestTextTurn(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "Hello there"}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("hi"), Profile: "p"})
	events := b.run(engine.Deps{})
	want := "[delta] [delta] session.start loop.start message turn.start turn.request message usage loop.end"
	if got := types(events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e := end(t, events)
	if e.Reason != session.ReasonDone || e.Text != "Hello there" || e.Usage.Output == 0 {
		t.Errorf("end: %+v", e)
	}
	shown := ""
	for _, d := range find[*session.Delta](events) {
		if d.Offset != len(shown) {
			t.Errorf("a delta at %d comes after %d bytes", d.Offset, len(shown))
		}
		shown += d.Text
	}
	if shown != e.Text {
		t.Errorf("shown %q, stored %q", shown, e.Text)
	}
}

func TestSecondPromptSendsTheFirst(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "one"}, script.Reply{When: script.When{Contains: "again"}, Text: "two"}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("first")})
	b.run(engine.Deps{})
	b.post(&session.Prompt{Parts: text("again")})
	events := b.run(engine.Deps{})
	if e := end(t, events); e.Text != "two" {
		t.Errorf("end: %+v", e)
	}
	if r := find[*session.TurnRequest](events)[0]; r.Messages != 3 {
		t.Errorf("%d messages were sent, want 3", r.Messages)
	}
}

func TestToolTurn(t *testing.T) {
	p := newProbe("probe", nil)
	b := newBench(t, script.New(
		script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n": 1}`}, {Name: "probe", Input: `{"n": 2}`}}},
		script.Reply{When: script.When{Contains: "ok"}, Text: "done"},
	).Model("script/x"), p)
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	want := "session.start loop.start message turn.start turn.request message usage tool.before tool.before " +
		"tool.after tool.after message [delta] turn.start turn.request message usage loop.end"
	if got := types(events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p.runs.Load() != 2 || end(t, events).Text != "done" {
		t.Errorf("%d runs, end %+v", p.runs.Load(), end(t, events))
	}
}

func TestRetry(t *testing.T) {
	fail := func(status int) script.Reply { return script.Reply{Error: &script.Failure{Status: status}} }
	cut := script.Reply{Text: "half", Error: &script.Failure{Kind: model.Cut}}
	for _, c := range []struct {
		name    string
		replies []script.Reply
		retries int
		reason  session.Reason
		code    string
	}{
		{"overloaded, then an answer", []script.Reply{fail(529), fail(500), {Text: "ok"}}, 2, session.ReasonDone, ""},
		{"too often", []script.Reply{fail(500), fail(500), fail(500), fail(500), {Text: "ok"}}, 3, session.ReasonError, "model.server"},
		{"bad request is final", []script.Reply{fail(400), {Text: "ok"}}, 0, session.ReasonError, "model.bad-request"},
		{"refused key is final", []script.Reply{fail(401), {Text: "ok"}}, 0, session.ReasonError, "model.auth"},
		{"cut half way", []script.Reply{cut, {Text: "ok"}}, 1, session.ReasonDone, ""},
		{"asked to wait too long", []script.Reply{{Error: &script.Failure{Status: 429, RetryAfter: time.Hour}}, {Text: "ok"}}, 0, session.ReasonError, "model.rate-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, script.New(c.replies...).Model("script/x"))
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			e := end(t, events)
			if e.Reason != c.reason || c.code != "" && (e.Error == nil || e.Error.Code != c.code) {
				t.Errorf("end: %+v %+v", e, e.Error)
			}
			if n := len(find[*session.Retry](events)); n != c.retries {
				t.Errorf("%d retries, want %d", n, c.retries)
			}
			if c.name == "cut half way" && (len(find[*session.Reset](events)) != 1 || e.Text != "ok") {
				t.Errorf("the half message was not taken back: %s", types(events))
			}
		})
	}
}

// TestBrokenAnswers: the text shown of an answer that broke off is taken back,
// and what it cost counts.
func TestBrokenAnswers(t *testing.T) {
	cut := script.Reply{Text: "half an answer", Error: &script.Failure{Kind: model.Cut}}
	for _, c := range []struct {
		name    string
		retries int
		want    string
	}{
		{"tried again", 3, "ok"},
		{"given up", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, script.New(cut, script.Reply{Text: "ok"}).Model("script/x"))
			b.spec.Retry.Max = c.retries
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			if got := shown(events); got != c.want || end(t, events).Text != c.want {
				t.Errorf("shown %q, stored %q, want %q", got, end(t, events).Text, c.want)
			}
			if u := find[*session.Usage](events); !u[0].Usage.Estimated || u[0].Usage.Output == 0 {
				t.Errorf("the use of the broken call: %+v", u[0])
			}
		})
	}
}

// shown puts the pieces of the last message together as a reader does.
func shown(events []session.Event) (text string) {
	message := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case *session.Delta:
			if b.Message != message {
				message, text = b.Message, ""
			}
			text = text[:b.Offset] + b.Text
		case *session.Reset:
			message, text = b.Message, ""
		}
	}
	return text
}

// TestTakeoverTakesBack: what the worker before has shown of an answer is taken
// back by the one that asks again.
func TestTakeoverTakesBack(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "one two", Gap: time.Hour}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("go")})
	ctx, shutDown := context.WithCancel(t.Context())
	defer shutDown()
	var events []session.Event
	for e, err := range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
		if e.Type == "delta" {
			shutDown()
		}
		if err == nil {
			events = append(events, e)
		}
	}
	if shown(events) == "" {
		t.Fatal("nothing was shown")
	}
	b.model = script.New(script.Reply{Text: "three"}).Model("script/x")
	events = append(events, b.run(engine.Deps{})...)
	if got := shown(events); got != "three" || len(find[*session.Reset](events)) != 1 {
		t.Errorf("shown %q: %s", got, types(events))
	}
}

func TestLimits(t *testing.T) {
	call := script.Reply{Tools: []script.Call{{Name: "probe"}}, Usage: &script.Usage{Input: 100, Output: 10}}
	for _, c := range []struct {
		name   string
		limits spec.Limits
		turns  int
	}{
		{"turns", spec.Limits{Turns: 2, Set: map[string]string{"turns": "a.md:3"}}, 2},
		{"tokens", spec.Limits{Tokens: 150}, 2},
		{"cost", spec.Limits{Cost: 0.0001}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := script.New(call)
			s.Loop = true
			b := newBench(t, s.Model("script/x"), newProbe("probe", nil))
			b.spec.Limits = c.limits
			b.spec.Model.Price = spec.Price{Input: 1, Output: 2}
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			e, l := end(t, events), find[*session.Limit](events)
			if e.Reason != session.ReasonLimit || e.Limit != c.name || len(l) != 1 || l[0].Limit != c.name {
				t.Errorf("end: %+v, limit: %+v", e, l)
			}
			if n := len(find[*session.TurnStart](events)); n != c.turns {
				t.Errorf("%d turns, want %d", n, c.turns)
			}
		})
	}
}

// TestNothingIsSwallowedByALimit: a message that waits when the last turn has
// been used is not delivered to nobody.
func TestNothingIsSwallowedByALimit(t *testing.T) {
	for _, late := range []session.Body{&session.Followup{Parts: text("more")}, &session.Steer{Parts: text("more")}} {
		t.Run(late.Type(), func(t *testing.T) {
			b := newBench(t, nil)
			posted := false
			b.model = speaking{script.New(
				script.Reply{Text: "one"}, script.Reply{When: script.When{Contains: "more"}, Text: "two"},
			).Model("script/x"), func() {
				if !posted {
					posted = true
					b.post(late)
				}
			}}
			b.spec.Limits = spec.Limits{Turns: 1}
			b.post(&session.Prompt{Parts: text("go")})
			for _, want := range []string{"one", "two"} {
				if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDone || e.Text != want {
					t.Errorf("end: %+v, want %q", e, want)
				}
			}
		})
	}
}

// speaking calls a function while the model speaks.
type speaking struct {
	model.Model
	meanwhile func()
}

func (m speaking) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	m.meanwhile()
	return m.Model.Stream(ctx, r)
}

func TestTimeLimitEndsAnAnswer(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "a b c", Gap: time.Hour}).Model("script/x"))
	b.spec.Limits = spec.Limits{Duration: 20 * time.Millisecond}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	e := end(t, events)
	if e.Reason != session.ReasonLimit || e.Limit != "duration" || !strings.HasPrefix(e.Text, "a") {
		t.Errorf("end: %+v", e)
	}
}

func TestCancelEndsAnAnswer(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "a b c", Gap: time.Hour}, script.Reply{Text: "next"}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("go")})
	cancelled, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := engine.Deps{Store: b.store, Blobs: b.store, Cancelled: cancelled}
	var events []session.Event
	for e, err := range engine.Run(t.Context(), d, b.blueprint(), b.state(), b.lease) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		if e.Type == "delta" {
			b.post(&session.Cancel{})
			cancel()
		}
	}
	b.checkLog()
	e := end(t, events)
	if e.Reason != session.ReasonCancelled || e.Text == "" {
		t.Errorf("end: %+v", e)
	}
	if u := find[*session.Usage](events); len(u) != 1 || !u[0].Usage.Estimated {
		t.Errorf("the use of the broken call: %+v", u)
	}
	last := b.state().Root.Messages
	if m := last[len(last)-1]; !m.Partial || m.Text() != e.Text {
		t.Errorf("the partial message: %+v", m)
	}
}

func TestSteerSkipsWhatHasNotStarted(t *testing.T) {
	var b *bench
	first := newProbe("first", func(context.Context, tool.Call) (tool.Result, error) {
		b.post(&session.Steer{Parts: text("stop that")})
		return tool.Text("did it"), nil
	})
	second := newProbe("second", nil)
	b = newBench(t, script.New(
		script.Reply{Tools: []script.Call{{Name: "first"}, {Name: "second"}}},
		script.Reply{When: script.When{Contains: "stop that"}, Text: "stopped"},
	).Model("script/x"), first, second)
	b.spec.ToolExecution = spec.ToolExecution{Strategy: "sequential"}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{Steered: func() int64 { sum, _ := b.store.Summary(t.Context(), key); return int64(sum.Notes) * sum.Last }})
	after := find[*session.ToolAfter](events)
	if len(after) != 2 || after[1].Outcome != session.Skipped || message.PartsText(after[1].Parts) != "Skipped due to queued user message." {
		t.Errorf("tool.after: %+v", after)
	}
	if second.runs.Load() != 0 || end(t, events).Text != "stopped" {
		t.Errorf("end: %+v", end(t, events))
	}
}

// TestSteerBeforeTheEnd posts a message between the last answer and its commit:
// it must be answered in this loop.
func TestSteerBeforeTheEnd(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "one two"}, script.Reply{When: script.When{Contains: "more"}, Text: "three"}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("go")})
	d := engine.Deps{Store: b.store, Blobs: b.store}
	posted := false
	var last *session.LoopEnd
	for e, err := range engine.Run(t.Context(), d, b.blueprint(), b.state(), b.lease) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "delta" && !posted {
			posted = true
			b.post(&session.Followup{Parts: text("more")})
		}
		if x, ok := e.Body.(*session.LoopEnd); ok {
			last = x
		}
	}
	b.checkLog()
	if last == nil || last.Text != "three" || b.state().Root.Loops != 1 {
		t.Errorf("end: %+v", last)
	}
}

func TestFencedOwnerStops(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Text: "x"}).Model("script/x"))
	b.post(&session.Prompt{Parts: text("go")})
	b.lease.Epoch--
	var got error
	for _, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
		got = err
	}
	var fenced *session.Fenced
	if !errors.As(got, &fenced) {
		t.Errorf("got %v", got)
	}
}

func TestRefuse(t *testing.T) {
	b := newBench(t, nil)
	b.post(&session.Prompt{Parts: text("go"), Profile: "gone"})
	var events []session.Event
	d := engine.Deps{Store: b.store, Blobs: b.store}
	for e, err := range engine.Refuse(t.Context(), d, "gone", b.state(), b.lease, &session.Error{Code: "ProfileNotFound", Error: "profile not found: gone"}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	e := end(t, events)
	if e.Reason != session.ReasonError || e.Error.Code != "ProfileNotFound" || b.state().Root.Runnable() {
		t.Errorf("end: %+v", e)
	}
}

// TestLoopsAreNumberedByConfiguration: each configuration of a session has numbers
// of its own, from 1, also when it comes back.
func TestLoopsAreNumberedByConfiguration(t *testing.T) {
	s := script.New(script.Reply{Text: "done"})
	s.Loop = true
	b := newBench(t, s.Model("script/x"))
	var got []string
	for _, config := range []string{"a", "a", "b", "a", "b", "c"} {
		b.spec.ConfigID = config
		b.post(&session.Prompt{Parts: text("Hi"), Profile: "p"})
		start := find[*session.LoopStart](b.run(engine.Deps{}))[0]
		got = append(got, fmt.Sprint(start.Config, start.Number))
	}
	if want := "a1 a2 b1 a3 b2 c1"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if n := b.state().Root.Loops; n != 6 {
		t.Errorf("%d loops", n)
	}
}
