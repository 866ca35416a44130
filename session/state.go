package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rosterrun/roster/message"
)

// State is the fold of a stream's events. It is what an engine decides by. It
// is not safe for concurrent use.
//
// Inbound events commute with the owner's events that were decided without
// knowing them, so an owner may apply its own events before they are committed
// and inbound ones when it learns of them.
type State struct {
	Key  Key
	Last int64 // the number of the newest event seen
	Root Session
	// Asks is how often a person has been asked for a permission, and Grants
	// what was answered for the rest of the session, by whichever of its
	// agents asked.
	Asks    int
	Grants  []Grant
	askings map[string]*asking // of the root's open loop
	// Children are the sessions that open calls have given work to, by id. One
	// whose call has ended is forgotten, unless KeepChildren is set.
	Children     map[string]*Session
	KeepChildren bool
	// Worktrees are those that sessions of the stream work in, or have worked in,
	// and that are still there.
	Worktrees []OpenWorktree
}

// Session is one conversation of a stream.
type Session struct {
	ID       string
	Started  bool
	Profile  string
	Title    string
	Messages []*message.Message // the branch that the next request sends
	Usage    message.Usage
	Loops    int // how many have started
	numbers  numbers
	Loop     *Loop // the open loop; nil between loops
	LastLoop string
	Inbox    []Letter  // posts that no message has delivered yet, in order
	Held     int       // of the inbox, the messages that a cancel or an error left behind
	Cancel   bool      // the open loop, or the one that would start next, is to end
	LastUsed time.Time // of the last inbound event
	Asked    Overrides // of the last prompt that was delivered
	Settings Settings  // over the profile, from the next loop on
	User     string    // of that prompt
	KeyID    string    // and the key by which its user has shown who he is
	Agent    string    // the agent_id that it named
	Headless bool      // as that prompt said
	Signed   Signed    // the newest request
	Took     string    // why (Branch.Why) the next loop does not go on from the last one's end
	Resting  []Rest    // models that failed, each once
	Named    int       // how many children its calls have named
	Load     Load      // of the messages
	// Uncompacted is how large they were when no summary of them was to be had.
	Uncompacted int64
	Work        *Work // what it has noted of its work; nil: nothing
	seen        map[string]string

	// Of a child:
	Parent string   // the session that delegates
	Call   string   // the call of it that this session works for
	Depth  int      // 1 below the root
	End    *LoopEnd // what its work came to
}

// Rest says until when a model is not asked that failed.
type Rest struct {
	Model string
	Until time.Time
}

// Rests says whether a model is not to be asked yet.
func (s *Session) Rests(model string, now time.Time) bool {
	return slices.ContainsFunc(s.Resting, func(r Rest) bool { return r.Model == model && now.Before(r.Until) })
}

// rest takes in which model failed, and which is asked again.
func (s *Session) rest(b *Fallback) {
	s.Resting = slices.DeleteFunc(slices.Clone(s.Resting), func(r Rest) bool { return r.Model == b.To || r.Model == b.From && !b.Until.IsZero() })
	if !b.Until.IsZero() {
		s.Resting = append(s.Resting, Rest{b.From, b.Until})
	}
}

// Signed is how far the chained digest of the requests has come.
type Signed struct {
	Renderer, Digest string
	Messages         int
}

// Loop is the execution of one prompt that is going on.
type Loop struct {
	ID, Agent, Chain string
	Start            *LoopStart
	Model            string // that is asked
	Turn             int
	Attempt          int          // of the present turn
	Answer           string       // the id of the message that the attempt is for
	Answered         bool         // the present turn has its message
	Aside            *TurnRequest // the newest attempt at what is asked aside, until the log goes on
	Overflow         int          // the turn in which the model refused a request that was too long; 0: none
	Resumed          int          // how often it was taken up since the last progress
	Usage            message.Usage
	Active           time.Duration // time spent working, as far as the log shows
	Calls            []CallState   // of the last assistant message, until their results are a message
	Denied           int
	Refused          int     // how often an answer was asked for again since the user's last message, for it did not fit the schema
	Same             Same    // how far it goes round in circles
	Waiting          bool    // nobody works on it until a person has answered
	Text             string  // of the last assistant message
	Reverted         string  // the call that has given up answers, of late
	Steered          int     // steering messages delivered for the turn to come
	Followed         int     // and follow-ups
	Left             []Left  // the profiles that it was switched from since the user's last message
	Lent             []*Lent // rules that it has for now, by their sources

	// For is the message that the loop is for.
	For       *message.Message
	Planning  Planning
	Replans   int        // how often the plan was made anew
	Broken    int        // the step that has failed or was opened again since then, from 1; 0: none
	Rejected  []*Checked // steps that were opened again, since the last answer
	Progress  Progress
	Anchored  int    // the turn that was last reminded of the goal
	Limit     *Limit // that ends it; nil: none yet
	Concluded bool   // the model has said something after that

	clock time.Time
}

