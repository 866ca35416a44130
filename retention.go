package roster

import (
	"context"
	"errors"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// Found is a session in which something was looked for and found.
type Found = view.Found

// Search lists the sessions of a tenant in which a text has all of the words and
// "phrases in quotes", the newest first. With limit it lists no more than that.
func (a *App) Search(ctx context.Context, tenant, words string, limit int) ([]Found, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	q := session.Query{Search: session.ParseSearch(words), Limit: limit}
	list := []Found{}
	for sum, err := range b.List(ctx, a.withTenant(session.Key{Tenant: tenant}).Tenant, q) {
		if err != nil {
			return nil, err
		}
		f, err := view.NewFound(ctx, b, &sum, q.Search)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// Prune removes a session with all that belongs to it, for good: its events and
// its children, and what no other session needs. Forks of it stay. *session.Busy:
// it is not at rest. *HoldsWorktreeError: nobody has decided what becomes of its
// worktree.
func (a *App) Prune(ctx context.Context, k session.Key) error {
	b, err := a.Backend(ctx)
	if err != nil {
		return err
	}
	k = a.withTenant(k)
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return err
	}
	if !sum.AtRest() {
		return &session.Busy{Key: k}
	}
	if err := a.HoldsWorktree(k.Stream); err != nil {
		return err
	}
	if err := b.Prune(ctx, k, sum.Last); err != nil {
		return err
	}
	a.states.drop(k)
	return nil
}

// Outdated lists the sessions of a tenant that nothing has happened in since a
// time, and that are at rest; the newest first.
func (a *App) Outdated(ctx context.Context, tenant string, since time.Time) ([]session.Summary, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	var list []session.Summary
	for sum, err := range b.List(ctx, a.withTenant(session.Key{Tenant: tenant}).Tenant, session.Query{}) {
		if err != nil {
			return nil, err
		}
		if sum.Updated.Before(since) && !sum.Open && !sum.Runnable() {
			list = append(list, sum)
		}
	}
	return list, nil
}

// PruneAll prunes sessions and gives the space back. Those that are not at rest
// any more, hold a worktree, or are gone already, are left out of what it returns.
func (a *App) PruneAll(ctx context.Context, list []session.Summary) (pruned []session.Key, err error) {
	for i := range list {
		err := a.Prune(ctx, list[i].Key)
		var busy *session.Busy
		var holds *HoldsWorktreeError
		switch {
		case err == nil:
			pruned = append(pruned, list[i].Key)
		case !errors.As(err, &busy) && !errors.As(err, &holds) && !errors.Is(err, session.ErrNoStream):
			return pruned, err
		}
	}
	if len(pruned) == 0 {
		return nil, nil
	}
	return pruned, a.backend.Reclaim(ctx)
}
