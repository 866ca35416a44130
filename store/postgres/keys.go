package postgres

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
)

var _ key.Store = (*Store)(nil)

const keyColumns = `id, hash, name, tenant, "user", roles, created, created_by, expires, revoked, used`

func scanKey(row pgx.CollectableRow) (k key.Key, err error) {
	var (
		hash                   []byte
		roles                  string
		expires, revoked, used *time.Time
	)
	err = row.Scan(&k.ID, &hash, &k.Name, &k.Tenant, &k.User, &roles, &k.Created, &k.CreatedBy, &expires, &revoked, &used)
	if err != nil {
		return k, err
	}
	copy(k.Hash[:], hash)
	k.Created, k.Expires, k.Revoked, k.Used = k.Created.UTC(), moment(expires), moment(revoked), moment(used)
	k.Roles, err = identity.ParseRoles(roles)
	return k, err
}

// moment is a time that may be none.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// AddKey implements key.Store.
func (s *Store) AddKey(ctx context.Context, k key.Key) error {
	return s.do(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO keys (`+keyColumns+`) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)`,
			k.ID, k.Hash[:], k.Name, k.Tenant, k.User, k.Roles.String(), k.Created, k.CreatedBy,
			orNull(k.Expires), orNull(k.Revoked), orNull(k.Used))
	})
}

// FindKey implements key.Store.
func (s *Store) FindKey(ctx context.Context, hash [sha256.Size]byte) (key.Key, error) {
	return oneKey(s.keys(ctx, `hash = $1`, hash[:]))
}

func oneKey(list []key.Key, err error) (key.Key, error) {
	if err == nil && len(list) == 0 {
		err = key.ErrNone
	}
	if err != nil {
		return key.Key{}, err
	}
	return list[0], nil
}

func (s *Store) keys(ctx context.Context, where string, args ...any) (list []key.Key, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, `SELECT `+keyColumns+` FROM keys WHERE `+where, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanKey)
		return err
	})
	return list, err
}

// Keys implements key.Store.
func (s *Store) Keys(ctx context.Context, tenant string) ([]key.Key, error) {
	return s.keys(ctx, `(tenant = $1 OR $1 = '*') ORDER BY created DESC, id`, tenant)
}

// RevokeKey implements key.Store.
func (s *Store) RevokeKey(ctx context.Context, tenant, id string, at time.Time) (key.Key, error) {
	err := s.do(ctx, func(t *tx) error {
		return t.exec(`UPDATE keys SET revoked = $3 WHERE id = $2 AND (tenant = $1 OR $1 = '*') AND (revoked IS NULL OR revoked > $3)`,
			tenant, id, at)
	})
	if err != nil {
		return key.Key{}, err
	}
	return oneKey(s.keys(ctx, `id = $2 AND (tenant = $1 OR $1 = '*')`, tenant, id))
}

// UseKeys implements key.Store.
func (s *Store) UseKeys(ctx context.Context, used map[string]time.Time) error {
	return s.do(ctx, func(t *tx) error {
		for _, id := range slices.Sorted(maps.Keys(used)) { // in one order, so that two processes do not wait for each other
			if err := t.exec(`UPDATE keys SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`, id, used[id]); err != nil {
				return err
			}
		}
		return nil
	})
}
