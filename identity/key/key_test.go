package key_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/store/memory"
)

func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		text := key.Generate()
		if _, ok := key.Hash(text); !ok || seen[text] || len(text) != 43 || !strings.HasPrefix(text, "rk_") {
			t.Fatalf("%q", text)
		}
		seen[text] = true
	}
}

// A slip of one letter is found without the store.
func TestHashFindsSlips(t *testing.T) {
	text := key.Generate()
	for i := range len(text) {
		for _, c := range []byte("a2z_A") {
			wrong := text[:i] + string(c) + text[i+1:]
			if _, ok := key.Hash(wrong); ok && wrong != text {
				t.Errorf("%q is taken, %q is right", wrong, text)
			}
		}
	}
	for _, bad := range []string{"", "rk_", text[1:], text + "a", strings.ToUpper(text), strings.Repeat("a", 1<<20), "rk_" + strings.Repeat("\x00", 40)} {
		if _, ok := key.Hash(bad); ok {
			t.Errorf("%.50q is taken", bad)
		}
	}
}

func FuzzHash(f *testing.F) {
	f.Add("rk_")
	f.Add(key.Generate())
	f.Add("rk_dujivsgxfntgf\n\n\n\n\nnomf6gl\n\n\n\nnomf6glch4a")
	f.Fuzz(func(t *testing.T, text string) {
		one, ok := key.Hash(text)
		if ok && (len(text) != 43 || text != strings.ToLower(text)) {
			t.Errorf("%q is taken", text)
		}
		if two, _ := key.Hash(text); one != two {
			t.Errorf("%q has two hashes", text)
		}
	})
}

func TestAlive(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name             string
		expires, revoked time.Duration // from now; 0: none
		want             bool
	}{
		{"plain", 0, 0, true},
		{"expires later", time.Second, 0, true},
		{"expired", -time.Second, 0, false},
		{"revoked", 0, -time.Second, false},
		{"revoked from later on", time.Hour, time.Second, true},
		{"both", -time.Second, -time.Second, false},
	} {
		k := key.Key{}
		if c.expires != 0 {
			k.Expires = now.Add(c.expires)
		}
		if c.revoked != 0 {
			k.Revoked = now.Add(c.revoked)
		}
		if got := k.Alive(now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if (&key.Key{Expires: now}).Alive(now) || (&key.Key{Revoked: now}).Alive(now) {
		t.Error("it is taken at the moment at which it ends")
	}
}

func TestIssue(t *testing.T) {
	good := key.Request{Name: "ci", Tenant: "acme", Roles: identity.Runner, By: "cli"}
	for _, c := range []struct {
		name, field string
		change      func(*key.Request)
	}{
		{"good", "", func(*key.Request) {}},
		{"no name", "name", func(r *key.Request) { r.Name = "" }},
		{"long name", "name", func(r *key.Request) { r.Name = strings.Repeat("x", 65) }},
		{"two lines", "name", func(r *key.Request) { r.Name = "a\nb" }},
		{"not UTF-8", "name", func(r *key.Request) { r.Name, r.User = "a\xff", "u" }},
		{"any tenant", "tenant", func(r *key.Request) { r.Tenant = key.AllTenants }},
		{"no tenant", "tenant", func(r *key.Request) { r.Tenant = "" }},
		{"no user", "user", func(r *key.Request) { r.Name = "the CI of acme" }},
		{"path as user", "user", func(r *key.Request) { r.User = "../x" }},
		{"no role", "roles", func(r *key.Request) { r.Roles = 0 }},
		{"expired", "expires", func(r *key.Request) { r.Expires = time.Now().Add(-time.Second) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := memory.New(memory.Options{}), good
			c.change(&r)
			text, k, err := key.Issue(t.Context(), s, r)
			var invalid *key.InvalidError
			if c.field != "" {
				if !errors.As(err, &invalid) || invalid.Field != c.field || text != "" {
					t.Fatalf("%q, %v", text, err)
				}
				return
			}
			hash, _ := key.Hash(text)
			found, ferr := s.FindKey(t.Context(), hash)
			if err != nil || ferr != nil || found != k || !key.IsID(k.ID) || k.User != "ci" {
				t.Fatalf("%+v, %+v, %v, %v", k, found, err, ferr)
			}
		})
	}
}

func TestRotate(t *testing.T) {
	s := memory.New(memory.Options{})
	old, k, err := key.Issue(t.Context(), s, key.Request{Name: "ci", Tenant: "acme", Roles: identity.Runner})
	if err != nil {
		t.Fatal(err)
	}
	text, k2, err := key.Rotate(t.Context(), s, k, time.Hour, "ann")
	if err != nil || text == old || k2.ID == k.ID || k2.Roles != k.Roles || k2.CreatedBy != "ann" {
		t.Fatalf("%+v, %v", k2, err)
	}
	k, err = key.Find(t.Context(), s, "acme", k.ID)
	if err != nil || !k.Alive(time.Now()) || k.Alive(time.Now().Add(time.Hour)) {
		t.Fatalf("the old one: %+v, %v", k, err)
	}
	if _, _, err := key.Rotate(t.Context(), s, k, 0, "ann"); err != nil {
		t.Fatal(err)
	}
	if k, err = key.Find(t.Context(), s, "acme", k.ID); err != nil || k.Alive(time.Now()) {
		t.Fatalf("the old one: %+v, %v", k, err)
	}
	if _, _, err := key.Rotate(t.Context(), s, k, 0, "ann"); !errors.As(err, new(*key.InvalidError)) {
		t.Errorf("a dead key was rotated: %v", err)
	}
	if _, err := key.Find(t.Context(), s, "other", k.ID); !errors.Is(err, key.ErrNone) {
		t.Errorf("another tenant found it: %v", err)
	}
}
