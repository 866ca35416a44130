package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// byTurn answers by the turns that the loop has had, as the calls in the
// conversation tell: it goes on the same way in another process.
func byTurn(turns int) func(*model.Request) []message.Part {
	return func(r *model.Request) []message.Part {
		last := 0
		for _, m := range r.Messages {
			for _, c := range m.Calls() {
				fmt.Sscanf(c.ID, "c%d", &last)
			}
		}
		if last >= turns {
			return text("all done")
		}
		return []message.Part{message.Text{Text: strings.Repeat("thought ", 100)}, toolCall(fmt.Sprintf("c%d", last+1), "effect", fmt.Sprintf(`{"n":%d}`, last+1))}
	}
}

func newLong(t *testing.T) (*bench, *talker) {
	m := &talker{answer: byTurn(30)}
	effect := newProbe("effect", func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Text("done: " + strings.Repeat("word ", 200)), nil
	})
	b := newTalk(t, 8000, m, effect)
	b.spec.Context.KeepRecent = 4
	return b, m
}

// TestCompactionAfterAKill takes a run up after every event of a log with
// compactions: it ends, nothing that was said is lost, and a summary that was
// stored is not written again.
func TestCompactionAfterAKill(t *testing.T) {
	b, _ := newLong(t)
	b.post(&session.Prompt{Parts: text("do it"), Profile: "p"})
	b.run(engine.Deps{})
	var log []session.Event
	for e, err := range b.store.Read(t.Context(), key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	kinds := map[string]bool{}
	for n := 1; n < len(log); n++ {
		near := slices.ContainsFunc(log[max(0, n-3):min(len(log), n+3)], func(e session.Event) bool { return e.Type == "compaction" })
		if !near && n%7 != 0 {
			continue
		}
		next, m := newLong(t)
		before := next.after(log[:n])
		summaries := strings.Count(before, session.CompactSummary)
		events := next.run(engine.Deps{})
		if e := end(t, events); e.Reason != session.ReasonDone || e.Text != "all done" {
			t.Fatalf("after %d events (%s): %+v", n, log[n-1].Type, e)
		}
		checkWhole(t, next)
		total := 0
		for e := range next.store.Read(t.Context(), key, 0) {
			body, _ := e.Decode()
			if c, ok := body.(*session.Compaction); ok {
				kinds[c.Kind] = true
				if c.Kind == session.CompactSummary {
					total++
				}
			}
		}
		if total-summaries != m.summaries {
			t.Errorf("after %d events: %d summaries are new, and %d were asked for", n, total-summaries, m.summaries)
		}
	}
	if !kinds[session.CompactSummary] || !kinds[session.CompactPrune] {
		t.Errorf("there were only %v", kinds)
	}
}

// after makes the log of a bench what another worker has left, and says what was
// compacted in it.
func (b *bench) after(log []session.Event) string {
	b.t.Helper()
	post := log[0]
	body, err := post.Decode()
	if err != nil {
		b.t.Fatal(err)
	}
	b.post(body)
	var kinds []string
	rest := slices.Clone(log[1:])
	for i := range rest {
		e := &rest[i]
		e.Seq, e.Refs = 0, nil
		if e.Body, err = e.Decode(); err != nil {
			b.t.Fatal(err)
		}
		if c, ok := e.Body.(*session.Compaction); ok {
			kinds = append(kinds, c.Kind)
		}
	}
	if len(rest) > 0 {
		if _, err := b.store.Append(b.t.Context(), key, b.lease, 1, rest); err != nil {
			b.t.Fatal(err)
		}
	}
	b.lease.Takeover = session.TakeoverDead
	return strings.Join(kinds, " ")
}

// TestCompactionIsCancelled: who cancels while a summary is written ends the
// loop, and the conversation is whole.
func TestCompactionIsCancelled(t *testing.T) {
	b, m := newLong(t)
	ctx, cancel := context.WithCancel(t.Context())
	m.summary = func(*model.Request) (string, error) {
		b.post(&session.Cancel{})
		cancel()
		return "", context.Canceled
	}
	b.post(&session.Prompt{Parts: text("do it"), Profile: "p"})
	events := b.run(engine.Deps{Cancelled: ctx})
	if e := end(t, events); e.Reason != session.ReasonCancelled {
		t.Errorf("end: %+v", e)
	}
	if strings.Contains(compactions(events), session.CompactSummary) {
		t.Error("there is a summary")
	}
	checkWhole(t, b)
}

// TestCompactionInAChild: what works for another makes its own conversation
// smaller.
func TestCompactionInAChild(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("long", "work")), says("thanks")})
	m := &talker{t: t, window: 8000, answer: byTurn(30), summary: plain("")}
	long := f.addModel("long", m, bulky(1000))
	long.spec.Context = small(8000)
	events := f.start(engine.Deps{})
	if e := end(t, events); e.Reason != session.ReasonDone {
		t.Errorf("end: %+v", e)
	}
	if m.summaries == 0 || m.refused > 0 {
		t.Errorf("%d summaries, %d requests were too long", m.summaries, m.refused)
	}
	for _, e := range events {
		if e.Type == "compaction" && e.Depth != 1 {
			t.Errorf("a compaction at depth %d", e.Depth)
		}
	}
}

