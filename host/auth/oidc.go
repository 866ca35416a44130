package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/rosterrun/roster/identity"
)

// OIDC names an OpenID provider, and what of its tokens counts. A claim may lie in
// others: realm_access.roles.
type OIDC struct {
	Issuer   string // an https URL, or one of http on loopback
	Audience string // that a token must be for
	// TenantClaim names the tenant; empty: all tokens are of Tenant.
	TenantClaim, Tenant string
	UserClaim           string // empty: sub
	// RolesClaim is a text or a list of names; what is no role's name counts
	// nothing. A token that has none has Roles. Empty: roles.
	RolesClaim string
	Roles      identity.Role
	// Algorithms are those that tokens may be signed with; none: RS256, PS256,
	// ES256 and EdDSA. Symmetric ones are refused.
	Algorithms []string
	// Client fetches the provider's keys; nil: one with bounds.
	Client *http.Client
}

// Bounds of what is asked of a provider, and of a token.
const (
	fetchTime = 5 * time.Second  // for each of its documents
	maxAge    = time.Hour        // of its keys, after which they are fetched again
	maxStale  = 24 * time.Hour   // for which they are used while it does not answer
	retryTime = 10 * time.Second // between two attempts
	maxFetch  = 1 << 20          // bytes of a document
	skew      = 30 * time.Second // by which clocks may differ
	maxRoles  = 1000             // of the entries of a token's claim that are looked at
)

type tokens struct {
	o        OIDC
	keys     *keySet
	verifier *oidc.IDTokenVerifier
	now      func() time.Time
}

func newTokens(o OIDC) (*tokens, error) {
	switch {
	case o.Issuer == "":
		return nil, errors.New("server.auth.oidc.issuer is missing: write the URL of the OpenID provider")
	case o.Audience == "":
		return nil, errors.New("server.auth.oidc.audience is missing: write the name that this server has with the provider, or tokens for others would be taken")
	case (o.TenantClaim == "") == (o.Tenant == ""):
		return nil, errors.New("server.auth.oidc takes one of tenant-claim, the claim that names a token's tenant, and tenant, which all are of")
	}
	if len(o.Algorithms) == 0 {
		o.Algorithms = []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.EdDSA}
	}
	for _, a := range o.Algorithms {
		if strings.HasPrefix(a, "HS") || strings.EqualFold(a, "none") {
			return nil, fmt.Errorf("server.auth.oidc.algorithms names %s, with which whoever knows the public key could sign", a)
		}
	}
	if o.UserClaim == "" {
		o.UserClaim = "sub"
	}
	if o.RolesClaim == "" {
		o.RolesClaim = "roles"
	}
	if o.Client == nil {
		o.Client = newClient()
	}
	t := &tokens{o: o, now: time.Now}
	t.keys = newKeySet(o.Issuer, o.Client, func() time.Time { return t.now() })
	t.verifier = oidc.NewVerifier(o.Issuer, t.keys, &oidc.Config{
		ClientID: o.Audience, SupportedSigningAlgs: o.Algorithms,
		Now: func() time.Time { return t.now().Add(-skew) },
	})
	return t, nil
}

// caller is who a token is of.
func (t *tokens) caller(ctx context.Context, raw string) (identity.Caller, error) {
	kid, err := t.keyID(raw)
	if err != nil {
		return identity.Caller{}, err
	}
	if err := t.keys.want(ctx, kid); err != nil {
		return identity.Caller{}, err
	}
	token, err := t.verifier.Verify(ctx, raw)
	if err != nil {
		return identity.Caller{}, err
	}
	if token.IssuedAt.After(t.now().Add(skew)) {
		return identity.Caller{}, errors.New("it is issued in the future")
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return identity.Caller{}, err
	}
	if nbf, ok := claims["nbf"].(float64); ok && time.Unix(int64(nbf), 0).After(t.now().Add(skew)) {
		return identity.Caller{}, errors.New("it is not valid yet")
	}
	return t.of(claims)
}

// keyID reads which key a token says that it is signed with. The algorithm is
// checked before any key is fetched for it.
func (t *tokens) keyID(raw string) (string, error) {
	head, _, _ := strings.Cut(raw, ".")
	data, err := decodeSegment(head)
	var h struct{ Alg, Kid string }
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		return "", fmt.Errorf("its header cannot be read: %w", err)
	}
	if !slices.Contains(t.o.Algorithms, h.Alg) {
		return "", fmt.Errorf("it is signed with %.20q, which is not taken", h.Alg)
	}
	return h.Kid, nil
}

// of makes the caller that verified claims name.
func (t *tokens) of(claims map[string]any) (identity.Caller, error) {
	c := identity.Caller{Tenant: t.o.Tenant}
	var err error
	if t.o.TenantClaim != "" {
		if c.Tenant, err = name(claims, t.o.TenantClaim); err != nil {
			return identity.Caller{}, err
		}
	}
	if c.User, err = name(claims, t.o.UserClaim); err != nil {
		return identity.Caller{}, err
	}
	for _, role := range texts(claim(claims, t.o.RolesClaim)) {
		if r, err := identity.ParseRoles(role); err == nil {
			c.Roles |= r
		}
	}
	if c.Roles == 0 {
		c.Roles = t.o.Roles
	}
	return c, nil
}

// name is a claim that names a tenant or a user. The token is the provider's, so
// whoever sent it may know what is wrong with it.
func name(claims map[string]any, path string) (string, error) {
	v, _ := claim(claims, path).(string)
	if identity.PlainName(v) {
		return v, nil
	}
	e := refused()
	e.Message = fmt.Sprintf("the token is not taken: its claim %s is missing, or no name of letters, digits and . _ - @ + :; another claim can be named in server.auth.oidc", path)
	return "", e
}

// claim finds a claim by its name, or by those of the claims that it lies in, with
// dots between.
func claim(claims map[string]any, path string) any {
	if v, ok := claims[path]; ok {
		return v
	}
	first, rest, ok := strings.Cut(path, ".")
	if !ok {
		return nil
	}
	inner, _ := claims[first].(map[string]any)
	return claim(inner, rest)
}

// texts are the words of a text, or the texts of a list.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return strings.FieldsFunc(v[:min(len(v), maxToken)], func(r rune) bool { return r == ' ' || r == ',' })
	case []any:
		for _, one := range v[:min(len(v), maxRoles)] {
			if s, ok := one.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
