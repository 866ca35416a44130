package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// talker is a model that counts tokens as it is sent them, refuses what does not
// fit its window, and holds every request against what must be true of it.
type talker struct {
	t       testing.TB
	window  int64
	answer  func(r *model.Request) []message.Part // of a turn
	summary func(r *model.Request) (string, error)

	sent      []sentTo
	summaries int
	refused   int
}

// sentTo is what is kept of a request.
type sentTo struct {
	messages int
	tokens   int64
	fresh    int // messages that were not encoded before
}

func (m *talker) Name() string     { return "script/talker" }
func (m *talker) Renderer() string { return "talker/1" }
func (m *talker) Render(*model.Request) ([]byte, error) {
	return nil, nil
}

func (m *talker) Wire(x *message.Message) ([]byte, error) {
	return x.Wire("talker/1", func(x *message.Message) ([]byte, error) {
		if len(m.sent) > 0 {
			m.sent[len(m.sent)-1].fresh++
		}
		return []byte(x.ID), nil
	})
}

func (m *talker) Stream(_ context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		size := message.Tokens(len(r.Tail))
		for _, s := range r.Prefix.System {
			size += message.Tokens(len(s))
		}
		for _, x := range r.Messages {
			size += x.Tokens()
		}
		pairs(m.t, r.Messages)
		if size > m.window {
			m.refused++
			yield(model.Chunk{}, &model.Error{Kind: model.Overflow, Model: m.Name(), Message: "too long"})
			return
		}
		var parts []message.Part
		if r.For != "" {
			m.summaries++
			text, err := m.summary(r)
			if err != nil {
				yield(model.Chunk{}, err)
				return
			}
			parts = []message.Part{message.Text{Text: text}}
		} else {
			m.sent = append(m.sent, sentTo{messages: len(r.Messages), tokens: size})
			parts = m.answer(r)
		}
		done := &message.Message{Role: message.Assistant, Parts: parts}
		yield(model.Chunk{Done: done, Stop: "stop", Usage: &message.Usage{Input: size, Output: done.Tokens()}}, nil)
	}
}

// pairs holds that every call has its result right after it, and no result is
// without its call.
func pairs(t testing.TB, list []*message.Message) {
	t.Helper()
	var open []string
	for i, m := range list {
		var results []string
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok {
				results = append(results, r.Call)
			}
		}
		if strings.Join(open, " ") != strings.Join(results, " ") {
			t.Errorf("message %d of %d has the results of %v, and %v are called for", i, len(list), results, open)
		}
		open = nil
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("the calls %v have no result", open)
	}
}

func toolCall(id, name, input string) message.Part {
	return message.ToolCall{ID: id, Name: name, Input: []byte(input)}
}

// worker answers with a call of effect, and every so many turns with a text.
func worker(every int) func(*model.Request) []message.Part {
	turn := 0
	return func(*model.Request) []message.Part {
		turn++
		if turn%every == 0 {
			return text(fmt.Sprintf("answer %d", turn))
		}
		return []message.Part{message.Text{Text: "on with it"}, toolCall(fmt.Sprintf("c%d", turn), "effect", fmt.Sprintf(`{"n":%d}`, turn))}
	}
}

// bulky is a tool whose results have so many bytes.
func bulky(size int) *probe {
	n := 0
	return newProbe("effect", func(context.Context, tool.Call) (tool.Result, error) {
		n++
		return tool.Text(fmt.Sprintf("result %d: %s", n, strings.Repeat("word ", size/5))), nil
	})
}

func plain(string) func(*model.Request) (string, error) {
	return func(*model.Request) (string, error) { return "what was done: all of it", nil }
}

// small is a context of so many tokens.
func small(window int) spec.Context {
	free := window / 10
	return spec.Context{Window: window, Reserve: &free, CompactAt: 0.85, KeepFirst: 2, KeepRecent: 10, Strategy: spec.ContextSummary, MaxResult: 6000}
}

func newTalk(t testing.TB, window int, m *talker, tools ...tool.Tool) *bench {
	m.t, m.window = t, int64(window)
	if m.summary == nil {
		m.summary = plain("")
	}
	b := newBench(t, m, tools...)
	b.spec.Context, b.spec.Limits = small(window), spec.Limits{Turns: 100}
	return b
}

