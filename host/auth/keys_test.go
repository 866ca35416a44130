package auth_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/rosterrun/roster/host/auth"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/store/memory"
)

func keyed(t *testing.T, store key.Store, err error) *auth.Authenticator {
	a, bad := auth.New(auth.Options{Keys: func(context.Context) (key.Store, error) { return store, err }})
	if bad != nil {
		t.Fatal(bad)
	}
	t.Cleanup(a.Close)
	return a
}

// TestKeys: a key is taken while it is alive, and one that is unknown, revoked or
// expired is refused with the same words.
func TestKeys(t *testing.T) {
	store := memory.New(memory.Options{})
	defer store.Close()
	a := keyed(t, store, nil)
	add := func(text string, change func(*key.Key)) string {
		hash, _ := key.Hash(text)
		k := key.Key{ID: text[3:19], Hash: hash, Name: "n", Tenant: "acme", User: "ann", Roles: identity.Runner, Created: time.Now()}
		change(&k)
		if err := store.AddKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		return text
	}
	good := add(key.Generate(), func(*key.Key) {})
	c, e := ask(a, "Bearer "+good)
	if want := (identity.Caller{Tenant: "acme", User: "ann", Key: good[3:19], Roles: identity.Runner}); e != nil || c != want {
		t.Fatalf("%+v, %+v", c, e)
	}
	a.Close() // what is noted is stored
	if all, err := store.Keys(t.Context(), "acme"); err != nil || all[0].Used.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	_, unknown := ask(a, "Bearer "+key.Generate())
	if unknown == nil || unknown.Status != http.StatusUnauthorized {
		t.Fatalf("%+v", unknown)
	}
	if _, err := store.RevokeKey(t.Context(), "acme", good[3:19], time.Now()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"revoked":            good,
		"expired":            add(key.Generate(), func(k *key.Key) { k.Expires = time.Now().Add(-time.Second) }),
		"a slip":             good[:len(good)-1] + "a",
		"another case":       "RK_" + good[3:],
		"not a key":          "rk_",
		"a token":            "a.b.c",
		"a key and more":     good + " x",
		"of all that may be": "rk_*",
	} {
		c, e := ask(a, "Bearer "+text)
		if e == nil || !reflect.DeepEqual(e, unknown) || c != (identity.Caller{}) {
			t.Errorf("%s: %+v, %+v, want %+v", name, c, e, unknown)
		}
	}
}

// TestKeysOfAStoreThatFails: nobody is let in, and it is not said that the key is bad.
func TestKeysOfAStoreThatFails(t *testing.T) {
	closed := memory.New(memory.Options{})
	closed.Close()
	for name, a := range map[string]*auth.Authenticator{"cannot be opened": keyed(t, nil, errors.New("open /srv/secret: denied")), "is closed": keyed(t, closed, nil)} {
		c, e := ask(a, "Bearer "+key.Generate())
		if e == nil || e.Status != http.StatusServiceUnavailable || e.Code != "AuthUnavailable" || c != (identity.Caller{}) ||
			e.Message != "nobody can be let in now: the API keys cannot be read" {
			t.Errorf("%s: %+v, %+v", name, c, e)
		}
	}
}

// TestNothingIsTaken: where neither keys nor tokens are, nobody is let in.
func TestNothingIsTaken(t *testing.T) {
	a, err := auth.New(auth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{key.Generate(), "a.b.c", "x"} {
		if c, e := ask(a, "Bearer "+text); e == nil || e.Status != http.StatusUnauthorized || c != (identity.Caller{}) {
			t.Errorf("%q: %+v, %+v", text, c, e)
		}
	}
}
