package script

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

const renderer = "script/1"

// scripted is a script made ready to answer.
type scripted struct {
	name        string
	script      *Script
	answers     []answer // by reply
	conditional bool     // some reply has a condition
	turns       []choice // without conditions: by answer
	rest        []int    // without conditions: failures after the last answer
	failing     bool     // some reply is a failure

	seed   maphash.Seed
	places places

	mu       sync.Mutex
	attempts map[attempt]int
}

// answer is what of a reply is the same each time.
type answer struct {
	pieces []string
	parts  []message.Part
	size   int
}

// attempt names one turn of one conversation.
type attempt struct {
	conversation string // the id of its first message
	answers      int
	aside        string // what is asked instead of a turn
}

// maxAttempts bounds the turns whose failures are remembered.
const maxAttempts = 4096

func newScripted(s *Script, name string) *scripted {
	m := &scripted{name: name, script: s, seed: maphash.MakeSeed()}
	m.answers = make([]answer, len(s.Replies))
	for i := range s.Replies {
		r := &s.Replies[i]
		a := answer{pieces: offline.Pieces(r.Text), parts: r.parts(), size: len(r.Text)}
		for _, c := range r.Tools {
			a.size += len(c.Name) + len(c.Input)
		}
		m.answers[i] = a
		if r.When.For != "" {
			m.failing = m.failing || r.Error != nil
			continue
		}
		m.conditional = m.conditional || r.When.Contains != ""
		if r.Error != nil {
			m.failing = true
			m.rest = append(m.rest, i)
			continue
		}
		m.turns = append(m.turns, choice{m.rest, i})
		m.rest = nil
	}
	return m
}

func (m *scripted) Name() string { return m.name }

func (m *scripted) Renderer() string { return renderer }

func (m *scripted) Render(r *model.Request) ([]byte, error) { return offline.Render(r, m.Wire) }

func (m *scripted) Wire(msg *message.Message) ([]byte, error) {
	return msg.Wire(renderer, offline.Message)
}

func (m *scripted) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		p := m.locate(r.Messages)
		var c choice
		if r.For != "" {
			c = m.aside(r)
		} else {
			c = m.next(&p, r.Messages)
		}
		i := c.answer
		if m.failing {
			i = m.attempt(c, r, p.answers)
		}
		if i < 0 {
			yield(model.Chunk{}, m.exhausted(r.For, p.answers))
			return
		}
		m.play(ctx, i, r, p, yield)
	}
}

// attempt returns the reply for this attempt at the turn: its failures in
// order, then the answer.
func (m *scripted) attempt(c choice, r *model.Request, answers int) int {
	if len(c.failures) == 0 {
		return c.answer
	}
	key := attempt{answers: answers, aside: r.For}
	if len(r.Messages) > 0 {
		key.conversation = r.Messages[0].ID
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.attempts[key]
	if c.answer < 0 && m.script.Loop {
		n %= len(c.failures)
	}
	if n >= len(c.failures) {
		return c.answer
	}
	if m.attempts == nil || len(m.attempts) >= maxAttempts {
		m.attempts = map[attempt]int{}
	}
	m.attempts[key] = n + 1
	return c.failures[n]
}

func (m *scripted) play(ctx context.Context, i int, r *model.Request, p place, yield func(model.Chunk, error) bool) {
	reply, a := &m.script.Replies[i], &m.answers[i]
	if err := offline.Wait(ctx, reply.Delay); err != nil {
		yield(model.Chunk{}, err)
		return
	}
	for j, piece := range a.pieces {
		if j > 0 {
			if err := offline.Wait(ctx, reply.Gap); err != nil {
				yield(model.Chunk{}, err)
				return
			}
		}
		if !yield(model.Chunk{Text: piece}, nil) {
			return
		}
	}
	if reply.Error != nil {
		yield(model.Chunk{}, m.failure(reply))
		return
	}
	parts, stop := a.parts, "stop"
	if len(reply.Tools) > 0 {
		calls := m.calls(reply, r)
		for _, c := range calls {
			if !yield(model.Chunk{CallID: c.ID, CallName: c.Name, CallArgs: string(c.Input)}, nil) {
				return
			}
		}
		parts, stop = withCalls(parts, calls), "tools"
	}
	yield(model.Chunk{
		Done:  &message.Message{Role: message.Assistant, Parts: parts},
		Usage: usage(reply, offline.HeadSize(r)+p.size, a.size),
		Stop:  stop,
	}, nil)
}

func usage(r *Reply, in, out int) *message.Usage {
	if r.Usage != nil {
		return &message.Usage{Input: r.Usage.Input, CacheRead: r.Usage.CacheRead, Output: r.Usage.Output}
	}
	return &message.Usage{Input: message.Tokens(in), Output: message.Tokens(out), Estimated: true}
}

func withCalls(parts []message.Part, calls []message.ToolCall) []message.Part {
	all := make([]message.Part, 0, len(parts)+len(calls))
	all = append(all, parts...)
	for _, c := range calls {
		all = append(all, c)
	}
	return all
}

func (m *scripted) calls(reply *Reply, r *model.Request) []message.ToolCall {
	calls := make([]message.ToolCall, len(reply.Tools))
	for i, c := range reply.Tools {
		in := []byte(c.Input)
		if len(in) == 0 {
			in = []byte("{}")
		}
		calls[i] = message.ToolCall{ID: offline.CallID(r, i+1), Name: c.Name, Input: in, Invalid: !jsontext.Value(in).IsValid()}
	}
	return calls
}

func (m *scripted) failure(r *Reply) *model.Error {
	e := &model.Error{Kind: r.Error.Kind, Model: m.name, Status: r.Error.Status, RetryAfter: r.Error.RetryAfter, Message: "an error that the script asks for"}
	if e.Kind == "" {
		e.Kind = kindOf(e.Status)
	}
	if at := r.At.String(); at != "" {
		e.Message += ", " + at
	}
	return e
}

func (m *scripted) exhausted(aside string, answers int) *model.Error {
	name := m.script.Name
	if name == "" {
		name = "the script"
	}
	e := &model.Error{
		Kind:    model.Exhausted,
		Model:   m.name,
		Message: fmt.Sprintf("%s has no reply for answer %d; it has %d replies", name, answers+1, len(m.script.Replies)),
		Remedy:  "add a reply, or set loop: true",
	}
	if aside != "" {
		e.Message = fmt.Sprintf("%s has no reply for %s", name, aside)
		e.Remedy = fmt.Sprintf("add a reply with when: {for: %s}", aside)
		return e
	}
	if m.conditional {
		e.Message += ", and no unused one holds for what was said last"
	}
	return e
}
