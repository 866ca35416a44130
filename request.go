package roster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// Request rebuilds what the model was sent for a turn of a session, which may be
// a child of the stream. Turns count over all loops of the session, from 1; 0 is
// the last one. about names what was asked aside, such as planning.plan or
// compaction, in that turn or before the first one; empty: the turn's own request.
func (a *App) Request(ctx context.Context, k session.Key, id string, turn int, about string) (*view.Request, error) {
	k = a.withTenant(k)
	backend, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	s, err := findRequest(ctx, backend, k, id, turn, about)
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) (*view.Request, error) {
		return nil, &view.RequestError{Session: id, Turn: s.turn, For: about, Reason: fmt.Sprintf(format, args...)}
	}
	m, err := a.modelOf(ctx, k, s)
	if err != nil {
		return fail("%v", err)
	}
	rend, ok := m.(model.Renderer)
	if !ok {
		return fail("model %s does not say what it is sent", s.model)
	}
	r, err := a.rebuild(ctx, k, s)
	if err != nil {
		return fail("%v", err)
	}
	out := &view.Request{Session: id, For: about, Loop: s.loop, Turn: s.turn, Attempt: s.request.Attempt, Model: s.model, Renderer: rend.Renderer()}
	if out.Body, err = rend.Render(r); err != nil {
		return fail("%v", err)
	}
	out.Differs, err = differs(rend, s)
	return out, err
}

// rebuild makes a request of what the log says of it.
func (a *App) rebuild(ctx context.Context, k session.Key, s *sent) (*model.Request, error) {
	if s.request.Body != "" { // a program has changed it as a whole
		data, err := a.blob(ctx, k, s.request.Body)
		if err != nil {
			return nil, err
		}
		r, err := engine.DecodeRequest(data)
		if err == nil {
			s.messages = r.Messages
		}
		return r, err
	}
	prefix, err := a.blob(ctx, k, s.start.Prefix)
	if err != nil {
		return nil, fmt.Errorf("its head: %w", err)
	}
	r := &model.Request{Messages: s.messages, Tail: s.request.Tail}
	if r.Prefix, err = engine.DecodePrefix(prefix); err != nil {
		return nil, err
	}
	if len(s.request.Params) > 0 {
		if err := json.Unmarshal(s.request.Params, &r.Params); err != nil {
			return nil, fmt.Errorf("its parameters: %w", err)
		}
	}
	if s.request.System != nil {
		r.Prefix = &model.Prefix{System: s.request.System, Tools: r.Prefix.Tools}
	}
	if text := s.start.Schema; len(text) > 0 && s.request.For == "" {
		r.Params.Schema = engine.AnswerSchema(text)
	}
	return r, nil
}

// differs says why what is rendered may not be what was sent.
func differs(rend model.Renderer, s *sent) (string, error) {
	if s.request.Renderer != rend.Renderer() {
		return fmt.Sprintf("it was sent in the form %s, and this version writes %s", s.request.Renderer, rend.Renderer()), nil
	}
	digest, err := engine.DigestOf(rend, s.messages)
	if err == nil && digest != s.request.Digest {
		return "its messages do not have the digest that stands in the log", nil
	}
	return "", err
}

// sent is a request as the log tells of it.
type sent struct {
	turn     int
	loop     string
	model    string
	start    *session.LoopStart
	request  *session.TurnRequest
	messages []*message.Message
}

// findRequest folds the log up to the last request of a turn.
func findRequest(ctx context.Context, store session.Store, k session.Key, id string, turn int, about string) (*sent, error) {
	var found *sent
	st, turns := session.NewState(k), 0
	for e, err := range store.Read(ctx, k, 0) {
		if err != nil {
			return nil, err
		}
		body, err := e.Decode()
		if err != nil {
			return nil, err
		}
		if e.Session == id {
			switch b := body.(type) {
			case *session.TurnStart:
				turns++
			case *session.TurnRequest:
				n := turns
				if about != "" {
					n = max(n, 1) // before the first turn counts as in it
				}
				if s := st.Session(id); b.For == about && (turn == 0 || n == turn) && s != nil && s.Loop != nil {
					found = sentBy(s, b, n)
				}
			}
		}
		if err := st.Apply(&e); err != nil {
			return nil, err
		}
		if turn > 0 && turns > turn {
			break
		}
	}
	if found == nil {
		return nil, &view.RequestError{Session: id, Turn: turn, For: about, Reason: fmt.Sprintf("there is none; the session has had %d turns", turns), None: true}
	}
	return found, nil
}

// sentBy is a request that is made by a session as it is now.
func sentBy(s *session.Session, b *session.TurnRequest, turn int) *sent {
	l := s.Loop
	out := &sent{turn, l.ID, cmp.Or(b.Model, l.Model), l.Start, b, slices.Clone(s.Messages)}
	if to := b.From + b.Messages; b.For != "" && b.From >= 0 && b.Messages >= 0 && to <= len(out.messages) {
		out.messages = out.messages[b.From:to]
	}
	return out
}

// modelOf makes the model that was asked, without its key.
func (a *App) modelOf(ctx context.Context, k session.Key, s *sent) (model.Model, error) {
	if m := a.opts.Models[s.model]; m != nil {
		return m, nil
	}
	data, err := a.blob(ctx, k, s.start.Spec)
	if err != nil {
		return nil, fmt.Errorf("its spec: %w", err)
	}
	var was spec.Spec
	if err := json.Unmarshal(data, &was); err != nil {
		return nil, fmt.Errorf("its spec: %w", err)
	}
	models := append([]spec.Model{was.Model}, was.Fallbacks...)
	if own := was.Context.Summariser; own != nil {
		models = append(models, own.Model)
	}
	for _, m := range models {
		if m.String() != s.model {
			continue
		}
		found, err := a.found(m)
		if err != nil {
			return nil, err
		}
		return a.adapter(m, found, nil)
	}
	return nil, fmt.Errorf("its spec does not name the model %s", s.model)
}