// TestSummariser: another profile's model writes the summary, by its own prompt.
func TestSummariser(t *testing.T) {
	b, m := newLong(t)
	own := *b.spec
	own.Name = "sums"
	b.spec.Context.Summariser = &own
	var systems []string
	cheap := &talker{t: t, window: 8000, summary: func(r *model.Request) (string, error) {
		systems = append(systems, strings.Join(r.Prefix.System, "|"))
		return "all of it, cheaply", nil
	}}
	own.Prompt = []spec.Layer{{Name: spec.Profile, Text: "You sum up."}}
	bp := b.blueprint()
	if err := bp.SummariseWith(named{cheap, "script/cheap"}); err != nil {
		t.Fatal(err)
	}
	b.post(&session.Prompt{Parts: text("do it"), Profile: "p"})
	for _, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, bp, b.state(), b.lease) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if m.summaries != 0 || cheap.summaries == 0 || systems[0] != "You sum up." {
		t.Errorf("%d summaries by the loop's own model, %d by the other one, by %q", m.summaries, cheap.summaries, systems)
	}
	checkWhole(t, b)
}

type named struct {
	*talker
	name string
}

func (n named) Name() string { return n.name }

// TestArtifact: the text of a long result is kept, and what of it is sent has its
// beginning and its end.
func TestArtifact(t *testing.T) {
	whole := "first line\n" + strings.Repeat("0123456789\n", 5000) + "last line"
	for _, c := range []struct {
		name string
		most int
		cut  bool
	}{
		{"longer than a result may be", 6000, true},
		{"an eighth of the window is less", 100_000, true},
		{"all is sent", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent message.ToolResult
			m := &talker{t: t, window: 1e6, answer: func(r *model.Request) []message.Part {
				if last := r.Messages[len(r.Messages)-1]; last.Role == message.Tool {
					sent = last.Parts[0].(message.ToolResult)
					return text("done")
				}
				return []message.Part{toolCall("c1", "big", "{}")}
			}}
			b := newTalk(t, 50_000, m, newProbe("big", func(context.Context, tool.Call) (tool.Result, error) { return tool.Text(whole), nil }))
			m.window, b.spec.Context.MaxResult = 1e6, c.most
			b.spec.Context.Strategy = "none"
			b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
			b.run(engine.Deps{})
			got := message.PartsText(sent.Parts)
			if !c.cut {
				if got != whole || sent.Artifact != "" {
					t.Errorf("%d bytes are sent, artifact %s", len(got), sent.Artifact)
				}
				return
			}
			if !strings.HasPrefix(got, "first line\n") || !strings.HasSuffix(got, "last line") || !strings.Contains(got, "artifact:"+sent.Artifact) {
				t.Errorf("sent is %.300s", got)
			}
			if n := message.Tokens(len(got)); n > 6300 {
				t.Errorf("%d tokens are sent", n)
			}
			kept, err := b.store.Blob(t.Context(), key.Tenant, sent.Artifact)
			if err != nil || string(kept) != whole {
				t.Errorf("%d bytes are kept: %v", len(kept), err)
			}
			checkWhole(t, b)
		})
	}
}

