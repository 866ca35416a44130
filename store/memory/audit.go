package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/identity/audit"
)

var _ audit.Store = (*Store)(nil)

// maxAudit is how many entries are kept, the newest.
const maxAudit = 100_000

type auditLog struct {
	mu   sync.RWMutex
	last int64
	kept []audit.Entry // the oldest first
}

// Record implements audit.Store.
func (s *Store) Record(ctx context.Context, entries []audit.Entry) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	l := &s.audit
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		l.last++
		e.ID = l.last
		l.kept = append(l.kept, e)
	}
	if over := len(l.kept) - maxAudit; over > 0 {
		l.kept = slices.Delete(l.kept, 0, over)
	}
	return nil
}

// Recorded implements audit.Store.
func (s *Store) Recorded(ctx context.Context, tenant string, q audit.Query) (list []audit.Entry, err error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	l := &s.audit
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, e := range slices.Backward(l.kept) {
		if len(list) == q.Page() {
			break
		}
		if (tenant == audit.AllTenants || e.Tenant == tenant) && q.Takes(&e) {
			list = append(list, e)
		}
	}
	return list, nil
}

// ForgetRecorded implements audit.Store.
func (s *Store) ForgetRecorded(ctx context.Context, before time.Time) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	l := &s.audit
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = slices.DeleteFunc(l.kept, func(e audit.Entry) bool { return e.Time.Before(before) })
	return nil
}
