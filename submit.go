package roster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// LocalTenant is the tenant, and the user, where nobody has said another.
const LocalTenant = "local"

// Ask is a prompt for an agent, and Submitted what became of it.
type (
	Ask       = host.Ask
	Submitted = host.Submitted
)

// Submit stores a prompt, durably, and begins to run it. Profile, model and key
// are checked first, so that what cannot run is refused before anything is
// stored.
func (a *App) Submit(ctx context.Context, ask Ask) (Submitted, error) {
	takes, err := a.brought(ctx, &ask)
	if err != nil {
		return Submitted{}, err
	}
	return a.submit(ctx, ask, takes)
}

// submit stores, before the prompt and together with it, what the session takes
// over from another one; nil: nothing.
func (a *App) submit(ctx context.Context, ask Ask, takes *session.Branch) (Submitted, error) {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return Submitted{}, err
	}
	c := clock.From(ctx)
	ask.Chain = cmp.Or(ask.Chain, c.ID())
	k := a.withTenant(ask.Key)
	if err := a.serves(k.Tenant); err != nil {
		return Submitted{}, err
	}
	name := ask.Profile
	over := session.Overrides{Set: a.redactKeys(ask.Set), Flags: a.redactKeys(ask.Flags), AllowAll: ask.AllowAll, Client: ask.Client}
	if over.Schema, err = answerSchema(ask.Schema); err != nil {
		return Submitted{}, err
	}
	var sum session.Summary
	if k.Stream == "" {
		k.Stream = c.ID()
	} else {
		sum, err = a.backend.Summary(ctx, k)
		if err != nil && (name == "" || !errors.Is(err, session.ErrNoStream)) {
			return Submitted{}, err
		}
		if name == "" { // that of the session by then: it may be switched
			name = sum.Profile
		}
		over.Session = sum.Settings
	}
	if takes != nil {
		over.Session = takes.Settings
	}
	b, err := a.compileIn(ctx, compiling{
		name: name, of: request{key: k, session: k.Stream, user: ask.User, chain: ask.Chain}, over: over, headless: ask.Headless,
	})
	if err == nil {
		err = a.canHouse(ctx, b.Spec)
	}
	if err != nil {
		return Submitted{}, err
	}
	if after := b.Spec.RotateAfter; after > 0 && takes == nil && sum.Last > 0 {
		if ask.Key, err = a.successor(ctx, k, sum, after); err != nil {
			return Submitted{}, err
		}
		if ask.Key != k { // which may have settings, and a profile, of its own
			return a.submit(ctx, ask, nil)
		}
	}
	ask.Parts = a.redactParts(utf8Parts(ask.Parts))
	prompt := &session.Prompt{
		Parts: ask.Parts, Profile: ask.Profile, Overrides: over,
		Shared: ask.Shared, User: ask.User, KeyID: ask.KeyID, Request: ask.Request, Agent: ask.Agent, Headless: ask.Headless, OnDeny: ask.OnDeny,
		Lent: ask.Lent, Command: a.redactCommand(ask.Command),
	}
	a.ready.Store(prompt, ready{b, over.Session})
	post := session.Post{
		Idem: ask.Idem, OnlyIdle: ask.OnBusy != "queue",
		Events: []session.Event{a.inbound(c, k, ask.Chain, prompt)},
	}
	if takes != nil {
		post.Events = append([]session.Event{a.inbound(c, k, ask.Chain, takes)}, post.Events...)
	}
	posted, err := d.Submit(ctx, k, post)
	if posted.Lease == nil { // nobody here runs it now
		a.ready.Delete(prompt)
	}
	if ask.OnBusy == "steer" && mayBeSteer(err) {
		post.OnlyIdle = false
		post.Events = []session.Event{a.inbound(c, k, ask.Chain, &session.Steer{Parts: ask.Parts})}
		posted, err = d.Submit(ctx, k, post)
	}
	return Submitted{Key: posted.Key, Asked: k, Post: posted.Last, Duplicate: posted.Duplicate}, err
}

// maxSchema bounds the schema of answers, in bytes.
const maxSchema = 64 << 10

// SchemaError says that the schema of a prompt cannot be used.
type SchemaError struct{ Reason string }

func (e *SchemaError) Error() string {
	return "the schema of the answer cannot be used: " + e.Reason
}

