package roster

import (
	"context"
	"fmt"
	"time"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// NoMessageError: a session has no such message to branch off at.
type NoMessageError struct{ Session, Message string }

func (e *NoMessageError) Error() string {
	return fmt.Sprintf("session %s has no message %s to branch off at: see roster sessions tree %s", e.Session, e.Message, e.Session)
}

// Fork begins a session with a copy of what another one, of the stream k, has
// said: up to and including a message, on whichever of its branches, or with an
// empty at up to its end. The
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
	forked := a.inbound(c, to, "", from.branch(session.BranchFork, list))
	forked.Refs = from.refs
	_, err = b.Post(ctx, to, session.Post{Events: []session.Event{forked}})
	return to, err
}

// Rotate begins a session anew in which nobody has said anything for so long: as
// the same profile, with the same settings and with what was refused, and without
// its conversation. It returns the session to go on with: the new one, or the
// same one where it is in use, runs or waits.
func (a *App) Rotate(ctx context.Context, k session.Key, after time.Duration) (session.Key, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return session.Key{}, err
	}
	k = a.withTenant(k)
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return session.Key{}, err
	}
	c := clock.From(ctx)
	if !sum.AtRest() || c.Now().Sub(sum.LastActive) < after {
		return k, nil
	}
	from, _, err := a.said(ctx, k, k.Stream, "")
	if err != nil {
		return session.Key{}, err
	}
	to := session.Key{Tenant: k.Tenant, Stream: c.ID()}
	_, err = b.Post(ctx, to, session.Post{Events: []session.Event{a.inbound(c, to, "", from.branch(session.BranchRotate, nil))}})
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
	refs    []string // the blobs that its events need, but for those of its loops
}

func (o *origin) branch(why string, list []*message.Message) *session.Branch {
	return &session.Branch{
		From: o.id, Seq: o.last, Why: why, Profile: o.profile, Title: o.title, Shared: o.shared,
		Messages: session.BranchMessages(list), Denials: o.denials, Settings: o.set,
	}
}

// said reads what a session of a stream has said, up to a message of any of its
// branches; with an empty at up to the end of the one that it is on.
func (a *App) said(ctx context.Context, k session.Key, id, at string) (*origin, []*message.Message, error) {
	sum, err := a.backend.Summary(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	t, err := a.tree(ctx, k, id)
	if err != nil {
		return nil, nil, err
	}
	in := t.session
	o := &origin{id, t.state.Last, sum.Shared, in.Profile, in.Title, t.state.Denials(), sum.Settings, t.refs}
	if at == "" {
		return o, in.Messages, nil
	}
	m := t.said[at]
	if m == nil {
		return nil, nil, &NoMessageError{id, at}
	}
	o.profile = m.profile
	return o, t.path(at), nil
}
