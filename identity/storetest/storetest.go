// Package storetest is the conformance suite of what keeps keys and the audit
// log: each clause of the contracts in packages key and audit is one named test.
package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/key"
)

// Store is what Run tests.
type Store interface {
	key.Store
	audit.Store
}

// Run tests a store. Each call of open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Store)
	}{
		{"a key is found by its hash, as it was added", keyIsFound},
		{"a key that is not there is ErrNone", keyIsNotThere},
		{"an id and a hash are there once", keyIsThereOnce},
		{"keys are listed by tenant, the newest first", keysAreListed},
		{"a revoked key stays revoked from the earliest time", keyIsRevoked},
		{"a key is revoked by its own tenant alone", keyIsItsTenants},
		{"a later use is kept", keyIsUsed},
		{"entries are listed by tenant, the newest first", entriesAreListed},
		{"entries are found by each filter", entriesAreFound},
		{"entries are listed page by page", entriesHavePages},
		{"old entries are forgotten", entriesAreForgotten},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

var begin = time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)

func newKey(tenant string, n int) key.Key {
	return key.Key{
		ID: fmt.Sprintf("%016x", n), Hash: sha256.Sum256([]byte{byte(n)}), Name: fmt.Sprintf("key %d, Größe", n), Tenant: tenant, User: "ann",
		Roles: identity.Runner | identity.Approver, Created: begin.Add(time.Duration(n) * time.Second), CreatedBy: "cli",
	}
}

