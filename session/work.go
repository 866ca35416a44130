package session

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
)

// Work is what a session has noted of the work that it is at. It is replaced as
// a whole, never changed.
type Work struct {
	Todo  []Step
	Plan  *Plan  // the newest that has steps
	Pad   string // the scratchpad
	Wrote string // the newest call that wrote there
	// Jobs are the numbers of the commands that were left at work and, as far as
	// the model knows, still are. LastJob is the newest number given.
	Jobs    []int
	LastJob int
}

// Step is one thing to do.
type Step struct {
	Text   string     `json:"text"`
	Status StepStatus `json:"status"`
	// By is who does it: "tool: NAME" or "agent: PROFILE"; empty: the agent itself.
	By string `json:"by,omitempty"`
	// Verified says how it is known to be done.
	Verified string `json:"verified,omitempty"`
	Checked  bool   `json:"checked,omitempty"` // that was accepted
}

// StepStatus is where a step stands.
type StepStatus string

// What a step can be.
const (
	StepPending   StepStatus = "pending"
	StepStarted   StepStatus = "in_progress"
	StepDone      StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepCancelled StepStatus = "cancelled"
)

// Open says whether something is left to do of it.
func (s *Step) Open() bool { return s.Status == StepPending || s.Status == StepStarted }

// OpenSteps are those of the list that something is left to do of.
func (w *Work) OpenSteps() (open []Step) {
	if w == nil {
		return nil
	}
	for _, s := range w.Todo {
		if s.Open() {
			open = append(open, s)
		}
	}
	return open
}

// Todo is the list of what is to do, from now on.
type Todo struct {
	Call  string `json:"call,omitempty"` // that wrote it
	Steps []Step `json:"steps"`
}

// Scratchpad is what an agent keeps for itself, from now on.
type Scratchpad struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// Plan is what came of one phase of planning. Steps, where it has some, are the
// list of what is to do from now on, or its open part.
type Plan struct {
	Phase string `json:"phase"`          // see the constants
	Call  string `json:"call,omitempty"` // of the tool plan
	Text  string `json:"text,omitempty"` // as the model said it
	// Direct says that no plan is needed, and Review that the plan is to be looked
	// at before it is made.
	Direct     bool     `json:"direct,omitempty"`
	Review     bool     `json:"review,omitempty"`
	Milestones []string `json:"milestones,omitempty"`
	Steps      []Step   `json:"steps,omitempty"`
	Cut        int      `json:"cut,omitempty"` // steps beyond the most that a plan may have
	// Failed says why there is none. The work goes on without.
	Failed string `json:"failed,omitempty"`
}

// Outline shows a plan to a model.
func (b *Plan) Outline() string {
	var text strings.Builder
	if len(b.Milestones) > 0 {
		text.WriteString("Milestones:\n")
		for _, m := range b.Milestones {
			fmt.Fprintf(&text, "- %s\n", m)
		}
	}
	text.WriteString("Steps:\n")
	for i, s := range b.Steps {
		fmt.Fprintf(&text, "%d. %s | %s\n", i+1, s.Text, cmp.Or(s.By, "self"))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// WhyPlan is why a message tells a model of its plan (Message.Why).
const WhyPlan = "plan"

// The phases of planning.
const (
	PlanAnalysis = "analysis" // what the task is
	PlanReview   = "review"   // what is wrong with that
	PlanSteps    = "plan"     // the steps
	PlanAgain    = "replan"   // the steps that are left, anew
	PlanTool     = "tool"     // written by the tool plan
)

// Anchor is a reminder of a habit that the next request has.
type Anchor struct {
	Habit string `json:"habit"`
	Text  string `json:"text"`
}

// Checked says whether a step that is said to be done counts as such.
type Checked struct {
	Step     int    `json:"step"` // of the list, from 1
	Accepted bool   `json:"accepted"`
	By       string `json:"by"` // rule or model
	Reason   string `json:"reason,omitempty"`
}

func (*Todo) Type() string       { return "todo" }
func (*Scratchpad) Type() string { return "scratchpad" }
func (*Plan) Type() string       { return "plan" }
func (*Anchor) Type() string     { return "anchor" }
func (*Checked) Type() string    { return "step.checked" }

func (b *Todo) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }
func (b *Scratchpad) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }
func (b *Plan) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }
func (b *Anchor) AppendJSON(dst []byte) []byte     { return appendAny(dst, b) }
func (b *Checked) AppendJSON(dst []byte) []byte    { return appendAny(dst, b) }

// noted takes in what concerns the work.
func (s *Session) noted(body Body, turn int) {
	switch b := body.(type) {
	case *Todo:
		s.setTodo(b.Steps, turn)
	case *Scratchpad:
		w := s.work()
		w.Pad, w.Wrote = b.Text, b.Call
		s.Work = &w
	case *Plan:
		s.planned(b, turn)
	case *Checked:
		s.checked(b, turn)
	}
}

