// Package demo is builtin/demo, a rule-based stand-in for a language model. It
// makes the first minutes work without a key and without a network, through
// the path that a real model takes: it gets a request, asks for the tools that
// are offered to it, and answers with what it found. It looks for the
// question's words with glob and grep, reads the best files, and quotes the
// lines that say most, with where they stand. It says in each answer what it
// is not.
//
// It keeps nothing between calls: all follows from the conversation, so the
// same request has the same answer and a run goes on in another process.
package demo

import (
	"context"
	"iter"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

// Name is the model's name as people write it.
const Name = "builtin/demo"

const renderer = "demo/1"

// Model is the stand-in. The zero value is ready, and safe for concurrent use.
type Model struct{}

// New returns the stand-in.
func New() *Model { return &Model{} }

func (*Model) Name() string { return Name }

func (*Model) Renderer() string { return renderer }

func (m *Model) Render(r *model.Request) ([]byte, error) { return offline.Render(r, m.Wire) }

func (*Model) Wire(msg *message.Message) ([]byte, error) { return msg.Wire(renderer, offline.Message) }

func (*Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		text, calls := reply(r)
		parts := []message.Part{message.Text{Text: text}}
		stop := "stop"
		for _, piece := range offline.Pieces(text) {
			if err := ctx.Err(); err != nil {
				yield(model.Chunk{}, err)
				return
			}
			if !yield(model.Chunk{Text: piece}, nil) {
				return
			}
		}
		for i, c := range calls {
			c.ID = offline.CallID(r, i+1)
			stop = "tools"
			parts = append(parts, c)
			if !yield(model.Chunk{CallID: c.ID, CallName: c.Name, CallArgs: string(c.Input)}, nil) {
				return
			}
		}
		yield(model.Chunk{
			Done:  &message.Message{Role: message.Assistant, Parts: parts},
			Usage: usage(r, parts),
			Stop:  stop,
		}, nil)
	}
}

func usage(r *model.Request, parts []message.Part) *message.Usage {
	in := offline.HeadSize(r)
	for _, m := range r.Messages {
		in += offline.Size(m.Parts)
	}
	return &message.Usage{Input: message.Tokens(in), Output: message.Tokens(offline.Size(parts)), Estimated: true}
}

// reply is one turn: what to say, and the tools to ask for. Without tools the
// text is the answer.
func reply(r *model.Request) (string, []message.ToolCall) {
	s := look(r)
	if text, calls := s.next(); len(calls) > 0 {
		return text, calls
	}
	return s.answer(), nil
}
