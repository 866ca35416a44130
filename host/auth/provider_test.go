package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// issuer is an OpenID provider: it has a discovery document and keys, which can be
// rotated, and can be down.
type issuer struct {
	t   testing.TB
	srv *httptest.Server

	down    atomic.Bool
	fetches atomic.Int64 // of its keys

	mu   sync.Mutex
	name string // that it says it has; empty: its URL
	kid  string
	key  crypto.Signer
	set  jose.JSONWebKeySet
}

func newIssuer(t testing.TB) *issuer {
	p := &issuer{t: t}
	p.rotate("k1", rsaKey(t))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		name := p.name
		if name == "" {
			name = p.srv.URL
		}
		p.answer(w, map[string]any{"issuer": name, "jwks_uri": p.srv.URL + "/keys", "authorization_endpoint": p.srv.URL, "token_endpoint": p.srv.URL})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answer(w, p.set)
	})
	p.srv = httptest.NewServer(mux)
	t.Cleanup(p.srv.Close)
	return p
}

func (p *issuer) answer(w http.ResponseWriter, v any) {
	if p.down.Load() {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// rotate has the provider sign with another key, and know no other.
func (p *issuer) rotate(kid string, key crypto.Signer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kid, p.key = kid, key
	p.set = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: kid, Use: "sig"}}}
}

var rsaKeys = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func rsaKey(t testing.TB) *rsa.PrivateKey {
	k, err := rsaKeys()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// claims are those of a token that is good.
func (p *issuer) claims(change func(jwt.MapClaims)) jwt.MapClaims {
	now := time.Now()
	c := jwt.MapClaims{
		"iss": p.srv.URL, "aud": "roster", "sub": "ann", "tenant": "acme", "roles": []string{"runner", "their-own"},
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	if change != nil {
		change(c)
	}
	return c
}

// token signs claims as the provider does.
func (p *issuer) token(change func(jwt.MapClaims)) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var method jwt.SigningMethod = jwt.SigningMethodRS256
	if _, ok := p.key.(*ecdsa.PrivateKey); ok {
		method = jwt.SigningMethodES256
	}
	return sign(p.t, method, p.kid, p.key, p.claims(change))
}

func sign(t testing.TB, method jwt.SigningMethod, kid string, key any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