func compactions(events []session.Event) string {
	var list []string
	for _, c := range find[*session.Compaction](events) {
		list = append(list, c.Why+" "+c.Kind)
	}
	return strings.Join(list, ", ")
}

func TestCompaction(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*spec.Context)
		summary func(*model.Request) (string, error)
		window  int // that the model really has; 0: as said
		size    int // of a result, in bytes
		words   string
		want    string // the first compactions
		reason  session.Reason
		refused int
	}{
		{name: "a summary stands for old turns", size: 400, words: strings.Repeat("thought ", 100), want: "full summary", reason: session.ReasonDone},
		{name: "old results are cut first", change: func(c *spec.Context) { c.KeepRecent = 3 }, size: 2000, want: "full prune", reason: session.ReasonDone},
		{name: "turns are left out where there is to be no summary", change: func(c *spec.Context) { c.Strategy = spec.ContextPrune }, size: 400, words: strings.Repeat("thought ", 100), want: "full drop", reason: session.ReasonDone},
		{name: "none sends all", change: func(c *spec.Context) { c.Strategy = spec.ContextNone }, size: 4000, want: "", reason: session.ReasonError, refused: 1},
		{name: "the model has a smaller window than is said", window: 5000, size: 400, words: strings.Repeat("thought ", 100), want: "overflow summary", reason: session.ReasonDone, refused: 1},
		{name: "the summariser fails", summary: func(*model.Request) (string, error) {
			return "", &model.Error{Kind: model.BadRequest, Model: "script/talker", Message: "no"}
		}, size: 400, words: strings.Repeat("thought ", 100), want: "full failed", reason: session.ReasonDone},
		{name: "the summary is empty", summary: func(*model.Request) (string, error) { return " \n", nil }, size: 400, words: strings.Repeat("thought ", 100), want: "full failed", reason: session.ReasonDone},
		{name: "the summary is no shorter", summary: func(*model.Request) (string, error) { return strings.Repeat("thought ", 4000), nil }, size: 400, words: strings.Repeat("thought ", 100), want: "full failed", reason: session.ReasonDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := worker(60)
			m := &talker{summary: c.summary, answer: func(r *model.Request) []message.Part {
				parts := work(r)
				return append([]message.Part{message.Text{Text: c.words}}, parts...)
			}}
			b := newTalk(t, 10_000, m, bulky(c.size))
			if c.window > 0 {
				m.window = int64(c.window)
			}
			if c.change != nil {
				c.change(&b.spec.Context)
			}
			b.post(&session.Prompt{Parts: text("do it"), Profile: "p"})
			events := b.run(engine.Deps{})
			if got := compactions(events); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("compactions: %s", got)
			}
			if e := end(t, events); e.Reason != c.reason {
				t.Errorf("end: %+v", e)
			}
			if m.refused != c.refused && c.window == 0 {
				t.Errorf("%d requests were too long", m.refused)
			}
			for _, x := range find[*session.Compaction](events) {
				if x.After > x.Before || x.Kind != session.CompactFailed && x.After == x.Before {
					t.Errorf("%s: from %d to %d tokens", x.Kind, x.Before, x.After)
				}
			}
			checkWhole(t, b)
		})
	}
}

// checkWhole holds that nothing that was said is lost from the log.
func checkWhole(t *testing.T, b *bench) {
	t.Helper()
	st, h := session.NewState(key), session.History{}
	said := 0
	for e, err := range b.store.Read(t.Context(), key, 0) {
		if err == nil {
			err = h.Note(st, &e)
		}
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "message" {
			said++
		}
	}
	whole := h.Whole(st.Root.Messages)
	if len(whole) != said {
		t.Errorf("%d messages are found, and %d were said", len(whole), said)
	}
	pairs(t, whole)
	for i, m := range whole {
		if i > 0 && m.Parent != whole[i-1].ID {
			t.Errorf("message %d has the parent %s", i, m.Parent)
		}
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok && strings.Contains(message.PartsText(r.Parts), "to save room") {
				t.Errorf("the result of %s is cut", r.Call)
			}
		}
	}
}
