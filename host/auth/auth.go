// Package auth finds out who sends a request: by an API key, or by a token of an
// OpenID provider. What it cannot tell for sure it refuses.
package auth

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
)

// Options of an Authenticator.
type Options struct {
	// Keys opens the store of the API keys; nil: none is taken.
	Keys func(context.Context) (key.Store, error)
	// OIDC names the provider whose tokens are taken; nil: none is.
	OIDC *OIDC
	Log  *slog.Logger // nil: discarded
}

// Authenticator is safe for concurrent use. It starts nothing, and reaches
// nothing, before the first request.
type Authenticator struct {
	opts   Options
	tokens *tokens

	mu     sync.Mutex
	noted  map[string]time.Time // when a key's use was noted last
	unsaid map[string]time.Time // uses that are not stored yet
	saving bool
	work   sync.WaitGroup
}

// New checks the options. An Authenticator with none of them lets nobody in.
func New(o Options) (*Authenticator, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &Authenticator{opts: o, noted: map[string]time.Time{}, unsaid: map[string]time.Time{}}
	if o.OIDC != nil {
		t, err := newTokens(*o.OIDC)
		if err != nil {
			return nil, err
		}
		a.tokens = t
	}
	return a, nil
}

// Close waits until what is to be stored is.
func (a *Authenticator) Close() { a.work.Wait() }

// maxToken bounds a credential, in bytes.
const maxToken = 16 << 10

// Identify says who sends a request, for host.Deps.Identify. Its errors are
// *host.Error: a key that is unknown, expired or revoked gives one and the same.
func (a *Authenticator) Identify(r *http.Request) (identity.Caller, error) {
	text, err := bearer(r)
	if err != nil {
		return identity.Caller{}, err
	}
	switch {
	case strings.HasPrefix(text, key.Prefix) && a.opts.Keys != nil:
		return a.byKey(r.Context(), text)
	case strings.Count(text, ".") == 2 && a.tokens != nil:
		c, err := a.tokens.caller(r.Context(), text)
		var known *host.Error
		if err != nil && !errors.As(err, &known) {
			a.opts.Log.Info("a token is refused", "issuer", a.opts.OIDC.Issuer, "error", err)
			err = refused()
		}
		return c, err
	}
	return identity.Caller{}, refused()
}

// bearer is the credential of a request.
func bearer(r *http.Request) (string, error) {
	all := r.Header.Values("Authorization")
	if len(all) == 0 {
		return "", &host.Error{
			Status: http.StatusUnauthorized, Code: "MissingCredentials", Challenge: challenge,
			Message: "say who you are: send the header Authorization: Bearer with an API key or token",
		}
	}
	scheme, text, _ := strings.Cut(all[0], " ")
	text = strings.TrimSpace(text)
	if len(all) > 1 || !strings.EqualFold(scheme, "Bearer") || text == "" || len(text) > maxToken {
		return "", refused()
	}
	return text, nil
}

// challenge is what WWW-Authenticate says.
const challenge = `Bearer realm="roster"`

func refused() *host.Error {
	return &host.Error{
		Status: http.StatusUnauthorized, Code: "InvalidCredentials", Challenge: challenge + `, error="invalid_token"`,
		Message: "the API key or token is not taken: it is unknown, expired or revoked",
	}
}

func unavailable(why string) *host.Error {
	return &host.Error{
		Status: http.StatusServiceUnavailable, Code: "AuthUnavailable", RetryAfter: retryTime,
		Message: "nobody can be let in now: " + why,
	}
}

// byKey asks the store each time, so that a key that is revoked is not taken any
// more at once, in every process.
func (a *Authenticator) byKey(ctx context.Context, text string) (identity.Caller, error) {
	hash, ok := key.Hash(text)
	if !ok {
		return identity.Caller{}, refused()
	}
	store, err := a.opts.Keys(ctx)
	if err != nil {
		return identity.Caller{}, a.failed(err)
	}
	k, err := store.FindKey(ctx, hash)
	now := time.Now()
	switch {
	case errors.Is(err, key.ErrNone) || err == nil && !k.Alive(now):
		return identity.Caller{}, refused()
	case err != nil:
		return identity.Caller{}, a.failed(err)
	}
	a.used(store, k.ID, now)
	return k.Caller(), nil
}

func (a *Authenticator) failed(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	a.opts.Log.Error("the API keys cannot be read", "error", err)
	return unavailable("the API keys cannot be read")
}

// Bounds of what is noted about the use of keys.
const (
	noteEvery = time.Minute
	maxNoted  = 10_000
	saveTime  = 10 * time.Second
)

// used notes the use of a key, once a minute, without the request waiting for it.
func (a *Authenticator) used(store key.Store, id string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.noted[id]) < noteEvery {
		return
	}
	if len(a.noted) >= maxNoted {
		clear(a.noted)
	}
	a.noted[id], a.unsaid[id] = now, now
	if !a.saving {
		a.saving = true
		a.work.Go(func() { a.save(store) })
	}
}

func (a *Authenticator) save(store key.Store) {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	for {
		a.mu.Lock()
		used := maps.Clone(a.unsaid)
		clear(a.unsaid)
		if len(used) == 0 {
			a.saving = false
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		if err := store.UseKeys(ctx, used); err != nil {
			a.opts.Log.Warn("when keys were used last is not stored", "keys", len(used), "error", err)
		}
	}
}
