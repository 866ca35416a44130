package roster

import (
	"context"
	"fmt"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// NoMessageError: a session has no such message to branch off at.
type NoMessageError struct{ Session, Message string }

func (e *NoMessageError) Error() string {
	return fmt.Sprintf("session %s has no message %s to branch off at: see roster sessions show %s --json", e.Session, e.Message, e.Session)
}

// Fork begins a session with a copy of what another one, of the stream k, has
// said: up to and including a message, or with an empty at up to its end. The
// other one stays as it is. What was refused for its session is refused in the
// new one too; what was granted is asked again.
func (a *App) Fork(ctx context.Context, k session.Key, id, at string) (session.Key, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return session.Key{}, err
	}
	k = a.withTenant(k)
	from, list, err := a.said(ctx, k, id, at)
	if err != nil {
		return session.Key{}, err
	}
	c := clock.From(ctx)
	to := session.Key{Tenant: k.Tenant, Stream: c.ID()}
	_, err = b.Post(ctx, to, session.Post{Events: []session.Event{a.inbound(c, to, "", from.branch(session.BranchFork, list))}})
	return to, err
}

// origin is a session that others branch off.
type origin struct {
	id      string
	last    int64
	shared  bool
	profile string
	title   string
	denials []session.Grant
	set     session.Settings
}

func (o *origin) branch(why string, list []*message.Message) *session.Branch {
	return &session.Branch{
		From: o.id, Seq: o.last, Why: why, Profile: o.profile, Title: o.title, Shared: o.shared,
		Messages: session.BranchMessages(list), Denials: o.denials, Settings: o.set,
	}
}

// said reads what a session of a stream has said, up to a message.
func (a *App) said(ctx context.Context, k session.Key, id, at string) (*origin, []*message.Message, error) {
	sum, err := a.backend.Summary(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	st := session.NewState(k)
	st.KeepChildren = true
	for e, err := range a.backend.Read(ctx, k, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	in := st.Session(id)
	if in == nil {
		return nil, nil, fmt.Errorf("session %q: %w", id, session.ErrNoStream)
	}
	list := in.Messages
	if at != "" {
		if list = upTo(list, at); list == nil {
			return nil, nil, &NoMessageError{id, at}
		}
	}
	return &origin{id, st.Last, sum.Shared, in.Profile, in.Title, st.Denials(), sum.Settings}, list, nil
}

// upTo cuts a conversation after a message; nil: there is no such message.
func upTo(list []*message.Message, id string) []*message.Message {
	for i, m := range list {
		if m.ID == id {
			return list[:i+1]
		}
	}
	return nil
}
