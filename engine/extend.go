package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// ContextProvider gives a text that is added to a request; empty: nothing.
type ContextProvider func(ctx context.Context, m ContextMoment) (string, error)

// Transform sees a request before it is sent, and returns another one, or nil to
// leave it as it is. It changes nothing in what it is given.
type Transform func(ctx context.Context, m ContextMoment, r *model.Request) (*model.Request, error)

// ContextMoment says for which request something is asked.
type ContextMoment struct {
	Key     session.Key
	Session string // of the stream; the root or a child
	Profile string
	Chain   string
	Turn    int
	User    string // whose prompt it is; empty: the one user of this machine
}

// Provider is a ContextProvider and its name.
type Provider struct {
	Name string
	Ask  ContextProvider
}

// Bounds of what a provider may take and give.
const (
	contextTime  = 10 * time.Second
	contextBytes = 64 << 10
)

// extension is what adds to and changes requests.
type extension struct {
	providers  []Provider
	transforms []Transform
}

// Extend has requests added to and changed, after what its capabilities add and
// change. It is called before the first run.
func (b *Blueprint) Extend(adds []Provider, changes []Transform) {
	var own []Provider
	var first []Transform
	for _, c := range b.having {
		if c.Context != nil {
			own = append(own, Provider{c.Name, c.Context})
		}
		if c.Transform != nil {
			first = append(first, c.Transform)
		}
	}
	adds, changes = append(own, adds...), append(first, changes...)
	if len(adds)+len(changes) > 0 {
		b.extension = &extension{adds, changes}
	}
}

// extend has the request of a turn added to and changed, while others may go on.
// What comes of it is recorded with it. refs are the blobs that it needs.
func (r *run) extend(c *call, req *session.TurnRequest) (refs []string) {
	if r.extension == nil || c.err != nil {
		return nil
	}
	m := ContextMoment{
		Key: r.st.Key, Session: r.id, Profile: r.Spec.Name, Chain: r.chain, Turn: r.turn, User: r.st.Root.User,
	}
	defer r.apart()()
	for _, p := range r.providers {
		c.request.Tail = joined(c.request.Tail, r.provided(p, m))
	}
	req.Tail = c.request.Tail
	changed, err := r.transformed(m, c.request)
	if err != nil || changed == nil {
		c.err = err
		return nil
	}
	c.request = changed
	req.Messages, req.Head, req.Params, req.Tail, req.Digest = len(changed.Messages), "", nil, changed.Tail, ""
	if rend, ok := r.link.Model.(model.Renderer); ok {
		if req.Digest, c.err = DigestOf(rend, changed.Messages); c.err != nil {
			return nil
		}
	}
	body, err := EncodeRequest(changed)
	if err == nil {
		req.Body, err = r.putBlob(string(body))
	}
	if c.err = err; err != nil {
		return nil
	}
	return []string{req.Body}
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// provided is what a provider adds.
func (r *run) provided(p Provider, m ContextMoment) string {
	ctx, cancel := context.WithTimeout(r.work, contextTime)
	defer cancel()
	text, err := safelyAs("the provider", func() (string, error) { return p.Ask(ctx, m) })
	if err == nil && strings.TrimSpace(text) == "" {
		return ""
	}
	if err != nil {
		text = "This is not to be had at present: " + err.Error()
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > contextBytes {
		text = cutText(text, contextBytes, "there is room for no more")
	}
	return fmt.Sprintf("<roster-context name=%q>\n%s\n</roster-context>", p.Name, r.clean(text))
}

// transformed is the request that is sent instead; nil: it is as it was.
func (r *run) transformed(m ContextMoment, was *model.Request) (*model.Request, error) {
	now := was
	for i, change := range r.transforms {
		ctx, cancel := context.WithTimeout(r.work, contextTime)
		next, err := safelyAs("it", func() (*model.Request, error) { return change(ctx, m, now) })
		cancel()
		if err != nil {
			return nil, fmt.Errorf("transform %d of the request: %w", i+1, err)
		}
		if next != nil {
			now = next
		}
	}
	if now == was {
		return nil, nil
	}
	if now.Prefix == nil || len(now.Messages) == 0 {
		return nil, fmt.Errorf("a transform of the request has left it without a prefix or without messages")
	}
	return now, nil
}

// requestJSON is a request that a transform has changed, as it stands in the log.
type requestJSON struct {
	Prefix   json.RawMessage         `json:"prefix"`
	Params   model.Params            `json:"params"`
	Messages []session.BranchMessage `json:"messages"`
	Tail     string                  `json:"tail,omitempty"`
}

// EncodeRequest writes a whole request out.
func EncodeRequest(r *model.Request) ([]byte, error) {
	j := requestJSON{Prefix: encodePrefix(r.Prefix), Params: r.Params, Tail: r.Tail}
	for _, m := range r.Messages {
		j.Messages = append(j.Messages, session.BranchMessage{ID: m.ID, Parent: m.Parent, Role: m.Role, Parts: m.Parts, Partial: m.Partial, Stands: m.Stands})
	}
	return json.Marshal(j)
}

// DecodeRequest reads what EncodeRequest wrote.
func DecodeRequest(data []byte) (*model.Request, error) {
	var j requestJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("stored request: %w", err)
	}
	p, err := DecodePrefix(j.Prefix)
	if err != nil {
		return nil, err
	}
	r := &model.Request{Prefix: p, Params: j.Params, Tail: j.Tail}
	for _, m := range j.Messages {
		r.Messages = append(r.Messages, &message.Message{ID: m.ID, Parent: m.Parent, Role: m.Role, Parts: m.Parts, Partial: m.Partial, Stands: m.Stands})
	}
	return r, nil
}
