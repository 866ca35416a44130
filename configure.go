package roster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Configure sets what a session has over its profile: keys of session.Settable and
// their text; empty takes one back. It is stored durably, and holds from the next
// loop on, below what a request sets. What the session's profile cannot be run with
// is refused, and nothing is stored.
func (a *App) Configure(ctx context.Context, k session.Key, set map[string]string) (session.Settings, error) {
	if err := settable(set); err != nil {
		return session.Settings{}, err
	}
	d, err := a.dispatcher(ctx)
	if err != nil {
		return session.Settings{}, err
	}
	k = a.withTenant(k)
	sum, err := a.backend.Summary(ctx, k)
	if err != nil {
		return session.Settings{}, err
	}
	next := sum.Settings.With(set)
	from := a.now()
	p, err := a.profileHere(ctx, from, sum.Profile)
	if err == nil {
		_, _, err = a.resolveInput(from, a.input(from, p, session.Overrides{Session: next}))
	}
	if err != nil {
		return session.Settings{}, err
	}
	body := &session.Set{Keys: maps.Clone(set)}
	_, err = d.Submit(ctx, k, session.Post{Events: []session.Event{a.inbound(clock.From(ctx), k, "", body)}})
	return next, err
}

// settable refuses keys that a session cannot set. It has the name of a key that
// does not fit.
func settable(set map[string]string) error {
	known := session.Settable()
	if len(set) == 0 {
		return fmt.Errorf("nothing is set: a session takes %s: %w", strings.Join(known, ", "), profile.SchemaValidation)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: a session takes %s: %w", key, strings.Join(known, ", "), profile.SchemaValidation)
		}
	}
	return nil
}
