package record

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

const renderer = "replay/1"

// Replayer is a model that answers from a recording. It is safe for concurrent
// use.
//
// A request gets the answer of the recorded call with the same request. If
// only the system prompt, the tools or the parameters differ from what was
// recorded, it gets the one with the same conversation. The same request asked
// again gets the next answer that was recorded for it, and after the last one
// that one again. A conversation that was not recorded is an error that says
// where it differs.
type Replayer struct {
	// Timed keeps the recorded time between the pieces of an answer; without
	// it they come at once. It is set before the first call.
	Timed bool

	rec            *recording
	name           string
	byRequest      map[string][]*call
	byConversation map[string][]*call
	known          marks

	mu     sync.Mutex
	served map[string]int // by digest
}

// Replay reads a recording. Its name is that of the first model in it.
func Replay(path string) (*Replayer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	defer f.Close()
	rec, err := load(path, f)
	if err != nil {
		return nil, err
	}
	return newReplayer(rec)
}

func newReplayer(rec *recording) (*Replayer, error) {
	r := &Replayer{rec: rec, byRequest: map[string][]*call{}, byConversation: map[string][]*call{}, served: map[string]int{}}
	for _, c := range rec.calls {
		if !c.answers() {
			continue
		}
		if r.name == "" {
			r.name = c.Model
		}
		r.byRequest[c.Digest] = append(r.byRequest[c.Digest], c)
		r.byConversation[c.Conversation] = append(r.byConversation[c.Conversation], c)
	}
	if len(r.byRequest) == 0 {
		return nil, &Error{Path: rec.path, Message: "the recording has no answer; record a run first"}
	}
	return r, nil
}

// Notes says what was odd about the file.
func (r *Replayer) Notes() []string {
	if r.rec.cut == "" {
		return nil
	}
	return []string{r.rec.cut + "; it is left out"}
}

func (r *Replayer) Name() string { return r.name }

func (r *Replayer) Renderer() string { return renderer }

func (r *Replayer) Render(q *model.Request) ([]byte, error) { return offline.Render(q, r.Wire) }

func (r *Replayer) Wire(m *message.Message) ([]byte, error) { return m.Wire(renderer, offline.Message) }

func (r *Replayer) Stream(ctx context.Context, q *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		c, err := r.find(q)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		r.play(ctx, c, yield)
	}
}

func (r *Replayer) find(q *model.Request) (*call, error) {
	known := r.known.get(q.Messages)
	s, _, err := extend(known.sum, q.Messages[known.n:])
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Model: r.name, Err: err}
	}
	known.sum = s
	r.known.put(q.Messages, known)
	key := digest(s, prefixJSON(q.Prefix), turnJSON(q))
	calls := r.byRequest[key]
	if len(calls) == 0 {
		key = hex.EncodeToString(s[:])
		calls = r.byConversation[key]
	}
	if len(calls) == 0 {
		return nil, r.differs(q)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.served[key], len(calls)-1)
	r.served[key] = n + 1
	return calls[n], nil
}

func (r *Replayer) play(ctx context.Context, c *call, yield func(model.Chunk, error) bool) {
	start := time.Now()
	for _, k := range c.pieces() {
		if err := r.wait(ctx, start, k.At); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		if !yield(model.Chunk{Text: k.Text, Thinking: k.Thinking, CallID: k.Call, CallName: k.Name, CallArgs: k.Args}, nil) {
			return
		}
	}
	if err := r.wait(ctx, start, c.Took); err != nil {
		yield(model.Chunk{}, err)
		return
	}
	yield(r.end(c))
}

// wait holds a piece back until its recorded time, in microseconds.
func (r *Replayer) wait(ctx context.Context, start time.Time, at int64) error {
	if !r.Timed {
		return ctx.Err()
	}
	return offline.Wait(ctx, time.Duration(at)*time.Microsecond-time.Since(start))
}

func (r *Replayer) end(c *call) (model.Chunk, error) {
	if e := c.Error; e != nil {
		return model.Chunk{}, &model.Error{
			Kind: e.Kind, Model: r.name, Status: e.Status, Message: e.Message, Remedy: e.Remedy,
			RetryAfter: time.Duration(e.RetryAfter) * time.Millisecond,
		}
	}
	m := &message.Message{Role: message.Assistant, Parts: c.Done.Parts, Partial: c.Done.Partial}
	return model.Chunk{Done: m, Usage: c.Usage, Stop: c.Done.Stop}, nil
}

// pieces are the recorded chunks, or, where a secret was redacted from them,
// what the finished message has.
func (c *call) pieces() []chunk {
	if len(c.Chunks) > 0 || c.Done == nil {
		return c.Chunks
	}
	var out []chunk
	for _, p := range c.Done.Parts {
		switch p := p.(type) {
		case message.Text:
			out = append(out, chunk{Text: p.Text})
		case message.Thinking:
			out = append(out, chunk{Thinking: p.Text})
		case message.ToolCall:
			out = append(out, chunk{Call: p.ID, Name: p.Name, Args: string(p.Input)})
		}
	}
	return out
}
