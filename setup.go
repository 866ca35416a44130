package roster

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/config"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/skill"
	"github.com/rosterrun/roster/trust"
)

// setup is what the configuration comes to under what the user trusts. It is
// replaced as a whole when that changes, with everything that was compiled by it.
type setup struct {
	stamp   trust.Stamp
	view    trust.View
	config  *config.Config
	models  *modelcatalog.Catalog
	further []string // folders of profiles
	reaches []string // servers and services
	catalog *catalog.Catalog

	skills      *skill.Library
	skillPlaces []skill.Place
	modelSkills *modelSkills
	// variables hold keys, as the configuration says.
	variables []string
	ofServers []string // those of MCP servers
	// err keeps everything from being resolved: the configuration does not load
	// any more.
	err error

	blueprints *blueprints
	compiled   *compiled
	built      built
}

// forget drops all that was compiled.
func (s *setup) forget() {
	s.blueprints, s.compiled, s.built = &blueprints{}, &compiled{}, newBuilt()
}

// now is the setup of this moment. It looks whether the user has trusted or
// revoked something, and reads the configuration again if he has.
func (a *App) now() *setup {
	s := a.setup.Load()
	if a.opts.Trust || a.trusts.Stamp() == s.stamp {
		return s
	}
	a.settle.Lock()
	defer a.settle.Unlock()
	s = a.setup.Load()
	stamp := a.trusts.Stamp()
	if stamp == s.stamp {
		return s
	}
	view, err := a.trusts.View(s.config.Dir, a.own...)
	if err != nil {
		a.opts.Log.Warn("nothing is trusted", "error", err)
	}
	next := *s
	if next.stamp = stamp; !reflect.DeepEqual(view, s.view) {
		next = *a.renew(s, view, stamp)
	}
	a.setup.Store(&next)
	return &next
}

// renew reads the configuration again under another view.
func (a *App) renew(old *setup, view trust.View, stamp trust.Stamp) *setup {
	next := &setup{
		stamp: stamp, view: view, config: old.config, models: old.models, variables: old.variables, ofServers: old.ofServers, further: old.further, reaches: old.reaches, catalog: old.catalog,
		skills: old.skills, skillPlaces: old.skillPlaces,
		modelSkills: &modelSkills{},
	}
	next.forget()
	cfg, _, err := a.load(old.config.Dir, true, func(string, string) trust.View { return view })
	if err != nil {
		next.err = fmt.Errorf("what is trusted has changed, and the configuration does not load: %w", err)
		return next
	}
	a.furnish(next, cfg)
	return next
}

// furnish makes of a configuration what stands on it.
func (a *App) furnish(s *setup, cfg *config.Config) {
	if a.defaults != nil {
		cfg.Defaults = append(cfg.Defaults, config.Layer{Name: source.Defaults, Keys: a.defaults})
	}
	cfg.Policy.TaskDepth = a.opts.MaxTaskDepth
	s.config, s.models, s.ofServers = cfg, a.modelCatalog(cfg), serverVariables(cfg)
	s.variables = withServices(withSearch(modelcatalog.Variables(cfg.Providers), cfg), cfg)
	a.furnishSkills(s, cfg)
	further := make([]string, 0, len(cfg.Profiles)+len(a.further))
	for _, p := range cfg.Profiles {
		further = append(further, p.V)
	}
	further = append(further, a.further...)
	reaches := reachesOf(cfg)
	if s.catalog != nil && slices.Equal(further, s.further) && slices.Equal(reaches, s.reaches) {
		return
	}
	s.further, s.reaches = further, reaches
	if s.catalog = a.opts.Catalog; s.catalog != nil {
		return
	}
	tools := namesOf(a.opts.Capabilities)
	for _, c := range a.opts.Capabilities {
		tools = append(tools, c.Name)
	}
	s.catalog = catalog.Open(catalog.Options{
		Sources: append(catalog.Standard(cfg.Home, cfg.Dir, further...), a.inCode()...), Headless: a.opts.Headless, KeepLastGood: cfg.KeepLastGood.V,
		Workspace: cfg.Dir, History: filepath.Join(a.state, "history"), Inspect: a.inspect,
		Tools: tools, Reaches: reaches,
	})
}

// reachesOf names the servers and services of a configuration.
func reachesOf(cfg *config.Config) (names []string) {
	for i := range cfg.Services {
		names = append(names, cfg.Services[i].Name)
	}
	for i := range cfg.Servers {
		names = append(names, cfg.Servers[i].Name)
	}
	return names
}

// modelCatalog makes the catalog of models that a configuration comes to.
func (a *App) modelCatalog(cfg *config.Config) *modelcatalog.Catalog {
	return cfg.Catalog(modelcatalog.Options{Getenv: a.opts.Getenv, RunKey: a.keyCommands.run, Kept: a.keys, APIs: spoken(), Reports: a.reports})
}

// inspect reports what a profile says without effect. place gives a file as the
// workspace names it.
func (a *App) inspect(p *profile.Profile, place func(file string) string) []profile.Diagnostic {
	var ds []profile.Diagnostic
	var view trust.View
	for i, item := range trust.OfProfile(p) {
		if i == 0 {
			view = a.now().view
		}
		known := item
		known.At.File = place(item.At.File)
		if state := view.State(known); !state.Acts() {
			ds = append(ds, (&trust.Error{Item: item, State: state}).Diagnostic())
		}
	}
	return ds
}

// Trust is what the user trusts of the workspace at this moment. Whoever starts,
// reaches or reads something that a file names asks it first, each time anew.
func (a *App) Trust() trust.View { return a.now().view }

// narrow makes a spec that stands in a log obey the host's policy and the trust
// of now: what the workspace's files allowed when it was trusted counts as ask.
// It changes nothing in s.
func narrow(s *spec.Spec, v trust.View, policy config.Policy, lookup func(string) (string, bool)) (*spec.Spec, error) {
	out, err := resolve.Capped(s, policy, lookup)
	if err != nil || !s.Trusted || v.Workspace() {
		return out, err
	}
	out.Rules = slices.Clone(s.Rules)
	for i, r := range out.Rules {
		out.Rules[i].Untrusted = r.Untrusted || !v.Rules(r.At.File)
	}
	out.Skills = slices.Clone(s.Skills)
	for i, x := range out.Skills {
		if !x.Own {
			out.Skills[i].Allowed = nil
		}
	}
	out.DefaultPermission = min(out.DefaultPermission, permission.Ask)
	out.Sandbox = out.Sandbox.Distrusted()
	if out.PermissionMode == permission.ModeAcceptEdits || out.PermissionMode == permission.ModeBypass {
		out.PermissionMode = permission.ModeDefault
	}
	return out, nil
}
