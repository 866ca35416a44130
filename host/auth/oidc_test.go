package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/host/auth"
	"github.com/rosterrun/roster/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tokens(t testing.TB, p *issuer, change func(*auth.OIDC)) *auth.Authenticator {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o := auth.OIDC{Issuer: p.srv.URL, Audience: "roster", TenantClaim: "tenant", Client: &http.Client{Transport: transport, Timeout: 5 * time.Second}}
	if change != nil {
		change(&o)
	}
	a, err := auth.New(auth.Options{OIDC: &o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// ask shows credentials; each is an Authorization header.
func ask(a *auth.Authenticator, headers ...string) (identity.Caller, *host.Error) {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	for _, h := range headers {
		r.Header.Add("Authorization", h)
	}
	c, err := a.Identify(r)
	var e *host.Error
	if err != nil && !errors.As(err, &e) {
		e = &host.Error{Status: -1, Message: err.Error()}
	}
	return c, e
}

func TestTokens(t *testing.T) {
	p := newIssuer(t)
	a := tokens(t, p, nil)
	public, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	with := func(claim string, v any) string { return p.token(func(c jwt.MapClaims) { c[claim] = v }) }
	without := func(claim string) string { return p.token(func(c jwt.MapClaims) { delete(c, claim) }) }
	good := p.token(nil)
	for _, c := range []struct {
		name, token string
		ok          bool
	}{
		{"good", good, true},
		{"several audiences", with("aud", []string{"x", "roster"}), true},
		{"expired within the skew", with("exp", now.Add(-10*time.Second).Unix()), true},
		{"another issuer", with("iss", "https://evil.example"), false},
		{"no issuer", without("iss"), false},
		{"another audience", with("aud", "other"), false},
		{"no audience", without("aud"), false},
		{"expired", with("exp", now.Add(-time.Minute).Unix()), false},
		{"never expires", without("exp"), false},
		{"not yet valid", with("nbf", now.Add(2*time.Minute).Unix()), false},
		{"issued in the future", with("iat", now.Add(2*time.Minute).Unix()), false},
		{"no tenant", without("tenant"), false},
		{"a tenant that is no name", with("tenant", "../x"), false},
		{"every tenant", with("tenant", "*"), false},
		{"a tenant that is a list", with("tenant", []string{"acme"}), false},
		{"no user", without("sub"), false},
		{"alg none", sign(t, jwt.SigningMethodNone, "k1", jwt.UnsafeAllowNoneSignatureType, p.claims(nil)), false},
		{"HS256 with the public key", sign(t, jwt.SigningMethodHS256, "k1", asPEM, p.claims(nil)), false},
		{"another key of the same id", sign(t, jwt.SigningMethodRS256, "k1", other, p.claims(nil)), false},
		{"an unknown key", sign(t, jwt.SigningMethodRS256, "k9", other, p.claims(nil)), false},
		{"an algorithm that is not taken", sign(t, jwt.SigningMethodRS512, "k1", p.key, p.claims(nil)), false},
		{"no signature", good[:strings.LastIndex(good, ".")+1], false},
		{"another payload", strings.Replace(good, ".", ".e30", 1), false},
		{"a huge token", with("x", strings.Repeat("y", 32<<10)), false},
		{"not a token", "a.b.c", false},
		{"binary", "\x00\xff.\x00.\x00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller, e := ask(a, "Bearer "+c.token)
			if !c.ok {
				if e == nil || e.Status != http.StatusUnauthorized || e.Code != "InvalidCredentials" || !strings.Contains(e.Challenge, "invalid_token") || caller.Roles != 0 {
					t.Errorf("%+v, %+v", caller, e)
				}
				return
			}
			if want := (identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Runner}); e != nil || caller != want {
				t.Errorf("%+v, %+v", caller, e)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	p := newIssuer(t)
	a := tokens(t, p, nil)
	good := p.token(nil)
	for _, c := range []struct {
		name    string
		headers []string
		code    string
	}{
		{"none", nil, "MissingCredentials"},
		{"lower case", []string{"bearer " + good}, ""},
		{"two", []string{"Bearer " + good, "Bearer " + good}, "InvalidCredentials"},
		{"empty", []string{""}, "InvalidCredentials"},
		{"no token", []string{"Bearer "}, "InvalidCredentials"},
		{"basic", []string{"Basic " + good}, "InvalidCredentials"},
		{"two tokens", []string{"Bearer " + good + ", Bearer " + good}, "InvalidCredentials"},
		{"a key where none is taken", []string{"Bearer rk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "InvalidCredentials"},
	} {
		_, e := ask(a, c.headers...)
		if (e == nil) != (c.code == "") || e != nil && (e.Code != c.code || !strings.HasPrefix(e.Challenge, "Bearer realm=")) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestClaims(t *testing.T) {
	p := newIssuer(t)
	for _, c := range []struct {
		name   string
		o      func(*auth.OIDC)
		claims func(jwt.MapClaims)
		want   identity.Caller
	}{
		{"one tenant for all", func(o *auth.OIDC) { o.TenantClaim, o.Tenant = "", "acme" }, func(c jwt.MapClaims) { c["tenant"] = "evil" },
			identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Runner}},
		{"claims in claims", func(o *auth.OIDC) { o.RolesClaim = "realm_access.roles" }, func(c jwt.MapClaims) {
			c["realm_access"] = map[string]any{"roles": []any{"editor", 7, "viewer"}}
		}, identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Editor | identity.Viewer}},
		{"a claim with dots", func(o *auth.OIDC) { o.TenantClaim, o.UserClaim = "https://x.example/tenant", "email" }, func(c jwt.MapClaims) {
			c["https://x.example/tenant"], c["email"] = "globex", "ann@x.example"
		}, identity.Caller{Tenant: "globex", User: "ann@x.example", Roles: identity.Runner}},
		{"roles as a text", nil, func(c jwt.MapClaims) { c["roles"] = "approver admin" }, identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Approver | identity.Admin}},
		{"no roles", nil, func(c jwt.MapClaims) { delete(c, "roles") }, identity.Caller{Tenant: "acme", User: "ann"}},
		{"roles for all", func(o *auth.OIDC) { o.Roles = identity.Viewer }, func(c jwt.MapClaims) { c["roles"] = []string{"Admin"} }, identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Viewer}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, e := ask(tokens(t, p, c.o), "Bearer "+p.token(c.claims))
			if e != nil || got != c.want {
				t.Errorf("%+v, %+v, want %+v", got, e, c.want)
			}
		})
	}
}

func TestRotatedKeysAreFetchedAndNotTooOften(t *testing.T) {
	p := newIssuer(t)
	a := tokens(t, p, nil)
	old := p.token(nil)
	if _, e := ask(a, "Bearer "+old); e != nil {
		t.Fatal(e)
	}
	clock := time.Now()
	auth.SetClock(a, func() time.Time { return clock })
	p.rotate("k2", ecKey(t))
	if _, e := ask(a, "Bearer "+p.token(nil)); e == nil || e.Status != http.StatusUnauthorized {
		t.Fatalf("within the pause: %+v", e)
	}
	clock = clock.Add(time.Minute)
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			if c, e := ask(a, "Bearer "+p.token(nil)); e != nil || c.User != "ann" {
				t.Errorf("the new key: %+v", e)
			}
		})
	}
	asking.Wait()
	if _, e := ask(a, "Bearer "+old); e == nil {
		t.Error("the old key is still taken")
	}
	for range 50 {
		if _, e := ask(a, "Bearer "+sign(t, jwt.SigningMethodES256, "k3", ecKey(t), p.claims(nil))); e == nil || e.Status != http.StatusUnauthorized {
			t.Fatalf("an unknown key: %+v", e)
		}
	}
	if n := p.fetches.Load(); n != 2 {
		t.Errorf("its keys were fetched %d times, want 2", n)
	}
}

