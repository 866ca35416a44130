package roster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/host/auth"
	"github.com/rosterrun/roster/host/limit"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// guardian is what stands between callers and the workspace: made once, with the
// first handler, and ended by Close.
type guardian struct {
	once  sync.Once
	auth  *auth.Authenticator
	limit *limit.Limiter
	audit *audit.Log
	err   error
}

// APIKeys opens the store of the API keys, by which callers of a server show who they
// are (server.auth).
func (a *App) APIKeys(ctx context.Context) (key.Store, error) {
	return backed[key.Store](ctx, a, "API keys")
}

// Audit opens the log of who did what.
func (a *App) Audit(ctx context.Context) (audit.Store, error) {
	return backed[audit.Store](ctx, a, "an audit log")
}

// backed is the store as what also keeps something else.
func backed[T any](ctx context.Context, a *App, what string) (T, error) {
	var none T
	b, err := a.Backend(ctx)
	if err != nil {
		return none, err
	}
	s, ok := b.(T)
	if !ok {
		return none, fmt.Errorf("this store (%T) does not keep %s", b, what)
	}
	return s, nil
}

// CheckServer says what keeps the configuration under server from being served as it
// is meant. A handler of such a workspace lets nobody in.
func (a *App) CheckServer() error { return a.guarded().err }

// guarded makes what stands between callers and the workspace.
func (a *App) guarded() *guardian {
	if a.host != nil {
		return a.host.guarded()
	}
	g := &a.guardian
	g.once.Do(func() {
		srv := a.now().config.Server
		g.audit = audit.NewLog(a.Audit, a.opts.Log)
		g.limit = limit.New(limit.Options{Tenant: bounds(srv.Limits.Tenant), Key: bounds(srv.Limits.Key), Backend: a.Backend})
		own := a.opts.Identify != nil
		if g.err = whole(&srv, own); g.err != nil || own || !srv.Auth.Any() {
			return
		}
		o := auth.Options{Log: a.opts.Log}
		if srv.Auth.Keys() {
			o.Keys = a.APIKeys
		}
		if srv.Auth.Tokens() {
			o.OIDC, g.err = provider(&srv.Auth.OIDC)
		}
		if g.err == nil {
			g.auth, g.err = auth.New(o)
		}
	})
	return g
}

// whole says what is missing under server. What the workspace says of who comes in
// and what he may use has to hold before anybody is served, unless somebody else says
// it. Callers are asked who they are by own code, or as srv.Auth says.
func whole(srv *config.Server, own bool) error {
	asked := own || srv.Auth.Any()
	switch {
	case !own && srv.InertAuth != nil && srv.Auth.Kind.At.Layer == source.Builtin:
		return fmt.Errorf("nobody would be asked who they are: %w; --auth says it for one server", srv.InertAuth)
	case srv.InertLimits != nil && asked:
		return fmt.Errorf("callers would not be held to their limits: %w", srv.InertLimits)
	case srv.TLSCert.Set != srv.TLSKey.Set:
		return errors.New("server.tls takes both cert and key, or neither")
	case len(srv.Origins) > 0 && !asked:
		return errors.New("server.origins lets pages of other servers in, and with server.auth.kind none they could do everything: have callers show who they are, or take the origins out")
	}
	return nil
}

func provider(o *config.OIDC) (*auth.OIDC, error) {
	out := &auth.OIDC{
		Issuer: o.Issuer.V, Audience: o.Audience.V, TenantClaim: o.TenantClaim.V, Tenant: o.Tenant.V,
		UserClaim: o.UserClaim.V, RolesClaim: o.RolesClaim.V,
	}
	for _, v := range o.Algorithms {
		out.Algorithms = append(out.Algorithms, v.V)
	}
	if !o.Roles.Set {
		return out, nil
	}
	var err error
	out.Roles, err = identity.ParseRoles(o.Roles.V)
	return out, err
}

func bounds(l config.CallerLimits) limit.Bounds {
	return limit.Bounds{
		Requests: l.Requests.V, Running: l.Running.V, CostDay: l.CostDay.V, CostMonth: l.CostMonth.V,
		TokensDay: int64(l.TokensDay.V), TokensMonth: int64(l.TokensMonth.V),
	}
}

// guardDeps has callers asked who they are, where that is configured, and held to
// their limits.
func (a *App) guardDeps(d *host.Deps) {
	g, srv := a.guarded(), a.now().config.Server
	d.Admit = g.limit.Admit
	d.Hosts, d.Origins = plain(srv.Hosts), plain(srv.Origins)
	switch {
	case g.err != nil:
		d.Identify = func(*http.Request) (identity.Caller, error) {
			return identity.Caller{}, &host.Error{Status: http.StatusServiceUnavailable, Code: "AuthUnavailable", Message: "nobody can be let in: the server is not configured as it is meant"}
		}
	case a.opts.Identify != nil:
		d.Identify = a.identify
	case g.auth != nil:
		d.Identify = g.auth.Identify
	}
}

// identify asks the program that the App is part of who sends a request, and lets
// nobody in of whom it does not say enough.
func (a *App) identify(r *http.Request) (identity.Caller, error) {
	c, err := a.opts.Identify(r)
	var refused *host.Error
	switch {
	case errors.As(err, &refused):
		return identity.Caller{}, err
	case err != nil:
		a.opts.Log.WarnContext(r.Context(), "a caller was refused", "error", err)
		return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "InvalidCredentials", Message: "what you sent does not show who you are"}
	case !identity.PlainName(c.Tenant) || c.User != "" && !identity.PlainName(c.User):
		a.opts.Log.ErrorContext(r.Context(), "a caller was refused: Options.Identify has to name a tenant, and tenants and users have letters, digits and . _ - @ + :", "tenant", c.Tenant, "user", c.User)
		return identity.Caller{}, &host.Error{Status: http.StatusInternalServerError, Code: "AuthUnavailable", Message: "the server cannot say who you are"}
	}
	return c, nil
}

// limitDeps holds prompts to the limits of who sends them, whichever way they come,
// and opens the keys and the audit log.
func (a *App) limitDeps(d *host.Deps) {
	g := a.guarded()
	d.Submit, d.Rerun, d.Compare = g.limit.Submit(d.Submit), g.limit.Rerun(d.Rerun), g.limit.Compare(d.Compare)
	d.Steer, d.Followup = g.limit.Post(d.Steer), g.limit.Post(d.Followup)
	d.Keys, d.Audit, d.Budgets = a.APIKeys, g.audit, g.limit.Budgets
}

func plain(list []profile.Value[string]) (all []string) {
	for _, v := range list {
		all = append(all, v.V)
	}
	return all
}

func (g *guardian) close() {
	g.once.Do(func() {}) // waits for who makes it
	if g.auth != nil {
		g.auth.Close()
	}
	if g.audit != nil {
		g.audit.Close()
	}
}
