package session

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PermissionAsked asks a person whether a call may run. It is the owner's
// event; the call has not started.
type PermissionAsked struct {
	Ask    string          `json:"ask"` // see AskID
	Call   string          `json:"call"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Digest string          `json:"digest"` // of tool and input
	// State names what the call would change as it is now, such as the file
	// that it edits. With another state it has to be asked anew.
	State string `json:"state,omitempty"`
	// Needs is what has to be answered. It is exactly what an answer grants
	// that holds for more than this call; without Grantable there is none.
	Needs     []Subject   `json:"needs"`
	Grantable bool        `json:"grantable,omitempty"`
	Parts     []AskedPart `json:"parts"` // all that the call does, with the verdict on each
	Rule      *Rule       `json:"rule,omitempty"`
	Reason    string      `json:"reason"`           // why it is asked
	Again     string      `json:"again,omitempty"`  // why it is asked anew
	Expires   time.Time   `json:"expires,omitzero"` // when it counts as refused; zero: never
}

// Subject is a tool and exactly what it is used on: of a command line also the
// directory, if that is not the workspace.
type Subject struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
	Dir     string `json:"dir,omitempty"`
}

// AskedPart is one thing that a call does.
type AskedPart struct {
	Subject
	Effect string `json:"effect"` // allow or ask
	Rule   *Rule  `json:"rule,omitempty"`
}

// PermissionResolved answers a PermissionAsked. It is inbound; the first one
// counts.
type PermissionResolved struct {
	Ask    string `json:"ask"`
	Answer Answer `json:"answer"`
	// ForSession refuses the same for the rest of the session, with AnswerNo.
	ForSession bool   `json:"for_session,omitempty"`
	Message    string `json:"message,omitempty"` // for the model
	By         string `json:"by,omitempty"`      // the user who answered
}

// Answer is what a person says to a PermissionAsked or an InputAsked.
type Answer string

const (
	AnswerOnce    Answer = "once"    // this call
	AnswerSession Answer = "session" // and the same for the rest of the session
	AnswerAlways  Answer = "always"  // and the same in this workspace, until it is revoked
	AnswerNo      Answer = "no"
	AnswerText    Answer = "text"    // what an InputAsked asks for
	AnswerTimeout Answer = "timeout" // nobody answered in time
)

// Allows says whether the call may run as far as the answer goes.
func (a Answer) Allows() bool {
	return a == AnswerOnce || a == AnswerSession || a == AnswerAlways
}

// LoopWaiting ends the work on a loop, which stays open, until a person has
// answered: nobody owns the stream meanwhile.
type LoopWaiting struct {
	Asks  []string  `json:"asks"`
	Until time.Time `json:"until,omitzero"` // when the first of them expires
}

// Grant is an answer that holds for a session: Effect is "allow", or "deny".
// It belongs to the profile that asked.
type Grant struct {
	Profile string `json:"profile"`
	Subject
	Effect string `json:"effect"`
}

// wakes says that an inbound event ends the wait for a person. What else is
// posted waits with the loop.
func wakes(typ string) bool {
	return typ == "permission.resolved" || typ == "input.answered" || typ == "cancel"
}

// AskID is the id of the n-th question of a stream.
func AskID(stream string, n int) string { return stream + "." + strconv.Itoa(n) }

// ParseAskID tells which question of which stream an id names.
func ParseAskID(id string) (stream string, n int, ok bool) {
	dot := strings.LastIndexByte(id, '.')
	n, err := strconv.Atoi(id[dot+1:])
	if dot < 1 || err != nil || n < 1 || AskID(id[:dot], n) != id {
		return "", 0, false
	}
	return id[:dot], n, true
}

// asking is a question and its answer: for a permission, or for input. It is kept
// until the root's loop ends, so that an answer commutes with what the owner did
// without knowing of it.
type asking struct {
	question *PermissionAsked
	answer   *PermissionResolved
	input    *InputAsked
	reply    *InputAnswered
	call     string
	session  string
	profile  string
	at       time.Time
}

func (s *State) ask(in *Session, e *Event, id string, a asking) {
	s.Asks++
	if s.askings == nil {
		s.askings = map[string]*asking{}
	}
	a.session, a.profile, a.at = in.ID, in.Profile, e.Time
	s.askings[id] = &a
}

// caller is the call that asks, if it is open.
func (s *State) caller(a *asking) *CallState {
	in := s.Session(a.session)
	if in == nil || in.Loop == nil {
		return nil
	}
	return in.Loop.call(a.call)
}

// resolve takes the first answer to a question. One that comes before its
// question in the log is void.
func (s *State) resolve(e *Event, b *PermissionResolved) {
	a := s.askings[b.Ask]
	if a == nil || a.question == nil || a.answer != nil {
		return
	}
	if a.answer = b; expired(a.question.Expires, e.Time) {
		a.answer = &PermissionResolved{Ask: b.Ask, Answer: AnswerTimeout}
	}
	s.grant(a)
	if c := s.caller(a); c != nil && c.Asked == a.question {
		c.Answer = a.answer
	}
}

// grant keeps an answer that holds for the session. The list is sorted.
func (s *State) grant(a *asking) {
	g := Grant{Profile: a.profile}
	switch {
	case !a.question.Grantable:
		return
	case a.answer.Answer == AnswerSession:
		g.Effect = "allow"
	case a.answer.Answer == AnswerNo && a.answer.ForSession:
		g.Effect = "deny"
	default:
		return
	}
	for _, g.Subject = range a.question.Needs {
		s.keep(g)
	}
}

func (g Grant) compare(o Grant) int {
	return cmp.Or(
		strings.Compare(g.Profile, o.Profile), strings.Compare(g.Tool, o.Tool), strings.Compare(g.Subject.Subject, o.Subject.Subject),
		strings.Compare(g.Dir, o.Dir), strings.Compare(g.Effect, o.Effect),
	)
}

// expired says whether nobody has answered in time.
func expired(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// AnswerIdem is the idempotency key of every answer to a question (Post.Idem),
// so that a store takes only the first.
func AnswerIdem(ask string) string { return "answer " + ask }

// Question is what nobody has answered yet, and who asks: for a permission, or
// for input.
type Question struct {
	Ask        string
	Expires    time.Time
	Permission *PermissionAsked // or nil
	Input      *InputAsked      // or nil

	Call                          CallState
	Session, Loop, Profile, Chain string
	Depth                         int
	At                            time.Time // when it was asked
}

// Expired says whether nobody has answered in time.
func (q *Question) Expired(now time.Time) bool { return expired(q.Expires, now) }

// Resolved is the event that answers the question.
func (q *Question) Resolved(answer Answer) Body {
	if q.Input != nil {
		return &InputAnswered{Ask: q.Ask, Answer: answer}
	}
	return &PermissionResolved{Ask: q.Ask, Answer: answer}
}

// Questions yields what the stream asks for: by session, the root first, and in
// the order of the calls.
func (s *State) Questions() iter.Seq[Question] {
	return func(yield func(Question) bool) {
		ids := append([]string{s.Root.ID}, slices.Sorted(maps.Keys(s.Children))...)
		for _, id := range ids {
			in := s.Session(id)
			l := in.Loop
			if l == nil {
				continue
			}
			for i := range l.Calls {
				c := &l.Calls[i]
				ask, expires := c.Open()
				if ask == "" {
					continue
				}
				q := Question{Ask: ask, Expires: expires, Call: *c, Session: id, Loop: l.ID, Profile: l.Start.Profile, Chain: l.Chain, Depth: in.Depth}
				if a := s.askings[ask]; a != nil {
					q.At = a.at
				}
				if c.Asked != nil && c.Asked.Ask == ask {
					q.Permission = c.Asked
				} else {
					q.Input = c.Inquiry
				}
				if !yield(q) {
					return
				}
			}
		}
	}
}
