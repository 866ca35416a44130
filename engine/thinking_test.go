package engine_test

import (
	"context"
	"iter"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// thinker thinks before it speaks; its first call breaks while it thinks.
type thinker struct{ calls int }

func (*thinker) Name() string { return "test/thinker" }

func (m *thinker) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	m.calls++
	first := m.calls == 1
	return func(yield func(model.Chunk, error) bool) {
		if !yield(model.Chunk{Thinking: "Let me "}, nil) {
			return
		}
		if first {
			yield(model.Chunk{}, &model.Error{Kind: model.Cut, Model: "test/thinker"})
			return
		}
		done := &message.Message{Role: message.Assistant, Parts: []message.Part{message.Thinking{Text: "Let me see."}, message.Text{Text: "Yes."}}}
		for _, c := range []model.Chunk{{Thinking: "see."}, {Text: "Yes."}, {Done: done, Stop: "stop"}} {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestThinkingIsShown looks at what is live and what is stored of what a model
// thinks, also of a call that breaks.
func TestThinkingIsShown(t *testing.T) {
	b := newBench(t, &thinker{})
	b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	events := b.run(engine.Deps{})
	shown := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case *session.Thinking:
			if e.Seq != 0 || e.Type != "thinking" || b.Offset != len(shown) || b.Message == "" {
				t.Errorf("event %d %s: %+v after %q", e.Seq, e.Type, b, shown)
			}
			shown += b.Text
		case *session.Reset:
			shown = ""
		}
	}
	if shown != "Let me see." {
		t.Errorf("%q was shown of it", shown)
	}
	st := b.state()
	last := st.Root.Messages[len(st.Root.Messages)-1]
	if end(t, events).Text != "Yes." || len(last.Parts) != 2 {
		t.Errorf("stored: %+v", last.Parts)
	}
}