// Left is a profile that a loop was switched from, and in which turn.
type Left struct {
	Profile string
	Turn    int
}

// CallState is where a tool call stands.
type CallState struct {
	message.ToolCall
	Asked   *PermissionAsked    // the newest; nil: nobody was asked
	Answer  *PermissionResolved // to Asked
	Inquiry *InputAsked         // what it asks a person itself; nil: nothing
	Reply   *InputAnswered      // to Input
	Hooked  []*Hooked           // what hooks have said of it
	Before  *ToolBefore         // nil: not started
	After   *ToolAfter          // nil: not ended
}

// Open names the question whose answer the call waits for, and says when that
// expires; "": it waits for none.
func (c *CallState) Open() (ask string, expires time.Time) {
	switch {
	case c.Before != nil:
	case c.Asked != nil && c.Answer == nil:
		return c.Asked.Ask, c.Asked.Expires
	case c.Inquiry != nil && c.Reply == nil:
		return c.Inquiry.Ask, c.Inquiry.Expires
	}
	return "", time.Time{}
}

// Hook is what the hooks of an event have said of the call; nil: nothing yet.
func (c *CallState) Hook(on string) *Hooked {
	for _, h := range c.Hooked {
		if h.On == on {
			return h
		}
	}
	return nil
}

// told is what the model is told of how the call ended.
func (c *CallState) told() (parts []message.Part, failed bool) {
	for _, h := range c.Hooked {
		if len(h.Parts) > 0 {
			return h.Parts, c.After.Outcome != OK || h.Decision == "deny"
		}
	}
	return c.After.Parts, c.After.Outcome != OK
}

// NewState is the state of a stream without events.
func NewState(k Key) *State {
	return &State{Key: k, Root: Session{ID: k.Stream}}
}

// ReadState folds the events of a stream as they stand in a store.
func ReadState(ctx context.Context, store Reader, k Key) (*State, error) {
	st := NewState(k)
	for e, err := range store.Read(ctx, k, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			return nil, err
		}
	}
	return st, nil
}

// Apply adds the next event. It is pure: no I/O, no clock. Events of types that
// it does not know change nothing but Last. Events must come in order; one seen
// before is refused.
func (s *State) Apply(e *Event) error {
	if e.Seq <= s.Last && e.Seq != 0 {
		return fmt.Errorf("session %s: event %d comes after event %d", s.Key, e.Seq, s.Last)
	}
	body, err := e.Decode()
	if err != nil {
		return err
	}
	in := &s.Root
	if !Inbound(e.Type) && e.Session != s.Root.ID && e.Session != "" {
		if in, err = s.child(e, body); err != nil {
			return err
		}
	}
	if e.Seq != 0 {
		s.Last = e.Seq
	}
	if err := in.apply(e, body); err != nil {
		return err
	}
	switch b := body.(type) {
	case *PermissionAsked:
		s.ask(in, e, b.Ask, asking{question: b, call: b.Call})
	case *PermissionResolved:
		s.resolve(e, b)
	case *InputAsked:
		s.ask(in, e, b.Ask, asking{input: b, call: b.Call})
	case *InputAnswered:
		s.reply(e, b)
	case *Branch:
		for _, g := range b.Denials {
			s.keep(g)
		}
	case *Imported:
		s.imported()
	case *Worktree:
		s.moved(in, b)
	case *WorktreeEnded:
		s.left(b)
	case *LoopEnd:
		if in.Depth == 0 {
			s.askings = nil // whatever is still answered, nobody waits for it
		}
	}
	if in.Depth > 0 {
		s.tellParents(in, body)
	}
	if b, ok := body.(*ToolAfter); ok && len(s.Children) > 0 && !s.KeepChildren {
		s.forget(in, b.Call)
	}
	return nil
}

