package session

import (
	"encoding/json"
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
	State string      `json:"state,omitempty"`
	Parts []AskedPart `json:"parts"` // what the call needs, and the verdict on each
	Rule  *Rule       `json:"rule,omitempty"`
	// Reason says why it is asked, and why again.
	Reason string `json:"reason"`
	// Grants are exactly what the answers "session" and "always" grant. Empty:
	// neither may be given.
	Grants  []Subject `json:"grants,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // then it counts as refused; zero: never
}

// Subject is a tool and exactly what it is used on.
type Subject struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
}

// AskedPart is one thing that a call needs.
type AskedPart struct {
	Subject
	Effect string `json:"effect"` // allow or ask
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

// Answer is what a person says to a PermissionAsked.
type Answer string

const (
	AnswerOnce    Answer = "once"    // this call
	AnswerSession Answer = "session" // and the same for the rest of the session
	AnswerAlways  Answer = "always"  // and the same in this workspace, until it is revoked
	AnswerNo      Answer = "no"
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
	Profile string
	Subject
	Effect string
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

// resolve gives an open question its answer. Any other answer changes nothing.
func (s *State) resolve(e *Event, b *PermissionResolved) {
	if s.Root.resolve(s, e, b) {
		return
	}
	for _, c := range s.Children { // in any order: a question is asked by one of them
		if c.resolve(s, e, b) {
			return
		}
	}
}

// resolve says whether the question was this session's.
func (c *Session) resolve(s *State, e *Event, b *PermissionResolved) bool {
	l := c.Loop
	if l == nil {
		return false
	}
	for i := range l.Calls {
		if c := &l.Calls[i]; c.Open() && c.Asked.Ask == b.Ask {
			if c.Asked.Expired(e.Time) {
				b = &PermissionResolved{Ask: b.Ask, Answer: AnswerTimeout}
			}
			c.Answer = b
			s.grant(l.Start.Profile, c.Asked, b)
			return true
		}
	}
	return false
}

// grant keeps an answer that holds for the session.
func (s *State) grant(profile string, asked *PermissionAsked, b *PermissionResolved) {
	effect := ""
	switch {
	case b.Answer == AnswerSession:
		effect = "allow"
	case b.Answer == AnswerNo && b.ForSession:
		effect = "deny"
	default:
		return
	}
	for _, sub := range asked.Grants {
		g := Grant{profile, sub, effect}
		if !slices.Contains(s.Grants, g) {
			s.Grants = append(s.Grants, g)
		}
	}
}

// Expired says whether nobody has answered in time.
func (b *PermissionAsked) Expired(now time.Time) bool {
	return !b.Expires.IsZero() && !now.Before(b.Expires)
}
