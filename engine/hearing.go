package engine

import (
	"fmt"
	"iter"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// hearing is a call whose answer is coming.
type hearing struct {
	run *run
	call
	left  int64 // tokens that the answer may have
	aside bool  // nobody is shown it
	shut  bool  // nothing more is taken in
	ours  bool  // the engine's own code is at work, and not the model's
}

// listen takes in an answer. A panic of the model is an error, so that what it says
// of it is treated like any other text that comes in, and the process goes on.
func (h *hearing) listen(answer iter.Seq2[model.Chunk, error]) {
	defer func() {
		if h.ours {
			return // the panic is the engine's own
		}
		if p := recover(); p != nil {
			h.err = fmt.Errorf("the model failed: %v", p)
		}
	}()
	answer(h.hear) // a range would cost a turn four allocations more
	if h.done == nil && !h.shut {
		h.err = &model.Error{Kind: model.Protocol, Model: h.run.link.Name(), Message: "the answer has no end"}
	}
}

func (h *hearing) hear(chunk model.Chunk, err error) (more bool) {
	if h.shut {
		return false
	}
	h.ours = true
	if h.err = err; err == nil {
		h.take(chunk)
	}
	h.shut, h.ours = h.err != nil || h.over, false
	return !h.shut
}

func (h *hearing) take(chunk model.Chunk) {
	if chunk.Text != "" && !h.aside {
		h.run.live(&session.Delta{Message: h.id, Attempt: h.attempt, Offset: len(h.text), Text: chunk.Text})
		h.text = append(h.text, chunk.Text...)
	}
	if chunk.Thinking != "" && !h.aside {
		h.run.live(&session.Thinking{Delta: session.Delta{Message: h.id, Attempt: h.attempt, Offset: h.thought, Text: chunk.Thinking}})
		h.thought += len(chunk.Thinking)
	}
	h.out += len(chunk.Text) + len(chunk.Thinking) + len(chunk.CallArgs)
	if h.over = chunk.Done == nil && message.Tokens(h.out) > h.left; h.over {
		return
	}
	if chunk.Usage != nil {
		h.usage = chunk.Usage
	}
	if chunk.Done != nil {
		h.done, h.stop = chunk.Done, chunk.Stop
	}
}
