package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/identity/key"
)

var _ key.Store = (*Store)(nil)

// keys are in the order in which they were made.
type keys struct {
	mu   sync.RWMutex
	kept []key.Key
}

func (k *keys) index(is func(*key.Key) bool) int {
	return slices.IndexFunc(k.kept, func(one key.Key) bool { return is(&one) })
}

// AddKey implements key.Store.
func (s *Store) AddKey(ctx context.Context, k key.Key) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	if s.keys.index(func(one *key.Key) bool { return one.ID == k.ID || one.Hash == k.Hash }) >= 0 {
		return errors.New("there is a key with this id or hash")
	}
	s.keys.kept = append(s.keys.kept, k)
	return nil
}

// FindKey implements key.Store.
func (s *Store) FindKey(ctx context.Context, hash [sha256.Size]byte) (key.Key, error) {
	if err := s.check(ctx); err != nil {
		return key.Key{}, err
	}
	s.keys.mu.RLock()
	defer s.keys.mu.RUnlock()
	i := s.keys.index(func(one *key.Key) bool { return one.Hash == hash })
	if i < 0 {
		return key.Key{}, key.ErrNone
	}
	return s.keys.kept[i], nil
}

func of(k *key.Key, tenant string) bool { return tenant == key.AllTenants || k.Tenant == tenant }

// Keys implements key.Store.
func (s *Store) Keys(ctx context.Context, tenant string) ([]key.Key, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.keys.mu.RLock()
	defer s.keys.mu.RUnlock()
	var list []key.Key
	for i := range s.keys.kept {
		if of(&s.keys.kept[i], tenant) {
			list = append(list, s.keys.kept[i])
		}
	}
	slices.SortStableFunc(list, func(a, b key.Key) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// RevokeKey implements key.Store.
func (s *Store) RevokeKey(ctx context.Context, tenant, id string, at time.Time) (key.Key, error) {
	if err := s.check(ctx); err != nil {
		return key.Key{}, err
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	i := s.keys.index(func(one *key.Key) bool { return one.ID == id && of(one, tenant) })
	if i < 0 {
		return key.Key{}, key.ErrNone
	}
	if k := &s.keys.kept[i]; k.Revoked.IsZero() || at.Before(k.Revoked) {
		k.Revoked = at
	}
	return s.keys.kept[i], nil
}

// UseKeys implements key.Store.
func (s *Store) UseKeys(ctx context.Context, used map[string]time.Time) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	for i := range s.keys.kept {
		k := &s.keys.kept[i]
		if at, ok := used[k.ID]; ok && at.After(k.Used) {
			k.Used = at
		}
	}
	return nil
}
