package config

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// Server says how the HTTP server listens, and whom it lets in.
type Server struct {
	Addr profile.Value[string]
	Auth Auth
	// Hosts are the names that clients may call the server by, besides those of
	// loopback; Origins the pages of other servers that may use it.
	Hosts, Origins []profile.Value[string]
	// TLSCert and TLSKey are files, absolute; both or none are set.
	TLSCert, TLSKey profile.Value[string]
	// InsecureHTTP lets other machines come without TLS, as a proxy does that has it.
	InsecureHTTP profile.Value[bool]
	Limits       ServerLimits
	// InertAuth and InertLimits say that the workspace's file has them, and that
	// nobody has trusted it; nil: it has none, or they hold.
	InertAuth, InertLimits *trust.Error
	// Tenants are those with folders of their own. If there are any, there are no
	// others; without any, all tenants share the workspace.
	Tenants []Tenant
}

// Auth says by what callers show who they are.
type Auth struct {
	Kind profile.Value[string] // none, keys, oidc or keys,oidc
	OIDC OIDC
}

// Keys says that API keys are taken.
func (a *Auth) Keys() bool { return strings.HasPrefix(a.Kind.V, "keys") }

// Tokens says that tokens of an OpenID provider are taken.
func (a *Auth) Tokens() bool { return strings.HasSuffix(a.Kind.V, "oidc") }

// Any says that callers have to show who they are.
func (a *Auth) Any() bool { return a.Keys() || a.Tokens() }

// OIDC names an OpenID provider and what of its tokens counts. A claim may lie in
// others: realm_access.roles.
type OIDC struct {
	Issuer, Audience profile.Value[string]
	// TenantClaim names the tenant, or Tenant says it of all tokens.
	TenantClaim, Tenant profile.Value[string]
	UserClaim           profile.Value[string] // default: sub
	// RolesClaim is a text or a list; what is no role's name counts nothing. Roles
	// are those of a token that has none, with commas between; empty: none.
	RolesClaim, Roles profile.Value[string] // default of the claim: roles
	Algorithms        []profile.Value[string]
}

// ServerLimits bound what callers use: all of a tenant together, and each key, or
// each user without one.
type ServerLimits struct{ Tenant, Key CallerLimits }

// CallerLimits bound what callers use; what is not set is not bounded. Days and
// months are those of UTC.
type CallerLimits struct {
	Requests profile.Value[int] // a minute
	Running  profile.Value[int] // prompts that run at the same time
	// Costs in US dollars, and tokens in and out, after which no new prompt is taken.
	CostDay, CostMonth     profile.Value[float64]
	TokensDay, TokensMonth profile.Value[int]
}

// Any says that something is bounded.
func (l *CallerLimits) Any() bool {
	return l.Requests.Set || l.Running.Set || l.CostDay.Set || l.CostMonth.Set || l.TokensDay.Set || l.TokensMonth.Set
}

// DefaultAuth asks nobody who they are.
const DefaultAuth = "none"

// Algorithms are those that tokens may be signed with. None of them is symmetric:
// a public key must not be taken for a secret.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

func serverKeys() []string {
	return []string{"addr", "auth", "hosts", "origins", "tls", "insecure-http", "limits", "tenants"}
}

func (s section) server(it item) {
	s.each(it, func(it item) {
		it.key = strings.ReplaceAll(it.key, "_", "-")
		switch it.key {
		case "addr":
			if v, ok := s.text(it); ok {
				s.set(trust.Listen, &s.cfg.Server.Addr, v, it)
			}
			return
		case "tenants":
			s.tenants(it)
			return
		}
		if !slices.Contains(serverKeys(), it.key) {
			s.unknown(it, serverKeys()...)
			return
		}
		inert := s.may(trust.Listen, it, it.node)
		switch {
		case inert == nil:
			s.serverKey(it)
		case it.key == "auth" && !asksNobody(it.node):
			s.cfg.Server.InertAuth = inert
		case it.key == "limits":
			s.cfg.Server.InertLimits = inert
		}
	})
}

// asksNobody says whether server.auth says that by itself.
func asksNobody(n *yaml.Node) bool {
	n = deref(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if deref(n.Content[i]).Value == "kind" {
			return deref(n.Content[i+1]).Value == DefaultAuth
		}
	}
	return isNull(n)
}

func (s section) serverKey(it item) {
	srv := &s.cfg.Server
	switch it.key {
	case "auth":
		s.each(it, s.auth)
	case "hosts":
		s.words(it, &srv.Hosts, isHost, "a host's name or address, without a port")
	case "origins":
		s.words(it, &srv.Origins, isOrigin, "an origin, such as https://app.example.com")
	case "tls":
		s.each(it, s.tls)
	case "insecure-http":
		if v, ok := s.oneOf(it, "true", "false"); ok {
			srv.InsecureHTTP = value(v == "true", it)
		}
	case "limits":
		s.each(it, func(it item) {
			switch it.key {
			case "tenant":
				s.each(it, func(it item) { s.callerLimit(it, &srv.Limits.Tenant) })
			case "key":
				s.each(it, func(it item) { s.callerLimit(it, &srv.Limits.Key) })
			default:
				s.unknown(it, "tenant", "key")
			}
		})
	}
}