func (s *Session) work() Work {
	if s.Work == nil {
		return Work{}
	}
	return *s.Work
}

func (s *Session) setTodo(steps []Step, turn int) {
	w := s.work()
	if l := s.Loop; l != nil && !slices.Equal(w.Todo, steps) {
		l.Progress.Moved = turn
		if n := newlyFailed(w.Todo, steps); n > 0 {
			l.Broken = n
		}
	}
	w.Todo = steps
	s.Work = &w
}

// newlyFailed is the first step of a list that has failed and had not before, from
// 1; 0: none.
func newlyFailed(old, steps []Step) int {
	for i, s := range steps {
		was := func(o Step) bool { return o.Text == s.Text && o.Status == StepFailed }
		if s.Status == StepFailed && !slices.ContainsFunc(old, was) {
			return i + 1
		}
	}
	return 0
}

// planned takes a plan in: steps that are closed stay before those of a plan that
// was made anew.
func (s *Session) planned(b *Plan, turn int) {
	if l := s.Loop; l != nil {
		l.planned(b)
	}
	if len(b.Steps) == 0 {
		return
	}
	var steps []Step
	if s.Work != nil && b.Phase == PlanAgain {
		steps = slices.DeleteFunc(slices.Clone(s.Work.Todo), func(x Step) bool { return x.Open() })
	}
	s.setTodo(append(steps, b.Steps...), turn)
	w := s.work()
	w.Plan = b
	s.Work = &w
}

// checked accepts a step, or opens it again.
func (s *Session) checked(b *Checked, turn int) {
	w := s.work()
	if b.Step < 1 || b.Step > len(w.Todo) {
		return
	}
	steps := slices.Clone(w.Todo)
	x := &steps[b.Step-1]
	if x.Checked = b.Accepted; !b.Accepted {
		x.Status = StepStarted
	}
	s.setTodo(steps, turn)
	if l := s.Loop; l != nil {
		if l.Resumed = 0; !b.Accepted {
			l.Rejected = append(slices.Clip(l.Rejected), b)
			l.Broken = b.Step
		}
	}
}

// planned notes how far the loop has come with its planning.
func (l *Loop) planned(b *Plan) {
	l.Resumed = 0
	switch b.Phase {
	case PlanAnalysis:
		l.Planning.Analysis = b
	case PlanReview:
		l.Planning.Review = b
	case PlanSteps:
		l.Planning.Plan = b
	case PlanAgain:
		l.Replans++
		l.Broken = 0
		if len(b.Steps) > 0 {
			l.Planning.Plan, l.Planning.Told = b, false
		}
	}
}

// Planning is how far a loop has come with it.
type Planning struct {
	Analysis, Review, Plan *Plan
	Told                   bool // the model was told of the plan
}

// Progress tells whether a loop gets on.
type Progress struct {
	Moved  int // the turn in which a step of the todo list changed last, or the user said something
	New    int // the turn in which something was done or said last that had not been before
	Nudged int // the turn in which it was told so; 0: it was not, or has got on since

	seen [remembered]uint64 // what was done and said, the newest over the oldest
	next uint8
}

// The habits that an Anchor can be of.
const (
	HabitGoal  = "goal-anchoring"
	HabitStall = "anti-stall"
)

// anchored notes a reminder.
func (l *Loop) anchored(b *Anchor, turn int) {
	switch b.Habit {
	case HabitGoal:
		l.Anchored = turn
	case HabitStall:
		l.Progress.Nudged = turn
	}
}

// remembered is how many calls and texts count as not new.
const remembered = 32

var seed = maphash.MakeSeed()

// is takes in something that was done or said.
func (p *Progress) is(turn int, kind, what []byte) {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.Write(kind)
	_ = h.WriteByte(0)
	_, _ = h.Write(what)
	sum := h.Sum64()
	if slices.Contains(p.seen[:], sum) {
		return
	}
	p.seen[p.next] = sum
	p.next = (p.next + 1) % remembered
	p.New = turn
}

// did takes in the end of a call.
func (p *Progress) did(c *CallState, turn int) {
	if c.After.Outcome == OK {
		p.is(turn, []byte(c.Name), bytes.TrimSpace(c.ran()))
	}
}

// heard takes in a message of the branch.
func (p *Progress) heard(m *message.Message, turn int) {
	switch m.Role {
	case message.User:
		p.Moved, p.New = turn, turn
	case message.Assistant:
		if text := m.Text(); text != "" {
			p.is(turn, nil, []byte(text))
		}
	}
}