// answerSchema checks the schema that a prompt asks its answer to fit, and takes
// the blanks out of it.
func answerSchema(text []byte) (json.RawMessage, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if len(text) > maxSchema {
		return nil, &SchemaError{fmt.Sprintf("it has %d bytes, and at most %d are sent along with each call", len(text), maxSchema)}
	}
	if !wire.IsObject(text) {
		return nil, &SchemaError{"it is not a JSON object, such as {\"type\": \"object\", \"properties\": {…}}"}
	}
	if _, err := schema.Compile(text); err != nil {
		return nil, &SchemaError{err.Error()}
	}
	var b bytes.Buffer
	err := json.Compact(&b, text)
	return b.Bytes(), err
}

// mayBeSteer says that a prompt was refused because the session is running, or
// that the same call was stored as a steering message before.
func mayBeSteer(err error) bool {
	var busy *session.Busy
	var conflict *session.Conflict
	return errors.As(err, &busy) || errors.As(err, &conflict)
}

func (a *App) withTenant(k session.Key) session.Key {
	if k.Tenant == "" {
		k.Tenant = LocalTenant
	}
	return k
}

func (a *App) inbound(c clock.Clock, k session.Key, chain string, b session.Body) session.Event {
	if chain == "" {
		chain = c.ID()
	}
	return session.Event{V: 1, Session: k.Stream, Chain: chain, Time: clock.Stamp(c), Type: b.Type(), Body: b}
}

// utf8Parts replaces what is not UTF-8 in texts: a prompt may be any bytes, and
// neither a log nor a provider takes them.
func utf8Parts(parts []message.Part) []message.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if t, ok := p.(message.Text); ok {
			t.Text = strings.ToValidUTF8(t.Text, "\uFFFD")
			parts[i] = t
		}
	}
	return parts
}

// Steer gives the running loop a message, which is delivered after the tool
// calls that have started. To a session that is idle it is a new prompt, which
// is run at once with Options.Claim, and else with the next prompt or Resume.
func (a *App) Steer(ctx context.Context, k session.Key, parts []message.Part) error {
	return a.post(ctx, k, &session.Steer{Parts: a.redactParts(utf8Parts(parts))})
}

// Followup gives the running loop a message for its end.
func (a *App) Followup(ctx context.Context, k session.Key, parts []message.Part) error {
	return a.post(ctx, k, &session.Followup{Parts: a.redactParts(utf8Parts(parts))})
}

// Cancel ends the running loop. What was said so far is kept.
func (a *App) Cancel(ctx context.Context, k session.Key, reason string) error {
	return a.post(ctx, k, &session.Cancel{Reason: a.redact(reason)})
}

func (a *App) post(ctx context.Context, k session.Key, b session.Body) error {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return err
	}
	k = a.withTenant(k)
	if err := a.serves(k.Tenant); err != nil {
		return err
	}
	_, err = d.Submit(ctx, k, session.Post{Events: []session.Event{a.inbound(clock.From(ctx), k, "", b)}})
	return err
}

// Resume takes up a session whose worker is gone, also one that is not shared.
// session.ErrNoWork: there is nothing to do, or somebody is at it.
func (a *App) Resume(ctx context.Context, k session.Key) error {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return err
	}
	return d.Claim(ctx, a.withTenant(k))
}

// Follow yields the stored events of a session after seq after, and then what
// comes, in batches. Those from the store have no Body: Decode gives it. Leaving the
// range does not end the run.
func (a *App) Follow(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		d, err := a.dispatcher(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		d.Follow(ctx, a.withTenant(k), after)(yield)
	}
}

// FollowFeed yields the stored events of a tenant, of all his sessions, after a
// position of his feed (session.Feed), and then what comes, in batches that must
// not be changed. An empty tenant is "local".
func (a *App) FollowFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[[]session.Fed, error] {
	return func(yield func([]session.Fed, error) bool) {
		d, err := a.dispatcher(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		d.FollowFeed(ctx, a.withTenant(session.Key{Tenant: tenant}).Tenant, after)(yield)
	}
}

// Watch finds the end of the loop that answers a post, among the events that
// Follow yields. Follow from before the post.
type Watch struct {
	Post int64
	loop string
}

// See looks at the next event. It returns the end of the loop, when e is that.
func (w *Watch) See(e *session.Event) *session.LoopEnd {
	switch e.Type {
	case "message":
		if body, err := e.Decode(); err == nil {
			if m, ok := body.(*session.Message); ok && m.Post == w.Post {
				w.loop = e.Loop
			}
		}
	case "loop.end":
		if w.loop == "" || e.Loop != w.loop {
			return nil
		}
		if body, err := e.Decode(); err == nil {
			end, _ := body.(*session.LoopEnd)
			return end
		}
	}
	return nil
}