// TestContextProvidersAndTransforms: what they make of a request is sent, and
// stands in the log with it.
func TestContextProvidersAndTransforms(t *testing.T) {
	var got []*model.Request
	m := &talker{t: t, window: 1e6, answer: func(r *model.Request) []message.Part {
		got = append(got, r)
		return text("done")
	}}
	b := newTalk(t, 1e6, m)
	bp := b.blueprint()
	bp.Extend([]engine.Provider{
		{Name: "clock", Ask: func(_ context.Context, m engine.ContextMoment) (string, error) {
			return fmt.Sprintf("turn %d", m.Turn), nil
		}},
		{Name: "none", Ask: func(context.Context, engine.ContextMoment) (string, error) { return "", nil }},
		{Name: "broken", Ask: func(context.Context, engine.ContextMoment) (string, error) { panic("no") }},
	}, []engine.Transform{func(_ context.Context, _ engine.ContextMoment, r *model.Request) (*model.Request, error) {
		if len(r.Messages) == 1 {
			return nil, nil
		}
		next := *r
		next.Messages = r.Messages[len(r.Messages)-1:]
		next.Params.MaxTokens = 7
		return &next, nil
	}})
	var requests []*session.TurnRequest
	for range 2 {
		b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
		for e, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, bp, b.state(), b.lease) {
			if err != nil {
				t.Fatal(err)
			}
			if q, ok := e.Body.(*session.TurnRequest); ok {
				requests = append(requests, q)
			}
		}
	}
	const tail = "<roster-context name=\"clock\">\nturn 1\n</roster-context>\n<roster-context name=\"broken\">\nThis is not to be had at present: the provider failed: no\n</roster-context>"
	if len(got) != 2 || got[0].Tail != tail || requests[0].Tail != tail {
		t.Fatalf("tail: %s", got[0].Tail)
	}
	if len(got[1].Messages) != 1 || got[1].Params.MaxTokens != 7 || requests[0].Body != "" || requests[1].Body == "" {
		t.Fatalf("the second request: %+v, logged as %+v", got[1], requests[1])
	}
	data, err := b.store.Blob(t.Context(), key.Tenant, requests[1].Body)
	if err != nil {
		t.Fatal(err)
	}
	if q, err := engine.DecodeRequest(data); err != nil || q.Params.MaxTokens != 7 || q.Tail != got[1].Tail || q.Messages[0].ID != got[1].Messages[0].ID {
		t.Errorf("the log has %+v, %v", q, err)
	}

	bp = b.blueprint()
	bp.Extend(nil, []engine.Transform{func(context.Context, engine.ContextMoment, *model.Request) (*model.Request, error) {
		return nil, fmt.Errorf("it is late")
	}})
	b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	var last session.Event
	for e, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, bp, b.state(), b.lease) {
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	if e := last.Body.(*session.LoopEnd); e.Reason != session.ReasonError || !strings.Contains(e.Error.Error, "it is late") {
		t.Errorf("end: %+v", e)
	}
	b.checkLog()
}

// TestScriptGoesOnAfterCompaction: a script counts the answers that were taken out
// of a conversation, so its next reply is the next one.
func TestScriptGoesOnAfterCompaction(t *testing.T) {
	for name, more := range map[string][]script.Reply{
		"in order":  {{Text: "done"}},
		"by demand": {{Text: "done"}, {When: script.When{For: "compaction"}, Text: "what was done"}},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []script.Reply
			for i := range 30 {
				replies = append(replies, script.Reply{Tools: []script.Call{{Name: "effect", Input: fmt.Sprintf(`{"n":%d}`, i)}}})
			}
			b := newBench(t, script.New(append(replies, more...)...).Model("script/x"), bulky(1000))
			b.spec.Context = small(4000)
			b.post(&session.Prompt{Parts: text("Go"), Profile: "p"})
			events := b.run(engine.Deps{})
			end := find[*session.LoopEnd](events)
			if n := len(find[*session.ToolAfter](events)); n != 30 || end[0].Text != "done" {
				t.Errorf("%d calls, and then %q", n, end[0].Text)
			}
			if !strings.Contains(compactions(events), "full") || len(b.state().Root.Messages) > 40 {
				t.Errorf("nothing was taken out: %s", compactions(events))
			}
		})
	}
}
