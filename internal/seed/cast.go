package seed

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// turn is what a model answers once: it may think first.
type turn struct {
	think string
	script.Reply
}

// say is a turn with a text and calls of tools.
func say(text string, calls ...script.Call) turn {
	return turn{Reply: script.Reply{Text: text, Tools: calls}}
}

// call is a call of a tool; its input is JSON with verbs of fmt.
func call(name, input string, args ...any) script.Call {
	return script.Call{Name: name, Input: fmt.Sprintf(input, args...)}
}

// cast plays all models. What one says follows from the first message of the
// conversation: that is what a part is learned for.
type cast struct{ parts sync.Map } // text of a first message → *part

// part is what one conversation is answered.
type part struct {
	model.Model
	turns []turn
}

// learn says what is answered in conversations that begin with a text. They begin
// anew when the turns are used up.
func (c *cast) learn(first string, turns []turn) {
	for i := range turns {
		if turns[i].Usage == nil { // as of a conversation that grows, and is cached
			grown := int64(i)
			turns[i].Usage = &script.Usage{Input: 900 + 37*grown, CacheRead: 2400*min(grown, 1) + 850*grown, Output: int64(60 + len(turns[i].Text) + 40*len(turns[i].Tools))}
		}
	}
	all := &script.Script{Loop: true}
	for i := range turns {
		all.Replies = append(all.Replies, turns[i].Reply)
	}
	c.parts.Store(first, &part{all.Model("acme/part"), turns})
}

// as is the cast under the name of a model.
func (c *cast) as(name string) model.Model {
	idle := script.New(script.Reply{Text: "There is nothing to add."})
	idle.Loop = true
	return &player{Model: idle.Model(name), cast: c}
}

// player is one model. It renders as the script that it is without a part.
type player struct {
	model.Model
	cast *cast
}

func (p *player) Renderer() string { return p.Model.(model.Renderer).Renderer() }

func (p *player) Render(r *model.Request) ([]byte, error) {
	return p.Model.(model.Renderer).Render(r)
}

func (p *player) Wire(m *message.Message) ([]byte, error) {
	return p.Model.(model.Renderer).Wire(m)
}

func (p *player) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	if r.For != "" {
		aside := script.New(script.Reply{When: script.When{For: r.For}, Text: "What was said so far: the shop opened, goods came in, and all of it was written down."})
		return aside.Model(p.Name()).Stream(ctx, r)
	}
	known, ok := p.cast.parts.Load(first(r.Messages))
	if !ok {
		return p.Model.Stream(ctx, r)
	}
	part, said := known.(*part), 0
	for _, m := range r.Messages {
		said += m.Answers()
	}
	return thinking(part.turns[said%len(part.turns)].think, part.Model.Stream(ctx, r))
}

func first(messages []*message.Message) string {
	if len(messages) == 0 {
		return ""
	}
	for _, p := range messages[0].Parts {
		if t, ok := p.(message.Text); ok {
			return t.Text
		}
	}
	return ""
}

// thinking puts a thought before an answer.
func thinking(thought string, answer iter.Seq2[model.Chunk, error]) iter.Seq2[model.Chunk, error] {
	if thought == "" {
		return answer
	}
	return func(yield func(model.Chunk, error) bool) {
		if !yield(model.Chunk{Thinking: thought}, nil) {
			return
		}
		for c, err := range answer {
			if c.Done != nil {
				c.Done.Parts = append([]message.Part{message.Thinking{Text: thought}}, c.Done.Parts...)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