func TestIssuerThatIsDown(t *testing.T) {
	p := newIssuer(t)
	p.down.Store(true)
	a := tokens(t, p, nil)
	clock := time.Now()
	auth.SetClock(a, func() time.Time { return clock })
	for range 3 {
		if c, e := ask(a, "Bearer "+p.token(nil)); e == nil || e.Status != http.StatusServiceUnavailable || e.Code != "AuthUnavailable" || e.RetryAfter == 0 || c.Roles != 0 {
			t.Fatalf("%+v, %+v", c, e)
		}
	}
	if _, e := ask(a, "Bearer "+sign(t, jwt.SigningMethodNone, "k1", jwt.UnsafeAllowNoneSignatureType, p.claims(nil))); e == nil || e.Status != http.StatusUnauthorized {
		t.Errorf("alg none: %+v", e)
	}
	p.down.Store(false)
	clock = clock.Add(time.Minute)
	if _, e := ask(a, "Bearer "+p.token(nil)); e != nil {
		t.Fatalf("it is up again: %+v", e)
	}
	p.down.Store(true)
	later := func(d time.Duration) string {
		clock = clock.Add(d)
		return p.token(func(c jwt.MapClaims) { c["exp"] = clock.Add(time.Hour).Unix() })
	}
	if _, e := ask(a, "Bearer "+later(2*time.Hour)); e != nil {
		t.Errorf("down for two hours, with keys that are known: %+v", e)
	}
	if _, e := ask(a, "Bearer "+later(24*time.Hour)); e == nil || e.Status != http.StatusServiceUnavailable {
		t.Errorf("down for a day: %+v", e)
	}
}

func TestIssuerThatIsAnother(t *testing.T) {
	p := newIssuer(t)
	p.name = "https://evil.example"
	if _, e := ask(tokens(t, p, nil), "Bearer "+p.token(nil)); e == nil || e.Status != http.StatusServiceUnavailable {
		t.Errorf("%+v", e)
	}
}

func TestNewRefuses(t *testing.T) {
	good := auth.OIDC{Issuer: "https://id.example", Audience: "roster", Tenant: "acme"}
	for _, c := range []struct {
		name, want string
		change     func(*auth.OIDC)
	}{
		{"no issuer", "issuer", func(o *auth.OIDC) { o.Issuer = "" }},
		{"no audience", "audience", func(o *auth.OIDC) { o.Audience = "" }},
		{"no tenant", "tenant-claim", func(o *auth.OIDC) { o.Tenant = "" }},
		{"two tenants", "tenant-claim", func(o *auth.OIDC) { o.TenantClaim = "t" }},
		{"a symmetric algorithm", "HS256", func(o *auth.OIDC) { o.Algorithms = []string{"RS256", "HS256"} }},
		{"none", "none", func(o *auth.OIDC) { o.Algorithms = []string{"none"} }},
	} {
		o := good
		c.change(&o)
		if _, err := auth.New(auth.Options{OIDC: &o}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzToken(f *testing.F) {
	p := newIssuer(f)
	a := tokens(f, p, nil)
	f.Add(p.token(nil) + "x")
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJSUzI1NiJ9..")
	f.Fuzz(func(t *testing.T, text string) {
		if c, e := ask(a, "Bearer "+text); e == nil || c.Roles != 0 {
			t.Errorf("%q is taken: %+v", text, c)
		}
	})
}
