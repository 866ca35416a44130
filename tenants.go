package roster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// tenants are the opened workspaces of those that have folders of their own
// (server.tenants).
type tenants struct {
	mu     sync.Mutex
	opened map[string]*App
}

// UnknownTenantError says that nothing is served for a tenant.
type UnknownTenantError struct {
	Name string
	Why  error // nil: no such tenant is configured
}

func (e *UnknownTenantError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("the tenant %s is not served: %v", e.Name, e.Why)
	}
	return fmt.Sprintf("there is no tenant %s: server.tenants in %s names those that there are", e.Name, config.File)
}

func (e *UnknownTenantError) Unwrap() error { return e.Why }

// Tenant is the workspace of a tenant: with server.tenants that of his folder, and
// else a, which all share. It shares the store and the workers of a, obeys its
// policy, and is closed with it. What its tools do stays in the folder, and its
// commands run behind bubblewrap or in a container, whatever its profiles say.
//
// A tenant that is not configured, whose entry nobody has trusted or whose folder
// cannot be opened is an *UnknownTenantError.
func (a *App) Tenant(name string) (*App, error) {
	list := a.now().config.Server.Tenants
	if a.host != nil || len(list) == 0 && !a.apart {
		return a, nil
	}
	for _, t := range list {
		if t.Name == name {
			return a.openTenant(t)
		}
	}
	return nil, &UnknownTenantError{Name: name}
}

// asked is the workspace that a request is for. What is nobody's request, such as a
// look at the server's health, is for that of the host.
func (a *App) asked(ctx context.Context) (*App, error) {
	c, ok := identity.Known(ctx)
	if !ok {
		return a, nil
	}
	return a.tenantOf(c)
}

// tenantOf is Tenant for a request. Where callers are asked who they are, why one is
// not served stays in the log: it names folders.
func (a *App) tenantOf(c identity.Caller) (*App, error) {
	b, err := a.Tenant(c.Tenant)
	if none := (*UnknownTenantError)(nil); errors.As(err, &none) && none.Why != nil && !c.Open {
		a.opts.Log.Error("a tenant is not served", "tenant", c.Tenant, "error", none.Why)
		err = &host.Error{Status: http.StatusForbidden, Code: "UnknownTenant", Message: "the tenant " + c.Tenant + " is not served now; the log of the server says why"}
	}
	return b, err
}

func (a *App) openTenant(t config.Tenant) (*App, error) {
	if t.Inert != nil {
		return nil, &UnknownTenantError{t.Name, t.Inert}
	}
	a.tenants.mu.Lock()
	defer a.tenants.mu.Unlock()
	if b := a.tenants.opened[t.Name]; b != nil {
		return b, nil
	}
	o := a.opts
	o.State = filepath.Join(a.state, "tenants", t.Name)
	o.Dir, o.Exact, o.Catalog, o.Profiles, o.Flags, o.Log = "", true, nil, nil, nil, a.opts.Log.With("tenant", t.Name)
	b, ds, err := open(t.Root.V, o, a, t)
	if err != nil {
		return nil, &UnknownTenantError{t.Name, err}
	}
	for _, d := range ds {
		o.Log.Warn("the configuration of a tenant", "at", source.Origin{File: d.File, Line: d.Line, Column: d.Column}.String(), "code", d.Code, "message", d.Message)
	}
	if a.tenants.opened == nil {
		a.tenants.opened = map[string]*App{}
	}
	a.tenants.opened[t.Name] = b
	return b, nil
}