func (s *Session) apply(e *Event, body Body) error {
	if Inbound(e.Type) {
		s.receive(e, body)
		return nil
	}
	if l := s.Loop; l != nil {
		l.tick(e)
	}
	switch b := body.(type) {
	case *Start:
		s.Started, s.Profile, s.Title = true, b.Profile, b.Title
	case *LoopStart:
		s.LastLoop, s.Took = e.Loop, ""
		s.Loops++
		s.number(b)
		s.Profile = b.Profile
		s.Loop = &Loop{ID: e.Loop, Agent: e.Agent, Chain: e.Chain, Start: b, Model: b.Model, clock: e.Time}
	case *Message:
		return s.say(b)
	case *TurnRequest:
		if b.For == "" && b.Body == "" {
			s.Signed = Signed{b.Renderer, b.Digest, b.Messages}
		}
	case *Switched:
		s.Profile = b.To
	case *Reverted:
		s.revert(b)
	case *Fallback:
		s.rest(b)
	case *Usage:
		s.Usage = s.Usage.Add(b.Usage)
		if l := s.Loop; l != nil && l.Answered && l.Aside == nil {
			s.Load.count(&b.Usage)
		}
	case *Compaction:
		if err := s.compact(e.Turn, b); err != nil {
			return err
		}
	case *ToolBefore:
		if b.Child != "" {
			s.Named++
		}
	case *ToolAfter:
		s.saw(b.Seen)
	case *Todo, *Scratchpad, *Plan, *Checked:
		s.noted(body, e.Turn)
	case *Job:
		s.job(b)
	case *LoopEnd:
		if s.Depth > 0 {
			s.End = b
		}
		s.Loop, s.Cancel, s.Held = nil, false, 0
		if b.leavesNotes() {
			s.Held = s.notes()
		}
	}
	if s.Loop != nil {
		s.Loop.apply(e, body)
	}
	return nil
}

// tick counts active time: all that passes between two events of the owner,
// but not what passes before a loop is taken up again.
func (l *Loop) tick(e *Event) {
	if e.Type != "loop.resumed" && e.Time.After(l.clock) {
		l.Active += e.Time.Sub(l.clock)
	}
	l.clock = e.Time
}

func (l *Loop) apply(e *Event, body Body) {
	if l.Aside != nil {
		l.endAside(body)
	}
	switch b := body.(type) {
	case *LoopResumed:
		l.Resumed, l.Waiting = b.Attempt, false
	case *LoopWaiting:
		l.Waiting = true
	case *PermissionAsked:
		if c := l.call(b.Call); c != nil {
			c.Asked, c.Answer = b, nil
		}
	case *InputAsked:
		if c := l.call(b.Call); c != nil {
			c.Inquiry, c.Reply = b, nil
		}
	case *TurnStart:
		l.Turn, l.Attempt, l.Answered = e.Turn, 0, false
		l.Steered, l.Followed = 0, 0
	case *Switched:
		start := *l.Start
		start.Profile, start.Revision, start.Model, start.Spec, start.Prefix = b.To, b.Revision, b.Model, b.Spec, b.Prefix
		l.Start, l.Model = &start, b.Model
		l.Left = append(l.Left, Left{b.From, l.Turn})
		l.Lent = nil
	case *Lent:
		l.lend(*b)
	case *ToolsChanged:
		l.retooled(b)
	case *Fallback:
		l.Model = b.To
	case *TurnRequest:
		if b.For == "" {
			l.Attempt, l.Answer = b.Attempt, b.Message
		} else {
			l.Aside = b
		}
	case *Usage:
		l.Usage = l.Usage.Add(b.Usage)
	case *Limit:
		l.Limit = b
	case *Anchor:
		l.anchored(b, e.Turn)
	case *Hooked:
		if c := l.call(b.Call); c != nil {
			c.Hooked = append(slices.Clip(c.Hooked), b)
		}
	case *ToolBefore:
		if c := l.call(b.Call); c != nil {
			c.Before = b
		}
	case *ToolAfter:
		if c := l.call(b.Call); c != nil {
			c.After = b
			l.Resumed = 0
			l.Same.count(c, e.Turn)
			l.Progress.did(c, e.Turn)
		}
		if b.Outcome == Denied {
			l.Denied++
		}
	}
}

