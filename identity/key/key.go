// Package key is about API keys: what they look like, what is kept of them, and
// who may come with one.
package key

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/identity"
)

// Key is what is kept of an API key. The key itself is shown once and is not
// kept: Hash is the SHA-256 of its text. A slow hash, as passwords need, would
// protect nothing here, for 160 random bits cannot be guessed, and each request
// would pay for it.
type Key struct {
	ID     string // 16 hex digits: by it the key is listed and revoked
	Hash   [sha256.Size]byte
	Name   string // what it is for, for people
	Tenant string
	User   string
	Roles  identity.Role

	Created   time.Time
	CreatedBy string    // a user, or "cli"
	Expires   time.Time // zero: never
	Revoked   time.Time // from when on it is not taken; it may be in the future; zero: it is not revoked
	Used      time.Time // last, to within a minute; zero: never
}

// Alive says whether the key is taken at a time.
func (k *Key) Alive(now time.Time) bool {
	return (k.Expires.IsZero() || now.Before(k.Expires)) && (k.Revoked.IsZero() || now.Before(k.Revoked))
}

// Caller is who comes with the key.
func (k *Key) Caller() identity.Caller {
	return identity.Caller{Tenant: k.Tenant, User: k.User, Key: k.ID, Roles: k.Roles}
}

// AllTenants stands for every tenant in a Store. It is no name of a tenant, and
// for the machine's own administration alone: nothing that comes over the network
// may ask for it.
const AllTenants = "*"

// ErrNone is returned for a key that is not there.
var ErrNone = errors.New("there is no such key")

// Store keeps keys. It stands beside session.Store in each backend, and is safe
// for concurrent use. What a call has stored is seen by the next call of any
// process.
type Store interface {
	// AddKey keeps a new key, durably.
	AddKey(ctx context.Context, k Key) error
	// FindKey returns the key with the hash, alive or not, or ErrNone.
	FindKey(ctx context.Context, hash [sha256.Size]byte) (Key, error)
	// Keys lists a tenant's keys, or those of AllTenants, the newest first.
	Keys(ctx context.Context, tenant string) ([]Key, error)
	// RevokeKey has a key of a tenant, or of AllTenants, not taken from a time on,
	// and returns it, or ErrNone. An earlier time that was set before stays.
	RevokeKey(ctx context.Context, tenant, id string, at time.Time) (Key, error)
	// UseKeys notes when keys, by their ids, were used last. Ids that are not there
	// and times before the one that is kept are left out.
	UseKeys(ctx context.Context, used map[string]time.Time) error
}

// Prefix is what the text of every key begins with, so that one that leaks into
// a repository or a log is recognised.
const Prefix = "rk_"

const (
	secretSize = 20 // random bytes
	checkSize  = 5  // bytes of a checksum behind them
	textSize   = len(Prefix) + (secretSize+checkSize)*8/5
)

// letters has neither upper case nor signs: a key is selected by a double click.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// Generate returns the text of a new key.
func Generate() string {
	var b [secretSize + checkSize]byte
	_, _ = rand.Read(b[:secretSize]) // never fails
	sum := sha256.Sum256(b[:secretSize])
	copy(b[secretSize:], sum[:checkSize])
	return Prefix + strings.ToLower(letters.EncodeToString(b[:]))
}

// Hash is that of the text of a key; ok says that it has the form and the
// checksum of one.
func Hash(text string) (hash [sha256.Size]byte, ok bool) {
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok || len(text) != textSize || rest != strings.ToLower(rest) {
		return hash, false
	}
	b, err := letters.DecodeString(strings.ToUpper(rest))
	if err != nil || len(b) != secretSize+checkSize { // it skips line ends
		return hash, false
	}
	sum := sha256.Sum256(b[:secretSize])
	if string(sum[:checkSize]) != string(b[secretSize:]) {
		return hash, false
	}
	return sha256.Sum256([]byte(text)), true
}

var idForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// IsID says whether s has the form of a Key's ID.
func IsID(s string) bool { return idForm.MatchString(s) }

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// InvalidError refuses a key that somebody wants to have made.
type InvalidError struct {
	Field string // of Request, in lower case
	Why   string
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Why }

// Request is what a new key is to be.
type Request struct {
	Name    string // 1 to 64 bytes, on one line
	Tenant  string
	User    string // empty: the Name, where that can be one
	Roles   identity.Role
	Expires time.Time // zero: never
	By      string    // who asks for it
}

// MaxKeys is how many keys that are alive a tenant may have.
const MaxKeys = 1000

const maxLabel = 64 // characters of a key's name

func (r *Request) check(now time.Time) error {
	if r.User == "" && identity.PlainName(r.Name) {
		r.User = r.Name
	}
	switch {
	case r.Name == "" || utf8.RuneCountInString(r.Name) > maxLabel || !utf8.ValidString(r.Name) ||
		strings.ContainsFunc(r.Name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return &InvalidError{"name", "says what the key is for, in 1 to 64 characters on one line"}
	case !identity.PlainName(r.Tenant):
		return &InvalidError{"tenant", "takes 1 to 128 letters, digits and . _ - @ + :"}
	case !identity.PlainName(r.User):
		return &InvalidError{"user", "takes 1 to 128 letters, digits and . _ - @ + :; without it the key's name is taken, which has to be so"}
	case r.Roles == 0:
		return &InvalidError{"roles", "names what the key may do: viewer, runner, approver, editor or admin"}
	case !r.Expires.IsZero() && !r.Expires.After(now):
		return &InvalidError{"expires", "is not in the future"}
	}
	return nil
}

// Issue makes a key and returns its text, which is not to be had again. Its
// errors are *InvalidError and those of the store.
func Issue(ctx context.Context, s Store, r Request) (text string, k Key, err error) {
	now := time.Now().UTC().Truncate(time.Microsecond) // as it is kept
	if err := r.check(now); err != nil {
		return "", k, err
	}
	if err := room(ctx, s, r.Tenant, now); err != nil {
		return "", k, err
	}
	text = Generate()
	hash, _ := Hash(text)
	k = Key{
		ID: newID(), Hash: hash, Name: r.Name, Tenant: r.Tenant, User: r.User, Roles: r.Roles,
		Created: now, CreatedBy: r.By, Expires: r.Expires,
	}
	return text, k, s.AddKey(ctx, k)
}

func room(ctx context.Context, s Store, tenant string, now time.Time) error {
	all, err := s.Keys(ctx, tenant)
	n := 0
	for i := range all {
		if all[i].Alive(now) {
			n++
		}
	}
	if err == nil && n >= MaxKeys {
		err = &InvalidError{"tenant", fmt.Sprintf("has %d keys, and no more can be made: revoke one", n)}
	}
	return err
}

// Find returns the key of a tenant, or of AllTenants, that has the id, or
// ErrNone.
func Find(ctx context.Context, s Store, tenant, id string) (Key, error) {
	all, err := s.Keys(ctx, tenant)
	for _, k := range all {
		if k.ID == id {
			return k, err
		}
	}
	if err == nil {
		err = ErrNone
	}
	return Key{}, err
}

// Rotate makes a key like another one, which is taken for grace longer, and then
// no more. If it fails half way both are there.
func Rotate(ctx context.Context, s Store, old Key, grace time.Duration, by string) (text string, k Key, err error) {
	now := time.Now().UTC()
	if !old.Alive(now) {
		return "", k, &InvalidError{"id", "is that of a key that is not taken any more: make a new one"}
	}
	text, k, err = Issue(ctx, s, Request{Name: old.Name, Tenant: old.Tenant, User: old.User, Roles: old.Roles, Expires: old.Expires, By: by})
	if err == nil {
		_, err = s.RevokeKey(ctx, old.Tenant, old.ID, now.Add(max(grace, 0)))
	}
	return text, k, err
}