func (s section) auth(it item) {
	a := &s.cfg.Server.Auth
	switch it.key {
	case "kind":
		if v, ok := s.oneOf(it, "none", "keys", "oidc", "keys,oidc"); ok {
			a.Kind = value(v, it)
		}
	case "oidc":
		s.each(it, s.oidc)
	default:
		s.unknown(it, "kind", "oidc")
	}
}

func (s section) oidc(it item) {
	o := &s.cfg.Server.Auth.OIDC
	texts := map[string]*profile.Value[string]{
		"issuer": &o.Issuer, "audience": &o.Audience, "tenant-claim": &o.TenantClaim, "tenant": &o.Tenant,
		"user-claim": &o.UserClaim, "roles-claim": &o.RolesClaim, "roles": &o.Roles,
	}
	key := strings.ReplaceAll(it.key, "_", "-")
	if key == "algorithms" {
		s.words(it, &o.Algorithms, func(v string) bool { return slices.Contains(Algorithms, v) }, "one of "+strings.Join(Algorithms, ", "))
		return
	}
	into := texts[key]
	if into == nil {
		s.unknown(it, "issuer", "audience", "tenant-claim", "tenant", "user-claim", "roles-claim", "roles", "algorithms")
		return
	}
	v, ok := s.text(it)
	switch {
	case !ok:
	case key == "issuer" && !isIssuer(v):
		s.notAllowed(it, "%s takes an https URL, or one of http on loopback, not %q", it.path, redactURL(v))
	case key == "tenant" && CheckTenant(v) != nil:
		s.notAllowed(it, "%s: %v", it.path, CheckTenant(v))
	case key == "roles" && !isRoles(v):
		s.notAllowed(it, "%s takes viewer, runner, approver, editor and admin, with commas between, not %q", it.path, v)
	default:
		*into = value(v, it)
	}
}

func (s section) tls(it item) {
	into := map[string]*profile.Value[string]{"cert": &s.cfg.Server.TLSCert, "key": &s.cfg.Server.TLSKey}[it.key]
	if into == nil {
		s.unknown(it, "cert", "key")
		return
	}
	v, ok := s.text(it)
	if !ok {
		return
	}
	if !filepath.IsAbs(v) {
		base := s.base()
		if it.node.Line == 0 { // of a flag or a variable: relative to where one is
			base, _ = filepath.Abs(".")
		}
		v = filepath.Join(base, v)
	}
	*into = value(v, it)
}

func (s section) callerLimit(it item, l *CallerLimits) {
	counts := map[string]*profile.Value[int]{
		"requests-per-minute": &l.Requests, "running": &l.Running, "tokens-per-day": &l.TokensDay, "tokens-per-month": &l.TokensMonth,
	}
	costs := map[string]*profile.Value[float64]{"cost-per-day": &l.CostDay, "cost-per-month": &l.CostMonth}
	key := strings.ReplaceAll(it.key, "_", "-")
	switch {
	case counts[key] != nil:
		if v, ok := s.count(it); ok && v > 0 {
			*counts[key] = value(v, it)
		} else if ok {
			s.notAllowed(it, "%s takes 1 or more; leave it out for no limit", it.path)
		}
	case costs[key] != nil:
		if v, ok := s.dollars(it); ok {
			*costs[key] = value(v, it)
		}
	default:
		s.unknown(it, "requests-per-minute", "running", "cost-per-day", "cost-per-month", "tokens-per-day", "tokens-per-month")
	}
}

// words reads a list of words, or a text with commas between them.
func (s section) words(it item, into *[]profile.Value[string], fits func(string) bool, what string) {
	*into = nil
	take := func(it item, v string) {
		if v = strings.TrimSpace(v); !fits(v) {
			s.notAllowed(it, "%s takes %s, not %q", it.path, what, v)
			return
		}
		*into = append(*into, value(v, it))
	}
	if n := deref(it.node); n.Kind == yaml.ScalarNode && !isNull(n) {
		for v := range strings.SplitSeq(n.Value, ",") {
			take(it, v)
		}
		return
	}
	for sub, v := range s.texts(it, "a list, or a text with commas") {
		take(sub, v)
	}
}

func isHost(v string) bool {
	if _, err := netip.ParseAddr(v); err == nil {
		return true
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return v != "" && len(v) <= 253 && strings.Trim(v, letters+".-_") == "" && strings.ContainsAny(v[:1], letters)
}

func isOrigin(v string) bool {
	u, err := url.Parse(v)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && v == u.Scheme+"://"+strings.ToLower(u.Host)
}

func isIssuer(v string) bool {
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}

func isRoles(v string) bool {
	for name := range strings.SplitSeq(v, ",") {
		if !slices.Contains([]string{"viewer", "runner", "approver", "editor", "admin"}, strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}
