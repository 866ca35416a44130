package roster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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
	to := session.Key{Tenant: k.Tenant, Stream: c.ID()}
	return to, a.beginAnew(ctx, k, to)
}

// beginAnew makes the session in which one that has rested goes on. Of several
// calls with the same two, one does it.
func (a *App) beginAnew(ctx context.Context, k, to session.Key) error {
	from, _, err := a.said(ctx, k, k.Stream, "")
	if err != nil {
		return err
	}
	begin := a.inbound(clock.From(ctx), to, "", from.branch(session.BranchRotate, nil))
	_, err = a.backend.Post(ctx, to, session.Post{Idem: "rotate:" + to.Stream, Events: []session.Event{begin}})
	return err
}

// maxSuccessors bounds how often a session is followed to the one in which it
// goes on.
const maxSuccessors = 1000

// successor is the session that a prompt for a session goes to whose profile says
// how long it may rest: the same, or the one in which it goes on. That has an id
// which follows from it, so that whoever only knows the first one gets there too.
func (a *App) successor(ctx context.Context, k session.Key, sum session.Summary, after time.Duration) (session.Key, error) {
	now := clock.From(ctx).Now()
	for range maxSuccessors {
		if !sum.AtRest() || now.Sub(sum.LastActive) < after {
			return k, nil
		}
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "roster:session:%s:%d", k.Stream, sum.Last))
		to := session.Key{Tenant: k.Tenant, Stream: id.String()}
		next, err := a.backend.Summary(ctx, to)
		if errors.Is(err, session.ErrNoStream) {
			return to, a.beginAnew(ctx, k, to)
		}
		if err != nil {
			return k, err
		}
		k, sum = to, next
	}
	return k, fmt.Errorf("session %s has gone on in %d others: name the newest", k.Stream, maxSuccessors)
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
