package telemetry

import (
	"encoding/hex"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Run follows the events of one stream as they happen and says what has begun and
// ended. It is not safe for concurrent use. A nil *Run is good for nothing, and may be
// told everything.
type Run struct {
	t       *Telemetry
	key     session.Key
	replays bool // what ends now has ended before
	loops   map[string]*loop
	open    map[string]string // session → its open loop
	parents map[string]parent // of children
	first   map[string]first  // the first text of an answer, by its message
}

type parent struct{ session, call string }

type first struct {
	attempt int
	at      time.Time
}

// loop is one that is open.
type loop struct {
	id, session, agent, chain string
	depth                     int
	begun                     time.Time
	start                     session.LoopStart
	above                     spanID // zero: none
	profile, model, revision  string
	chat                      *chat
	calls                     map[string]*call
	code                      string // of an error
	attempt                   int    // that the loop is at; 0: it was never taken up again
}

// chat is a model call.
type chat struct {
	loop       *loop
	turn       int
	begun      time.Time
	request    session.TurnRequest
	model      string // that is asked
	end        time.Time
	answered   string // the model that has answered
	stop, code string
	usage      message.Usage
	parts      []message.Part
	wait       time.Duration // for the first text; 0: not known
}

// call is a tool call.
type call struct {
	loop   *loop
	turn   int
	begun  time.Time
	before session.ToolBefore
	after  session.ToolAfter
	end    time.Time
}

// Run begins to follow a stream; nil: nobody wants to know.
func (t *Telemetry) Run(k session.Key) *Run {
	if t == nil {
		return nil
	}
	return &Run{
		t: t, key: k, loops: map[string]*loop{}, open: map[string]string{},
		parents: map[string]parent{}, first: map[string]first{},
	}
}

// Recall takes in what has happened before this process took the stream over, so that
// what is open has the beginning that it had.
func (r *Run) Recall(e *session.Event) {
	r.replays = true
	r.See(e)
	r.replays = false
}

// See takes the next event in. What cannot be read is left out.
func (r *Run) See(e *session.Event) {
	if r == nil {
		return
	}
	if e.Seq == 0 {
		r.live(e)
		return
	}
	switch e.Type {
	case "session.start", "loop.start", "loop.resumed", "loop.end", "profile.switched", "model.fallback", "turn.start", "turn.request",
		"message", "usage", "retry", "error", "tool.before", "tool.after", "permission.asked", "input.asked":
	default:
		return
	}
	body, err := e.Decode()
	if err != nil {
		return
	}
	switch b := body.(type) {
	case *session.Start:
		if e.Depth > 0 {
			r.parents[e.Session] = parent{b.Parent, b.Call}
		}
	case *session.LoopStart:
		r.begin(e, b)
	default:
		if l := r.loops[e.Loop]; l != nil {
			r.within(l, e, body)
		}
	}
}

// live notes when the first text of an answer came.
func (r *Run) live(e *session.Event) {
	if d, ok := e.Body.(*session.Delta); ok && r.first[d.Message].attempt != d.Attempt {
		r.first[d.Message] = first{d.Attempt, time.Now()}
	}
}

func (r *Run) begin(e *session.Event, b *session.LoopStart) {
	l := &loop{
		id: e.Loop, session: e.Session, agent: e.Agent, chain: e.Chain, depth: e.Depth, begun: e.Time,
		start: *b, profile: b.Profile, model: b.Model, revision: b.Revision, calls: map[string]*call{},
	}
	if p, ok := r.parents[e.Session]; ok && e.Depth > 0 {
		if above := r.loops[r.open[p.session]]; above != nil && above.calls[p.call] != nil {
			l.above = above.calls[p.call].span()
		}
	} else if id, err := hex.DecodeString(b.Request); err == nil && len(id) == len(l.above) {
		l.above = spanID(id)
	}
	r.loops[e.Loop], r.open[e.Session] = l, e.Loop
	if !r.replays {
		r.t.loopBegan(l)
	}
}

// within takes in what happens in an open loop.
func (r *Run) within(l *loop, e *session.Event, body session.Body) {
	switch b := body.(type) {
	case *session.LoopResumed:
		l.attempt = b.Attempt
		r.endChat(l, e.Time, "interrupted") // by the worker before
	case *session.Switched:
		l.profile, l.model, l.revision = b.To, b.Model, b.Revision
	case *session.Fallback:
		l.model = b.To
	case *session.TurnStart:
		if !r.replays {
			r.t.turnBegan(l)
		}
	case *session.TurnRequest:
		r.endChat(l, e.Time, "interrupted")
		l.chat = &chat{loop: l, turn: e.Turn, begun: e.Time, request: *b, model: b.Model}
		if b.Model == "" {
			l.chat.model = l.model
		}
	case *session.Message:
		if c := l.chat; c != nil && b.Role == message.Assistant {
			c.end, c.stop, c.parts = e.Time, b.Stop, b.Parts
			if b.Partial {
				c.code = "interrupted"
			}
		}
	case *session.Usage:
		if c := l.chat; c != nil {
			c.usage, c.answered = b.Usage, b.Model
			r.endChat(l, e.Time, "")
		}
	case *session.Retry:
		r.endChat(l, e.Time, b.Code)
		if !r.replays {
			r.t.retried(l, b.Code)
		}
	case *session.Error:
		l.code = b.Code
		r.endChat(l, e.Time, b.Code)
	case *session.ToolBefore:
		r.endChat(l, e.Time, "")
		l.calls[b.Call] = &call{loop: l, turn: e.Turn, begun: e.Time, before: *b}
	case *session.ToolAfter:
		r.endCall(l, b, e.Time)
	case *session.PermissionAsked, *session.InputAsked:
		if !r.replays {
			r.t.asked(l)
		}
	case *session.LoopEnd:
		r.end(l, b, e.Time)
	}
}

// endChat ends the model call that is open, if there is one.
func (r *Run) endChat(l *loop, at time.Time, code string) {
	c := l.chat
	if c == nil {
		return
	}
	l.chat = nil
	if c.end.IsZero() {
		c.end, c.code = at, code
	}
	if f, ok := r.first[c.request.Message]; ok {
		delete(r.first, c.request.Message)
		if f.attempt == c.request.Attempt {
			c.wait = max(f.at.Sub(c.begun), 0)
		}
	}
	if !r.replays {
		r.t.modelAnswered(r.key, c)
	}
}

func (r *Run) endCall(l *loop, b *session.ToolAfter, at time.Time) {
	c := l.calls[b.Call]
	if c == nil {
		return
	}
	delete(l.calls, b.Call)
	c.after, c.end = *b, at
	if !r.replays {
		r.t.toolEnded(r.key, c)
	}
}

func (r *Run) end(l *loop, b *session.LoopEnd, at time.Time) {
	code := ""
	if b.Error != nil {
		code = b.Error.Code
	}
	r.endChat(l, at, code)
	if code == "" && (b.Reason == session.ReasonError || b.Reason == session.ReasonPoisoned) {
		code = l.code
	}
	delete(r.loops, l.id)
	delete(r.open, l.session)
	delete(r.parents, l.session)
	if l.depth == 0 {
		clear(r.first)
	}
	if !r.replays {
		r.t.loopEnded(r.key, l, b, code, at)
	}
}
