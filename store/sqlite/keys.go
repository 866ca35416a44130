package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"time"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
)

var _ key.Store = (*Store)(nil)

const keyColumns = `id, hash, name, tenant, user, roles, created, created_by, expires, revoked, used`

func scanKey(row []driver.Value) (k key.Key, err error) {
	k = key.Key{
		ID: str(row[0]), Name: str(row[2]), Tenant: str(row[3]), User: str(row[4]),
		Created: instant(row[6]), CreatedBy: str(row[7]), Expires: moment(row[8]), Revoked: moment(row[9]), Used: moment(row[10]),
	}
	hash, _ := row[1].([]byte)
	copy(k.Hash[:], hash)
	k.Roles, err = identity.ParseRoles(str(row[5]))
	return k, err
}

// moment reads a time that may be none.
func moment(v driver.Value) time.Time {
	if integer(v) == 0 {
		return time.Time{}
	}
	return instant(v)
}

// AddKey implements key.Store.
func (s *Store) AddKey(ctx context.Context, k key.Key) error {
	return s.do(ctx, func(w *writer) error {
		return w.exec(`INSERT INTO keys (`+keyColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
			k.ID, k.Hash[:], k.Name, k.Tenant, k.User, k.Roles.String(), micros(k.Created), k.CreatedBy,
			micros(k.Expires), micros(k.Revoked), micros(k.Used))
	})
}

// FindKey implements key.Store.
func (s *Store) FindKey(ctx context.Context, hash [sha256.Size]byte) (key.Key, error) {
	return s.oneKey(ctx, `hash = ?`, hash[:])
}

func (s *Store) oneKey(ctx context.Context, where string, args ...any) (key.Key, error) {
	list, err := s.keys(ctx, where, args...)
	if err == nil && len(list) == 0 {
		err = key.ErrNone
	}
	if err != nil {
		return key.Key{}, err
	}
	return list[0], nil
}

func (s *Store) keys(ctx context.Context, where string, args ...any) (list []key.Key, err error) {
	var broken error
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT `+keyColumns+` FROM keys WHERE `+where, func(row []driver.Value) bool {
			var k key.Key
			k, broken = scanKey(row)
			list = append(list, k)
			return broken == nil
		}, args...)
	})
	if err == nil {
		err = broken
	}
	return list, err
}

// Keys implements key.Store.
func (s *Store) Keys(ctx context.Context, tenant string) ([]key.Key, error) {
	return s.keys(ctx, `(tenant = ? OR ? = '*') ORDER BY created DESC, id`, tenant, tenant)
}

// RevokeKey implements key.Store.
func (s *Store) RevokeKey(ctx context.Context, tenant, id string, at time.Time) (key.Key, error) {
	err := s.do(ctx, func(w *writer) error {
		return w.exec(`UPDATE keys SET revoked = ? WHERE id = ? AND (tenant = ? OR ? = '*') AND (revoked = 0 OR revoked > ?)`,
			micros(at), id, tenant, tenant, micros(at))
	})
	if err != nil {
		return key.Key{}, err
	}
	return s.oneKey(ctx, `id = ? AND (tenant = ? OR ? = '*')`, id, tenant, tenant)
}

// UseKeys implements key.Store.
func (s *Store) UseKeys(ctx context.Context, used map[string]time.Time) error {
	return s.do(ctx, func(w *writer) error {
		for id, at := range used {
			if err := w.exec(`UPDATE keys SET used = ? WHERE id = ? AND used < ?`, micros(at), id, micros(at)); err != nil {
				return err
			}
		}
		return nil
	})
}
