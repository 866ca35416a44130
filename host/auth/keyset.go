package auth

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// keySet holds the public keys of a provider. They are fetched when the first
// token comes, when they are old, and when a token names a key that is not among
// them, but never more often than once in retryTime: nobody can have the server
// ask without end.
type keySet struct {
	issuer string
	client *http.Client
	now    func() time.Time

	busy chan struct{} // holds one while somebody fetches

	mu      sync.Mutex
	at      string // where the keys are; empty: nobody asked yet
	keys    jose.JSONWebKeySet
	fetched time.Time
	tried   time.Time
	err     error // of the last attempt
}

func newKeySet(issuer string, client *http.Client, now func() time.Time) *keySet {
	return &keySet{issuer: issuer, client: client, now: now, busy: make(chan struct{}, 1)}
}

// want has the keys there by which a token that names kid can be judged. Its error
// says that they are not to be had now, and nothing about the token.
func (s *keySet) want(ctx context.Context, kid string) error {
	if done, err := s.have(kid); done {
		return err
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if done, err := s.have(kid); done { // somebody else has fetched them
		return err
	}
	s.refresh(context.WithoutCancel(ctx))
	_, err := s.have(kid)
	return err
}

// have says whether there is nothing to fetch, or nothing to be had.
func (s *keySet) have(kid string) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	age := now.Sub(s.fetched)
	known := len(s.keys.Keys) > 0 && (kid == "" || len(s.keys.Key(kid)) > 0)
	if known && age < maxAge {
		return true, nil
	}
	if now.Sub(s.tried) >= retryTime {
		return false, nil
	}
	if s.err != nil && (!known || age >= maxStale) {
		return true, unavailable("the OpenID provider does not answer")
	}
	return true, nil
}

// refresh fetches the keys. s.busy is held.
func (s *keySet) refresh(ctx context.Context) {
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	at, keys, err := s.fetch(ctx, at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.tried, s.err = at, s.now(), err
	if err == nil {
		s.keys, s.fetched = keys, s.tried
	}
}

func (s *keySet) fetch(ctx context.Context, at string) (_ string, keys jose.JSONWebKeySet, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*fetchTime)
	defer cancel()
	if at == "" {
		p, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
		if err != nil {
			return "", keys, err
		}
		var found struct {
			URL string `json:"jwks_uri"`
		}
		if err := p.Claims(&found); err != nil {
			return "", keys, err
		}
		at = found.URL
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", keys, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return at, keys, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", keys, fmt.Errorf("%s: %s", at, resp.Status)
	}
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	return at, public(keys), err
}

// public leaves out what is no public key, such as a secret.
func public(all jose.JSONWebKeySet) (out jose.JSONWebKeySet) {
	for _, k := range all.Keys {
		if k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") {
			out.Keys = append(out.Keys, k)
		}
	}
	return out
}

// VerifySignature implements oidc.KeySet.
func (s *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	s.mu.Lock()
	keys := make([]crypto.PublicKey, len(s.keys.Keys))
	for i := range s.keys.Keys {
		keys[i] = s.keys.Keys[i].Key
	}
	s.mu.Unlock()
	return (&oidc.StaticKeySet{PublicKeys: keys}).VerifySignature(ctx, jwt)
}

// newClient returns a client that asks a provider: over https, or on loopback,
// and what it is sent is bounded.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Timeout: fetchTime, Transport: bounded{t},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			const most = 3
			if len(via) > most {
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
}

type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !safe(r.URL) {
		return nil, fmt.Errorf("%s is neither https nor on loopback", r.URL.Redacted())
	}
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxFetch), resp.Body}
	}
	return resp, err
}

func safe(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}

func decodeSegment(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}
