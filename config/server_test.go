package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

const allOfServer = `
server:
  addr: 0.0.0.0:7788
  hosts: [roster.example.com, 192.0.2.1, "2001:db8::1"]
  origins: "https://app.example.com, http://localhost:3000"
  tls: {cert: certs/cert.pem, key: /etc/key.pem}
  insecure_http: true
  auth:
    kind: keys,oidc
    oidc:
      issuer: https://id.example.com/realm
      audience: roster
      tenant-claim: org.id
      user_claim: email
      roles-claim: realm_access.roles
      roles: viewer, runner
      algorithms: [RS256, EdDSA]
  limits:
    tenant: {requests-per-minute: 600, running: 20, cost-per-day: 5, cost-per-month: 99.5, tokens-per-day: 1_000_000, tokens-per-month: 9000000}
    key: {requests_per_minute: 60}
`

func trusted(string, string) trust.View { return trust.Everything() }

func TestServer(t *testing.T) {
	o := placed(t, allOfServer, "", nil)
	o.Trust = trusted
	cfg, ds, err := Load(o)
	if err != nil || len(ds) > 0 {
		t.Fatal(err, ds)
	}
	s := cfg.Server
	texts := func(list []profile.Value[string]) string {
		var all []string
		for _, v := range list {
			all = append(all, v.V)
		}
		return strings.Join(all, " ")
	}
	oidc, limits := s.Auth.OIDC, s.Limits.Tenant
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"addr", s.Addr.V, "0.0.0.0:7788"},
		{"hosts", texts(s.Hosts), "roster.example.com 192.0.2.1 2001:db8::1"},
		{"origins", texts(s.Origins), "https://app.example.com http://localhost:3000"},
		{"tls.cert", s.TLSCert.V, filepath.Join(cfg.Dir, "certs/cert.pem")},
		{"tls.key", s.TLSKey.V, "/etc/key.pem"},
		{"insecure-http", s.InsecureHTTP.V, true},
		{"keys and tokens", [2]bool{s.Auth.Keys(), s.Auth.Tokens()}, [2]bool{true, true}},
		{"issuer", oidc.Issuer.V, "https://id.example.com/realm"},
		{"audience", oidc.Audience.V, "roster"},
		{"tenant-claim", oidc.TenantClaim.V, "org.id"},
		{"user-claim", oidc.UserClaim.V, "email"},
		{"roles-claim", oidc.RolesClaim.V, "realm_access.roles"},
		{"roles", oidc.Roles.V, "viewer, runner"},
		{"algorithms", texts(oidc.Algorithms), "RS256 EdDSA"},
		{"requests", [2]int{limits.Requests.V, limits.Running.V}, [2]int{600, 20}},
		{"costs", [2]float64{limits.CostDay.V, limits.CostMonth.V}, [2]float64{5, 99.5}},
		{"tokens", [2]int{limits.TokensDay.V, limits.TokensMonth.V}, [2]int{1000000, 9000000}},
		{"of a key", s.Limits.Key.Requests.V, 60},
		{"in force", s.InertAuth == nil && s.InertLimits == nil, true},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestServerRefuses(t *testing.T) {
	for _, c := range []struct{ name, yaml, says string }{
		{"an unknown key", "{atuh: {kind: keys}}", `did you mean "auth"?`},
		{"auth as a text", "{auth: keys}", "server.auth takes a map"},
		{"another kind", "{auth: {kind: key}}", `did you mean "keys"?`},
		{"no kind", "{auth: {kind: }}", "takes text"},
		{"kinds in a list", "{auth: {kind: [keys, oidc]}}", "takes text"},
		{"an unknown key of auth", "{auth: {kinds: keys}}", `did you mean "kind"?`},
		{"an issuer over http", "{auth: {oidc: {issuer: \"http://id.example.com\"}}}", "takes an https URL"},
		{"an issuer with a password", "{auth: {oidc: {issuer: \"https://u:hunter2@id.example.com\"}}}", "takes an https URL"},
		{"a file as issuer", "{auth: {oidc: {issuer: \"file:///etc/passwd\"}}}", "takes an https URL"},
		{"a tenant that is no name", "{auth: {oidc: {tenant: ../x}}}", "server.auth.oidc.tenant"},
		{"every tenant", "{auth: {oidc: {tenant: \"*\"}}}", "server.auth.oidc.tenant"},
		{"an unknown role", "{auth: {oidc: {roles: root}}}", "takes viewer"},
		{"a symmetric algorithm", "{auth: {oidc: {algorithms: [HS256]}}}", "takes one of RS256"},
		{"no algorithm", "{auth: {oidc: {algorithms: [none]}}}", "takes one of RS256"},
		{"an unknown key of oidc", "{auth: {oidc: {audiense: x}}}", `did you mean "audience"?`},
		{"a host with a port", "{hosts: [\"a:80\"]}", "without a port"},
		{"any host", "{hosts: [\"*\"]}", "without a port"},
		{"hosts in a map", "{hosts: {a: b}}", "a list"},
		{"any origin", "{origins: [\"*\"]}", "takes an origin"},
		{"no origin", "{origins: [\"null\"]}", "takes an origin"},
		{"an origin with a path", "{origins: [\"https://a.example/x\"]}", "takes an origin"},
		{"another scheme", "{origins: [\"chrome-extension://x\"]}", "takes an origin"},
		{"an unknown key of tls", "{tls: {crt: x}}", `"cert"`},
		{"insecure by a word", "{insecure-http: yes please}", "takes true, false"},
		{"an unknown limit", "{limits: {all: {}}}", "known are tenant, key"},
		{"an unknown bound", "{limits: {key: {requests: 1}}}", "unknown key"},
		{"no requests", "{limits: {key: {requests-per-minute: 0}}}", "leave it out"},
		{"fewer than none", "{limits: {key: {running: -1}}}", "takes 0 or more"},
		{"half a request", "{limits: {key: {running: 0.5}}}", "a whole number"},
		{"free", "{limits: {key: {cost-per-day: 0}}}", "an amount"},
		{"not a number", "{limits: {key: {cost-per-day: .nan}}}", "an amount"},
		{"without end", "{limits: {tenant: {cost-per-month: .inf}}}", "an amount"},
		{"more than there is", "{limits: {tenant: {tokens-per-day: 99999999999999999999}}}", "a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := placed(t, "server: "+c.yaml+"\n", "", nil)
			o.Trust = trusted
			_, _, err := Load(o)
			if pe := (*profile.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want what says %q", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestServerOfAnUntrustedWorkspace: its file decides nothing, and what it would have
// asked for is known.
func TestServerOfAnUntrustedWorkspace(t *testing.T) {
	own := "server: {auth: {kind: keys}, hosts: [own.example], limits: {key: {running: 1}}}\n"
	hostile := "server: {addr: \"0.0.0.0:1\", auth: {kind: none}, hosts: [evil.example], origins: [\"https://evil.example\"], insecure-http: true, tls: {cert: a, key: b}, limits: {key: {running: 99}}}\n"
	cfg, _, err := Load(placed(t, hostile, own, nil))
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Server
	if !s.Auth.Keys() || len(s.Hosts) != 1 || s.Hosts[0].V != "own.example" || len(s.Origins) != 0 || s.InsecureHTTP.V || s.TLSCert.Set || s.Limits.Key.Running.V != 1 || s.Addr.V != DefaultAddr {
		t.Errorf("%+v", s)
	}
	if s.InertAuth != nil || s.InertLimits == nil {
		t.Errorf("inert: %v, %v", s.InertAuth, s.InertLimits)
	}
	cfg, _, err = Load(placed(t, "server: {auth: {kind: keys}}\n", "", nil))
	if err != nil || cfg.Server.InertAuth == nil || cfg.Server.Auth.Any() {
		t.Errorf("%v, %+v", err, cfg.Server)
	}
}
