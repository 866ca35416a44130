package memory

import (
	"context"
	"sync"

	"github.com/rosterrun/roster/session"
)

// usage is what was used, by day and account.
type usage struct {
	mu   sync.Mutex
	kept map[account]*session.Used
}

// tallies are used again: each commit needs one for a moment.
var tallies = sync.Pool{New: func() any { return new(session.Tally) }}

type account struct {
	tenant string
	day    session.Day
	of     session.Account
}

func (u *usage) add(t session.Tally) {
	if len(t) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range t {
		key := account{t[i].Tenant, t[i].Day, t[i].Account}
		kept := u.kept[key]
		if kept == nil {
			kept = &session.Used{Tenant: key.tenant, Day: key.day, Account: key.of}
			u.kept[key] = kept
		}
		kept.Add(&t[i])
	}
}

// Usage implements session.Store.
func (s *Store) Usage(ctx context.Context, tenant string, q session.UsageQuery) ([]session.Used, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.usage.mu.Lock()
	rows := make(session.Tally, 0, len(s.usage.kept))
	for _, u := range s.usage.kept {
		rows = append(rows, *u)
	}
	s.usage.mu.Unlock()
	return rows.Sum(tenant, q)
}