// endAside forgets what was asked aside when something else happens than another
// try.
func (l *Loop) endAside(body Body) {
	switch body.(type) {
	case *TurnRequest, *Retry, *Usage, *Fallback, *LoopResumed:
	default:
		l.Aside = nil
	}
}

func (l *Loop) call(id string) *CallState {
	for i := range l.Calls {
		if l.Calls[i].ID == id {
			return &l.Calls[i]
		}
	}
	return nil
}

// say puts a message at the end of the branch.
func (s *Session) say(b *Message) error {
	parts := b.Parts
	var err error
	switch {
	case b.Source != "":
		if parts, err = s.deliver(b.Post); len(b.Parts) > 0 {
			parts = b.Parts // a hook changed it
		}
	case b.Role == message.Tool && s.Loop != nil:
		parts, err = s.Loop.results(b.Calls)
	}
	if err != nil {
		return fmt.Errorf("session %s: message %s: %w", s.ID, b.ID, err)
	}
	m := &message.Message{ID: b.ID, Parent: b.Parent, Role: b.Role, Parts: parts, Partial: b.Partial}
	if s.Messages == nil {
		s.Messages = make([]*message.Message, 0, 2) // a prompt and its answer
	}
	s.Messages = append(s.Messages, m)
	s.Load.add(m)
	if l := s.Loop; l != nil && b.Role == message.User {
		l.hear(b)
		if l.For == nil && b.Why == "" {
			l.For = m
		}
	}
	if l := s.Loop; l != nil && b.Role != message.Tool {
		l.Progress.heard(m, l.Turn)
	}
	if l := s.Loop; l != nil && b.Role == message.Assistant {
		l.Answered, l.Resumed, l.Text = true, 0, m.Answer()
		l.Rejected, l.Concluded = nil, l.Limit != nil
		l.Calls = l.Calls[:0:0]
		for _, c := range m.Calls() {
			l.Calls = append(l.Calls, CallState{ToolCall: c})
		}
	}
	return nil
}

// hear takes in a message to the model: one of the user, or one for a reason.
func (l *Loop) hear(b *Message) {
	switch b.Why {
	case WhySchema:
		l.Refused++
		return
	case WhyPlan:
		l.Planning.Told = true
		return
	}
	l.Left, l.Refused = nil, 0
	switch b.Source {
	case "steer":
		l.Steered++
	case "followup":
		l.Followed++
	}
}

// deliver takes the post with that number out of the inbox.
func (s *Session) deliver(seq int64) ([]message.Part, error) {
	for i, l := range s.Inbox {
		if l.Seq == seq {
			s.Inbox = slices.Concat(s.Inbox[:i], s.Inbox[i+1:]) // nil when none is left: an idle session is small
			s.Held = min(s.Held, s.notes())
			if l.Prompt != nil {
				s.Asked, s.User, s.KeyID, s.Agent, s.Headless = l.Prompt.Overrides, l.Prompt.User, l.Prompt.KeyID, l.Prompt.Agent, l.Prompt.Headless
				if s.Loop != nil {
					s.Loop.lend(l.Prompt.Lent...)
				}
			}
			return l.Parts, nil
		}
	}
	return nil, fmt.Errorf("there is no post %d to deliver", seq)
}

// results makes the parts of a tool message and clears the batch.
func (l *Loop) results(calls []string) ([]message.Part, error) {
	parts := make([]message.Part, 0, len(calls))
	for _, id := range calls {
		c := l.call(id)
		if c == nil || c.After == nil {
			return nil, fmt.Errorf("call %s has no end", id)
		}
		told, failed := c.told()
		parts = append(parts, message.ToolResult{Call: id, Name: c.Name, Parts: told, Error: failed, Artifact: c.After.Artifact})
	}
	l.Calls = nil
	return parts, nil
}
