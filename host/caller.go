package host

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/identity"
)

// identify finds out who sends a request. Where nobody is asked, the parameter
// tenantId says whose profiles and sessions are meant.
func (h *Host) identify(r *http.Request) (identity.Caller, error) {
	c, err := identity.Local(), error(nil)
	if h.deps.Identify != nil {
		if c, err = h.deps.Identify(r); err != nil {
			return c, err
		}
	}
	if r.URL.RawQuery == "" {
		return c, nil
	}
	return named(c, r.URL.Query().Get("tenantId"), "")
}

// whileKnown ends a request, which may be a stream without an end, when the key that
// it came with is not taken any more. What it has begun goes on.
func (h *Host) whileKnown(c identity.Caller, r *http.Request) (ctx context.Context, done func()) {
	if c.Key == "" {
		return r.Context(), func() {}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	asks := r.WithContext(ctx)
	var timer atomic.Pointer[time.Timer]
	timer.Store(time.AfterFunc(h.deps.PingEvery, func() {
		var refused *Error
		if _, err := h.deps.Identify(asks); errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
			why := *refused
			why.Message += "; what has begun goes on"
			cancel(ended{&why})
		} else if t := timer.Load(); t != nil && ctx.Err() == nil {
			t.Reset(h.deps.PingEvery)
		}
	}))
	return ctx, func() { cancel(nil); timer.Load().Stop() }
}

// named is who is meant by a request that names a tenant and a user: whoever is
// asked who he is may name but himself.
func named(c identity.Caller, tenant, user string) (identity.Caller, error) {
	if tenant != "" && !identity.PlainName(tenant) {
		return c, invalid("tenantId", badName)
	}
	if user != "" && !identity.PlainName(user) {
		return c, invalid("userId", badName)
	}
	if c.Open {
		c.Tenant, c.User = cmp.Or(tenant, c.Tenant), cmp.Or(user, c.User)
		return c, nil
	}
	if tenant != "" && tenant != c.Tenant {
		return c, foreign("tenantId", tenant)
	}
	if user != "" && user != c.User {
		return c, foreign("userId", user)
	}
	return c, nil
}

func foreign(field, name string) *Error {
	return &Error{
		Status: http.StatusForbidden, Code: "ForeignIdentity", Field: field,
		Message: field + " is " + quote(name) + ", and your credentials are not: leave it out",
	}
}

// callerOf is who sends a request whose body names a tenant and a user. The context
// of the request says so from then on.
func callerOf(r *http.Request, tenant, user string) (identity.Caller, error) {
	from := identity.From(r.Context())
	c, err := named(from, tenant, user)
	if err == nil && c != from {
		*r = *r.WithContext(identity.With(r.Context(), c))
	}
	return c, err
}

// mayDo refuses a caller who has none of the roles that a route is for.
func mayDo(c identity.Caller, any identity.Role) error {
	if c.May(any) {
		return nil
	}
	has := "none"
	if c.Roles != 0 {
		has = c.Roles.String()
	}
	return &Error{
		Status: http.StatusForbidden, Code: "MissingRole",
		Message: "this takes the role " + any.String() + ", and you have " + has,
	}
}

// isAdmin says whether a request may send what executes.
func isAdmin(r *http.Request) bool { return identity.From(r.Context()).May(identity.Admin) }
