package session

import (
	"fmt"
	"slices"

	"github.com/rosterrun/roster/message"
)

// Compaction makes the conversation that is sent smaller. What it takes out
// stays in the log.
type Compaction struct {
	Kind string `json:"kind"` // see the constants
	Why  string `json:"why"`  // full: the window is; overflow: the model has refused a request
	// Message is what stands for the messages From to To from now on: the ids of
	// the three, its text, and how many it stands for.
	Message string `json:"message,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Text    string `json:"text,omitempty"`
	Count   int    `json:"count,omitempty"`
	// Artifact is the digest of the blob that has the text of those.
	Artifact string `json:"artifact,omitempty"`
	// Results are those of tools that are cut.
	Results []CutResult `json:"results,omitempty"`
	// Before and After are the tokens of the next request, as far as they can be
	// told.
	Before int64 `json:"before_tokens"`
	After  int64 `json:"after_tokens"`
	// Error says why it failed: nothing is changed then.
	Error *Error `json:"error,omitempty"`
}

// What a compaction does.
const (
	CompactPrune   = "prune"   // results of tools are cut
	CompactSummary = "summary" // a summary stands for messages
	CompactDrop    = "drop"    // a note says that messages are left out
	CompactFailed  = "failed"  // nothing: there is no summary
)

// Why a compaction is made.
const (
	CompactFull     = "full"
	CompactOverflow = "overflow"
)

// CutResult is the result of a call with another text. All of it is in the blob
// of the digest Artifact.
type CutResult struct {
	Message  string `json:"message"`
	Call     string `json:"call"`
	Text     string `json:"text"`
	Artifact string `json:"artifact,omitempty"`
}

func (*Compaction) Type() string                   { return "compaction" }
func (b *Compaction) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// Load is how large a conversation is, in tokens.
type Load struct {
	Counted int64 // what the provider counted last, answer included; 0: it has not yet
	Since   int64 // estimate of the messages since then
	All     int64 // estimate of all messages
}

// add takes in another message of the branch.
func (l *Load) add(m *message.Message) {
	n := m.Tokens()
	l.Since += n
	l.All += n
}

// count takes in what a provider counted for the answer that is the last message.
func (l *Load) count(u *message.Usage) {
	if !u.Estimated {
		l.Counted, l.Since = u.Input+u.CacheRead+u.CacheWrite+u.Output, 0
	}
}

// recount estimates the messages anew.
func (l *Load) recount(list []*message.Message, tokens int64) {
	*l = Load{Counted: tokens}
	for _, m := range list {
		l.All += m.Tokens()
	}
}

// compact makes the branch what a compaction says.
func (s *Session) compact(turn int, b *Compaction) error {
	if l := s.Loop; l != nil && b.Why == CompactOverflow {
		l.Overflow = turn
	}
	switch b.Kind {
	case CompactFailed:
		s.Uncompacted = b.Before
		return nil
	case CompactPrune:
		if err := s.cutResults(b.Results); err != nil {
			return err
		}
	default:
		from, to := s.span(b)
		if from < 0 || to < from {
			return fmt.Errorf("session %s: there are no messages %s to %s to compact", s.ID, b.From, b.To)
		}
		m := &message.Message{ID: b.Message, Parent: s.Messages[from].Parent, Role: message.User, Parts: []message.Part{message.Text{Text: b.Text}}}
		m.Stands = answers(s.Messages[from : to+1])
		list := make([]*message.Message, 0, len(s.Messages)-(to-from)+from+1)
		s.Messages = append(append(append(list, s.Messages[:from]...), m), s.Messages[to+1:]...)
	}
	s.Uncompacted, s.Signed = 0, Signed{}
	s.Load.recount(s.Messages, b.After)
	return nil
}

// span is where in the branch the messages are that a compaction takes out.
func (s *Session) span(b *Compaction) (from, to int) {
	return s.index(b.From), s.index(b.To)
}

func (s *Session) index(id string) int {
	return slices.IndexFunc(s.Messages, func(m *message.Message) bool { return m.ID == id })
}

// cutResults gives results another text. Messages are shared, so those get a copy.
func (s *Session) cutResults(results []CutResult) error {
	s.Messages = slices.Clone(s.Messages)
	for _, c := range results {
		i := s.index(c.Message)
		if i < 0 {
			return fmt.Errorf("session %s: there is no message %s to cut", s.ID, c.Message)
		}
		m := s.Messages[i]
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			if t, ok := p.(message.ToolResult); ok && t.Call == c.Call {
				t.Parts, t.Artifact = []message.Part{message.Text{Text: c.Text}}, c.Artifact
				parts[j] = t
			}
		}
		s.Messages[i] = &message.Message{ID: m.ID, Parent: m.Parent, Role: m.Role, Parts: parts, Partial: m.Partial, Stands: m.Stands}
	}
	return nil
}

// answers is how many answers of the model messages are, or stand for.
func answers(list []*message.Message) (n int) {
	for _, m := range list {
		n += m.Answers()
	}
	return n
}

// History remembers what compactions take out of the sessions of a stream. Note
// is called before the State applies each event.
type History struct {
	spans map[string][]*message.Message // by what stands for them
	whole map[string]*message.Message   // by id: before they were cut
}

// Note looks at an event that the state is about to apply.
func (h *History) Note(st *State, e *Event) error {
	if e.Type != "compaction" {
		return nil
	}
	body, err := e.Decode()
	if err != nil {
		return err
	}
	b, ok := body.(*Compaction)
	s := st.Session(e.Session)
	if !ok || s == nil {
		return nil
	}
	if h.spans == nil {
		h.spans, h.whole = map[string][]*message.Message{}, map[string]*message.Message{}
	}
	if from, to := s.span(b); b.Message != "" && from >= 0 && to >= from {
		h.spans[b.Message] = slices.Clone(s.Messages[from : to+1])
	}
	for _, c := range b.Results {
		if i := s.index(c.Message); i >= 0 && h.whole[c.Message] == nil {
			h.whole[c.Message] = s.Messages[i]
		}
	}
	return nil
}

// Whole gives a conversation as it was before anything was taken out of it.
func (h *History) Whole(list []*message.Message) []*message.Message {
	var out []*message.Message
	for _, m := range list {
		switch span := h.spans[m.ID]; {
		case span != nil:
			out = append(out, h.Whole(span)...)
		case h.whole[m.ID] != nil:
			out = append(out, h.whole[m.ID])
		default:
			out = append(out, m)
		}
	}
	return out
}

// Artifacts lists the blobs that the results in messages refer to, each once.
func Artifacts(list []*message.Message) []string {
	var refs []string
	for _, m := range list {
		for _, p := range m.Parts {
			if t, ok := p.(message.ToolResult); ok && t.Artifact != "" && !slices.Contains(refs, t.Artifact) {
				refs = append(refs, t.Artifact)
			}
		}
	}
	return refs
}
