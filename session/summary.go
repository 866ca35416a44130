package session

import (
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
)

// Status is where a session stands.
type Status string

const (
	Idle    Status = "idle"
	Running Status = "running"
	Waiting Status = "waiting" // for a person
	Failed  Status = "failed"  // its last loop ended with an error
)

// Summary describes a stream for a list, and tells a store whether there is
// work to do. A store keeps it beside the stream's number, brings it up to date
// with Apply in the commit of each event, and looks at nothing else of an
// event.
type Summary struct {
	Key        Key
	Profile    string
	Title      string
	Shared     bool // any worker of the workspace may run it, not only its user
	Created    time.Time
	Updated    time.Time // the last event
	LastActive time.Time // the last inbound event
	Turns      int
	Usage      message.Usage // with that of its children
	Last       int64
	Children   int // sessions that it or its children have delegated to
	Settings   Settings
	// Origin is the session that this one branches off, and Why (Branch.Why);
	// empty: none.
	Origin, Why string

	Open      bool // a loop has started and has not ended
	Suspended bool // the loop waits for a person
	Failed    bool // the last loop ended with an error
	Prompts   int  // prompts that no loop has taken
	Notes     int  // steering and follow-up messages that no loop has taken
	Held      int  // of the notes, those that a cancel or an error left behind: shown, not run by themselves

	// Payers are the open loops, those of children too; nil: none.
	Payers []Payer

	Asking bool      // of what was asked since the last message, something may be open
	Until  time.Time // while Suspended, when the first question expires; zero: never
}

// Status derives the status.
func (s *Summary) Status() Status {
	switch {
	case s.Suspended:
		return Waiting
	case s.Runnable():
		return Running
	case s.Failed:
		return Failed
	}
	return Idle
}

// Runnable says whether an owner would have something to do.
func (s *Summary) Runnable() bool {
	if s.Open {
		return !s.Suspended
	}
	return s.Prompts > 0 || s.Notes > s.Held
}

// AtRest says whether nothing is going on and nothing waits to be run.
func (s *Summary) AtRest() bool { return !s.Open && !s.Runnable() }

// suspend notes that the loop waits for a person, or does no more.
func (s *Summary) suspend(waits bool, until time.Time) { s.Suspended, s.Until = waits, until }

// Apply brings the summary up to date with the next event of the stream. It is
// pure, so all backends agree.
func (s *Summary) Apply(e *Event) error {
	body, err := e.Decode()
	if err != nil {
		return err
	}
	first := s.Last == 0
	if first {
		s.Created = e.Time
	}
	s.Updated, s.Last = e.Time, e.Seq
	if Inbound(e.Type) {
		s.LastActive = e.Time
	}
	if wakes(e.Type) {
		s.suspend(false, time.Time{}) // the owner sees whether that was all it waited for
	}
	s.pay(e, body)
	switch b := body.(type) {
	case *Prompt:
		if first {
			s.Profile, s.Title, s.Shared = b.Profile, Title(b.Parts), b.Shared
		}
		s.Prompts++
	case *Branch:
		if first {
			s.Title, s.Shared, s.Origin = b.Title, b.Shared, b.From
			if b.From != "" {
				s.Why = b.Why
			}
		}
		if b.Profile != "" {
			s.Profile = b.Profile
		}
		if b.Settings != (Settings{}) {
			s.Settings = b.Settings
		}
	case *Steer, *Followup:
		s.Notes++
	case *Set:
		s.Settings = s.Settings.With(b.Keys)
	case *LoopStart:
		if e.Depth > 0 {
			break
		}
		s.Open, s.Failed = true, false
		s.suspend(false, time.Time{})
		s.Profile = b.Profile
	case *Switched:
		if e.Depth == 0 {
			s.Profile = b.To
		}
	case *LoopWaiting:
		if e.Depth == 0 && s.Open {
			s.suspend(true, b.Until)
		}
	case *LoopResumed:
		if e.Depth == 0 {
			s.suspend(false, time.Time{})
		}
	case *PermissionAsked, *InputAsked:
		s.Asking = true
	case *Message:
		s.take(b.Source)
		s.Asking = s.Asking && e.Depth > 0 // the root's calls have all ended
	case *Start:
		if e.Depth > 0 {
			s.Children++
		}
	case *TurnStart:
		if e.Depth == 0 {
			s.Turns++
		}
	case *Usage:
		s.Usage = s.Usage.Add(b.Usage)
	case *LoopEnd:
		if e.Depth > 0 {
			break
		}
		s.Open, s.Asking = false, false
		s.suspend(false, time.Time{})
		s.Failed = b.failed()
		s.Held = 0
		if b.leavesNotes() {
			s.Held = s.Notes
		}
	}
	return nil
}

// take counts off the post that a message delivers.
func (s *Summary) take(source string) {
	switch source {
	case "prompt":
		s.Prompts--
	case "steer", "followup":
		s.Notes--
		s.Held = min(s.Held, s.Notes)
	}
}

func (b *LoopEnd) failed() bool { return b.Reason == ReasonError || b.Reason == ReasonPoisoned }

// leavesNotes says that messages which wait do not start another loop by
// themselves: they were meant for one that was broken off.
func (b *LoopEnd) leavesNotes() bool { return b.failed() || b.Reason == ReasonCancelled }

const titleRunes = 80

// Title is the first line of the first prompt, cut.
func Title(parts []message.Part) string {
	text := strings.TrimSpace(message.PartsText(parts))
	n := 0
	for i, r := range text {
		if r == '\n' || n == titleRunes {
			text = text[:i]
			break
		}
		n++
	}
	return strings.Clone(text) // a long prompt does not stay in memory for its title
}