func add(t *testing.T, s Store, keys ...key.Key) {
	t.Helper()
	for _, k := range keys {
		if err := s.AddKey(t.Context(), k); err != nil {
			t.Fatalf("AddKey(%s): %v", k.ID, err)
		}
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func keyIsFound(t *testing.T, s Store) {
	want := newKey("acme", 1)
	want.Expires, want.Revoked, want.Used = begin.Add(time.Hour), begin.Add(2*time.Hour), begin.Add(3*time.Hour)
	bare := newKey("acme", 2)
	add(t, s, want, bare)
	for _, k := range []key.Key{want, bare} {
		got, err := s.FindKey(t.Context(), k.Hash)
		if err != nil {
			t.Fatal(err)
		}
		same(t, k.ID, got, k)
	}
}

func keyIsNotThere(t *testing.T, s Store) {
	add(t, s, newKey("acme", 1))
	if _, err := s.FindKey(t.Context(), sha256.Sum256([]byte("x"))); !errors.Is(err, key.ErrNone) {
		t.Errorf("FindKey: %v", err)
	}
	if _, err := s.RevokeKey(t.Context(), "acme", fmt.Sprintf("%016x", 2), begin); !errors.Is(err, key.ErrNone) {
		t.Errorf("RevokeKey: %v", err)
	}
}

func keyIsThereOnce(t *testing.T, s Store) {
	k := newKey("acme", 1)
	add(t, s, k)
	id, hash := k, k
	id.Hash, hash.ID = sha256.Sum256([]byte("x")), fmt.Sprintf("%016x", 2)
	for what, twice := range map[string]key.Key{"id": id, "hash": hash} {
		if err := s.AddKey(t.Context(), twice); err == nil {
			t.Errorf("a second key of the same %s was added", what)
		}
	}
}

func ids(t *testing.T, s Store, tenant string) (all []string) {
	t.Helper()
	list, err := s.Keys(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		all = append(all, k.ID[15:])
	}
	return all
}

func keysAreListed(t *testing.T, s Store) {
	add(t, s, newKey("acme", 1), newKey("other", 2), newKey("acme", 3))
	same(t, "acme", ids(t, s, "acme"), []string{"3", "1"})
	same(t, "other", ids(t, s, "other"), []string{"2"})
	same(t, "all", ids(t, s, key.AllTenants), []string{"3", "2", "1"})
	same(t, "none", len(ids(t, s, "")), 0)
}

func keyIsRevoked(t *testing.T, s Store) {
	k := newKey("acme", 1)
	add(t, s, k)
	for _, c := range []struct{ at, want int }{{5, 5}, {9, 5}, {2, 2}} {
		got, err := s.RevokeKey(t.Context(), "acme", k.ID, begin.Add(time.Duration(c.at)*time.Hour))
		if err != nil || !got.Revoked.Equal(begin.Add(time.Duration(c.want)*time.Hour)) {
			t.Errorf("revoked at %d h: %v, %v, want %d h", c.at, got.Revoked, err, c.want)
		}
		found, err := s.FindKey(t.Context(), k.Hash)
		if err != nil || !found.Revoked.Equal(got.Revoked) {
			t.Errorf("found %v, %v", found.Revoked, err)
		}
	}
}

func keyIsItsTenants(t *testing.T, s Store) {
	k := newKey("acme", 1)
	add(t, s, k)
	for _, tenant := range []string{"other", "", "ACME"} {
		if _, err := s.RevokeKey(t.Context(), tenant, k.ID, begin); !errors.Is(err, key.ErrNone) {
			t.Errorf("tenant %q: %v", tenant, err)
		}
	}
	if got, err := s.FindKey(t.Context(), k.Hash); err != nil || !got.Revoked.IsZero() {
		t.Errorf("it is revoked: %v, %v", got.Revoked, err)
	}
	if got, err := s.RevokeKey(t.Context(), key.AllTenants, k.ID, begin); err != nil || !got.Revoked.Equal(begin) {
		t.Errorf("of all tenants: %v, %v", got.Revoked, err)
	}
}

func keyIsUsed(t *testing.T, s Store) {
	k := newKey("acme", 1)
	add(t, s, k)
	for _, c := range []struct{ at, want int }{{2, 2}, {1, 2}, {3, 3}} {
		err := s.UseKeys(t.Context(), map[string]time.Time{k.ID: begin.Add(time.Duration(c.at) * time.Minute), "nobody": begin})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.FindKey(t.Context(), k.Hash)
		if err != nil || !got.Used.Equal(begin.Add(time.Duration(c.want)*time.Minute)) {
			t.Errorf("used at %d min: %v, %v", c.at, got.Used, err)
		}
	}
}

func entry(tenant string, n int) audit.Entry {
	return audit.Entry{
		Time: begin.Add(time.Duration(n) * time.Minute), Tenant: tenant, User: "ann", Key: "k1", Action: "chat", Target: "/chat", Status: 200,
		Address: "192.0.2.1", Request: fmt.Sprint("r", n), Chain: "c", Times: 1,
	}
}

func record(t *testing.T, s Store, entries ...audit.Entry) {
	t.Helper()
	if err := s.Record(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

func recorded(t *testing.T, s Store, tenant string, q audit.Query) (list []audit.Entry, requests string) {
	t.Helper()
	list, err := s.Recorded(t.Context(), tenant, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		requests += e.Request + " "
	}
	return list, requests
}

func entriesAreListed(t *testing.T, s Store) {
	want := entry("acme", 1)
	want.Status, want.Code, want.Times = 403, "MissingRole", 7
	record(t, s, want, entry("other", 2))
	record(t, s, entry("acme", 3), entry("", 4))
	list, got := recorded(t, s, "acme", audit.Query{})
	same(t, "acme", got, "r3 r1 ")
	if len(list) == 2 {
		want.ID = list[1].ID
		same(t, "entry", list[1], want)
	}
	_, got = recorded(t, s, audit.AllTenants, audit.Query{})
	same(t, "all", got, "r4 r3 r2 r1 ")
}

func entriesAreFound(t *testing.T, s Store) {
	bob, other, chat, refused := entry("acme", 1), entry("acme", 2), entry("acme", 3), entry("acme", 4)
	bob.User, other.Key, chat.Action, refused.Status = "bob", "k2", "createKey", 429
	record(t, s, bob, other, chat, refused)
	for _, c := range []struct {
		q    audit.Query
		want string
	}{
		{audit.Query{}, "r4 r3 r2 r1 "},
		{audit.Query{User: "bob"}, "r1 "},
		{audit.Query{Key: "k2"}, "r2 "},
		{audit.Query{Action: "createKey"}, "r3 "},
		{audit.Query{Refused: true}, "r4 "},
		{audit.Query{Since: begin.Add(3 * time.Minute)}, "r4 r3 "},
		{audit.Query{User: "ann", Key: "k1", Limit: 1}, "r4 "},
		{audit.Query{User: "' OR 1=1 --"}, ""},
	} {
		_, got := recorded(t, s, "acme", c.q)
		same(t, fmt.Sprintf("%+v", c.q), got, c.want)
	}
}

func entriesHavePages(t *testing.T, s Store) {
	const all = 250
	var batch []audit.Entry
	for n := range all {
		batch = append(batch, entry("acme", n))
	}
	record(t, s, batch...)
	seen, q := 0, audit.Query{}
	for {
		list, _ := recorded(t, s, "acme", q)
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if want := fmt.Sprint("r", all-1-seen); e.Request != want {
				t.Fatalf("entry %d is %s, want %s", seen, e.Request, want)
			}
			seen++
		}
		q.Before = list[len(list)-1].ID
	}
	if list, _ := recorded(t, s, "acme", audit.Query{Limit: 1 << 30}); seen != all || len(list) != all {
		t.Errorf("%d entries by pages, %d at once, want %d", seen, len(list), all)
	}
}

func entriesAreForgotten(t *testing.T, s Store) {
	record(t, s, entry("acme", 1), entry("other", 2), entry("acme", 3))
	if err := s.ForgetRecorded(t.Context(), begin.Add(3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, got := recorded(t, s, audit.AllTenants, audit.Query{})
	same(t, "what is left", got, "r3 ")
	record(t, s, entry("acme", 4))
	list, _ := recorded(t, s, "acme", audit.Query{})
	if len(list) != 2 || list[0].ID <= list[1].ID {
		t.Errorf("%+v", list)
	}
}