// openTenants opens all that are configured, so that what is wrong with one is said
// before anybody is served.
func (a *App) openTenants() error {
	var errs []error
	for _, t := range a.now().config.Server.Tenants {
		if _, err := a.Tenant(t.Name); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Tenants lists the opened workspaces of tenants.
func (a *App) Tenants() []*App {
	a.tenants.mu.Lock()
	defer a.tenants.mu.Unlock()
	all := make([]*App, 0, len(a.tenants.opened))
	for _, b := range a.tenants.opened {
		all = append(all, b)
	}
	return all
}

// perTenant has each function asked of the workspace of the tenant whose request it
// is for, as its context says. What has no context is the same for all.
func (a *App) perTenant() host.Deps {
	var made sync.Map // *App → reflect.Value of its own
	depsOf := func(b *App) reflect.Value {
		if v, ok := made.Load(b); ok {
			return v.(reflect.Value)
		}
		deps := b.ownDeps()
		v, _ := made.LoadOrStore(b, reflect.ValueOf(&deps).Elem())
		return v.(reflect.Value)
	}
	own := a.ownDeps()
	all := reflect.ValueOf(&own).Elem()
	for i := range all.NumField() {
		t := all.Field(i).Type()
		if t.Kind() != reflect.Func || t.NumIn() == 0 || t.In(0) != reflect.TypeFor[context.Context]() || t.NumOut() == 0 ||
			t.Out(t.NumOut()-1) != reflect.TypeFor[error]() {
			continue
		}
		all.Field(i).Set(reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
			b, err := a.asked(in[0].Interface().(context.Context))
			if err != nil {
				return failed(t, err)
			}
			return depsOf(b).Field(i).Call(in)
		}))
	}
	return own
}

// failed are the results of a function that fails.
func failed(t reflect.Type, err error) []reflect.Value {
	out := make([]reflect.Value, t.NumOut())
	for i := range out {
		out[i] = reflect.Zero(t.Out(i))
	}
	out[len(out)-1] = reflect.ValueOf(&err).Elem()
	return out
}

// serves says whether the streams of a tenant are run in this workspace. The one who
// works on the machine itself is in that of the host.
func (a *App) serves(name string) error {
	if a.host != nil {
		if name != a.tenant.Name {
			return &UnknownTenantError{Name: name}
		}
		return nil
	}
	b, err := a.workspaceOf(name)
	if err == nil && b != a {
		err = &UnknownTenantError{name, fmt.Errorf("it has a workspace of its own, %s", b.dir)}
	}
	return err
}

// workspaceOf is where the streams of a tenant are run.
func (a *App) workspaceOf(name string) (*App, error) {
	b, err := a.Tenant(name)
	if none := (*UnknownTenantError)(nil); errors.As(err, &none) && none.Why == nil && name == LocalTenant {
		return a, nil
	}
	return b, err
}

// confine has a tenant's workspace obey the policy of the host, and keeps what it
// does in its folder. What only the host decides is the host's.
func (a *App) confine(cfg *config.Config) []profile.Diagnostic {
	host := a.host.now().config
	at := a.tenant.Root.At
	at.Layer = source.Host
	cfg.Under(host.Policy)
	cfg.Under(config.Policy{
		Permission: []permission.Rule{{Tool: permission.ExternalDirectory, Subject: "*", Effect: permission.Deny, At: at}},
		Sandbox: []*profile.Sandbox{{
			At: at, Kind: profile.Value[string]{V: "bubblewrap", Set: true, At: at}, Network: profile.Value[bool]{V: true, Set: true, At: at},
		}},
	})
	var ds []profile.Diagnostic
	for _, own := range []struct {
		key string
		v   *profile.Value[string]
		of  profile.Value[string]
	}{
		{"server.addr", &cfg.Server.Addr, host.Server.Addr}, {"store", &cfg.Store, host.Store},
		{"store-sync", &cfg.StoreSync, host.StoreSync}, {"dispatch", &cfg.Dispatch, host.Dispatch},
	} {
		if own.v.At.File == config.File {
			ds = append(ds, profile.Diagnose(config.CodeInactive, own.v.At, own.key, own.key+" has no effect in the workspace of a tenant: the host's holds", "take it out"))
		}
		*own.v = own.of
	}
	cfg.Server.Tenants = nil
	return ds
}

// hiddenFrom is what no command of a workspace reaches beside its own state: the
// state of its host, and the folders of the other tenants.
func (a *App) hiddenFrom() []string {
	if a.host == nil {
		return nil
	}
	hidden := []string{a.host.hidden()}
	for _, t := range a.host.now().config.Server.Tenants {
		if t.Name != a.tenant.Name {
			hidden = append(hidden, t.Root.V)
		}
	}
	return hidden
}
