package roster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/grants"
	"github.com/rosterrun/roster/internal/keyfile"
	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/internal/trail"
	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/model"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/record"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/postgres"
	"github.com/rosterrun/roster/store/sqlite"
	"github.com/rosterrun/roster/telemetry"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/browser"
	"github.com/rosterrun/roster/tool/history"
	"github.com/rosterrun/roster/trust"
)

// Options configure an App. The zero Options are those of the command line.
type Options struct {
	// Dir is the workspace of NewApp; empty: the current directory. Open is given one.
	Dir string
	// Exact says that the folder given is the workspace, whatever its parents hold.
	Exact bool
	// ResolveProfile gives profiles that are defined in code, or come from elsewhere;
	// nil: there are those of the workspace alone. What it gives goes before what files
	// say of the same name.
	ResolveProfile ProfileResolver
	// Catalog is used instead of the workspace's folders of profiles; those of a
	// StaticResolver are added to it. nil: what the configuration names.
	Catalog *catalog.Catalog
	// Defaults are what profiles have that do not say otherwise, over the defaults of
	// roster.yaml.
	Defaults Defaults
	// MaxTaskDepth is how many levels of agents may work below any, at most; 0: what
	// profiles say, 3 by default; below 0: none.
	MaxTaskDepth int
	// Tools are what profiles are offered that list no tools: tools, groups and
	// capabilities, by name. nil: all that their rules allow; empty: nothing.
	Tools []string
	// State is the directory of the database and blobs; default: outside the
	// workspace, by the workspace's path (config.StateDir).
	State string
	// Profiles are further folders of profiles. They win over the workspace's.
	Profiles []string
	// Headless says that nobody can answer: a profile that asks before it
	// delegates does not load.
	Headless bool
	// Flags are values of scalar keys of roster.yaml, such as "store".
	Flags map[string]string
	// Getenv reads the environment; nil: the process's.
	Getenv func(string) string
	// Models bypass the registry, by provider/model-id: for tests and own
	// providers. The ids must be known to the catalog of models, or be
	// declared in roster.yaml.
	Models map[string]model.Model
	// PromptStrategies are written in code, by the name that profiles use.
	PromptStrategies map[string]PromptStrategy
	// ContextProviders add to the requests of profiles that name them under
	// context.providers.
	ContextProviders map[string]ContextProvider
	// Capabilities are added to what is built in, for profiles that list them or
	// no tools at all.
	Capabilities []Capability
	// Transforms may change each request as a whole, in this order.
	Transforms []Transform
	// Hooks are asked in every run, after those of files. What one denies does
	// not happen.
	Hooks []Hook
	// Backend is used instead of the configured store; it stays open on Close.
	Backend session.Backend
	// Claim takes up all shared sessions of the workspace that are runnable or
	// abandoned, as a server does, and not only what is submitted here.
	Claim bool
	// Trust lets all that the workspace's files say have an effect, without
	// asking what the user has trusted. So does ROSTER_TRUST=1.
	Trust bool
	// Exec is the program, with its first arguments, that starts the helper for
	// commands; default: this program, which then has to call sandbox.Main
	// first in its main function. Without that no command can be started.
	Exec []string
	// Identify finds out who sends a request to the App's handler, instead of
	// server.auth of the configuration: for programs whose users show who they are
	// in a way of their own. Whoever it returns an error for is refused, with what a
	// *host.Error says, and else 401 without the error's text, which is logged. A
	// caller without a tenant of a valid name is refused too; one without a role may
	// do nothing. It is called for each request, at once, and again from time to
	// time for a stream of a caller that has a Key. nil: server.auth says it.
	Identify func(*http.Request) (identity.Caller, error)
	// Record writes all model calls to a file; Replay answers from one.
	Record, Replay string
	// Metrics counts what happens, for WriteMetrics and the route /metrics.
	Metrics bool
	Log     *slog.Logger // nil: discarded
}

// Defaults are keys of profiles that Options give to all.
type Defaults struct {
	Model             string   // as a profile names one
	Temperature, TopP *float64 // 0 to 2, and 0 to 1; nil: the provider's
}

// App is an opened workspace. It is an http.Handler, and safe for concurrent use.
type App struct {
	opts    Options
	dir     string // the workspace
	host    *App   // of a tenant's workspace; nil: it is one of its own
	apart   bool   // tenants have folders of their own, also if no file says so any more
	tenant  config.Tenant
	state   string
	trusts  trust.Files
	further []string     // folders of profiles that the options name
	own     []string     // those of them that are outside of the workspace
	client  *http.Client // one for all providers, so that connections are kept

	front frontDoor // of ServeHTTP

	defaults *profile.Profile      // keys of Options; nil: none
	setup    atomic.Pointer[setup] // see now
	settle   sync.Mutex            // held while it is replaced

	states states
	ready  sync.Map // *session.Prompt → ready: what Submit compiled for the run that it begins
	guards sync.Map // agent_id → *guard: the hooks of agents that have some
	grants *grants.Store
	jobs   *tool.Jobs

	telemetry atomic.Pointer[telemetry.Telemetry] // see observed
	files     *history.Keeper
	temp      temp

	tenants  tenants
	guardian guardian
	servers  servers
	browsers browser.Set
	services services

	keyCommands keyCommands
	keys        *keyfile.Store

	mu       sync.Mutex
	backend  session.Backend
	local    *dispatch.Local
	replayer *record.Replayer
	recorder *record.Recorder
	closers  []func() error
	closed   bool
}

// ErrClosed is returned by methods that would start something after Close.
var ErrClosed = errors.New("roster: the workspace is closed")

// Open reads the configuration of the workspace that dir belongs to: the
// nearest parent with a roster.yaml, else dir itself, as it always is with
// Options.Exact. It starts nothing, opens no database and no connection, and reads
// no secret. The diagnostics are what has no effect; what is wrong is the error.
func Open(dir string, o Options) (*App, []profile.Diagnostic, error) {
	return open(dir, o, nil, config.Tenant{})
}

// open opens a workspace, or with a host that of one of its tenants.
func open(dir string, o Options, host *App, t config.Tenant) (*App, []profile.Diagnostic, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if host != nil {
		o.Trust = false // that was said of the host's workspace
	} else if v := o.Getenv("ROSTER_TRUST"); v != "" {
		all, err := strconv.ParseBool(v)
		if err != nil {
			return nil, nil, fmt.Errorf("ROSTER_TRUST is %q: it takes 1 or 0", v)
		}
		o.Trust = o.Trust || all
	}
	if _, err := hook.NewSet(o.Hooks...); err != nil {
		return nil, nil, err
	}
	if err := checkCapabilities(o.Capabilities); err != nil {
		return nil, nil, err
	}
	a := &App{opts: o, host: host, tenant: t, jobs: tool.NewJobs(), client: wire.NewClient()}
	if err := a.define(); err != nil {
		return nil, nil, err
	}
	a.keyCommands.helper = a.helper
	a.opts.Log = slog.New(secret.NewHandler(trail.Handler{Handler: o.Log.Handler()}, a.redactLog))
	s := &setup{modelSkills: &modelSkills{}}
	s.forget()
	var broken error // what is trusted cannot be read
	cfg, ds, err := a.load(dir, o.Exact, func(dir, home string) trust.View {
		broken = a.look(s, dir, home)
		return s.view
	})
	if err == nil {
		err = a.place(cfg)
	}
	if err != nil {
		return nil, ds, err
	}
	if broken != nil {
		ds = append(ds, config.Distrusted(broken))
	}
	a.apart = len(cfg.Server.Tenants) > 0
	a.furnish(s, cfg)
	a.setup.Store(s)
	return a, ds, nil
}

// load reads the configuration of a workspace: of the nearest one, or exactly of dir.
func (a *App) load(dir string, exact bool, view func(dir, home string) trust.View) (*config.Config, []profile.Diagnostic, error) {
	cfg, ds, err := config.Load(config.Options{Dir: dir, Exact: exact, Getenv: a.opts.Getenv, Flags: a.opts.Flags, Trust: view})
	if err == nil && a.host != nil {
		ds = append(ds, a.confine(cfg)...)
	}
	return cfg, ds, err
}

// look reads what the user trusts of the workspace.
func (a *App) look(s *setup, dir, home string) (err error) {
	a.trusts = trust.Files{Home: home}
	for _, p := range a.opts.Profiles {
		abs, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		a.further = append(a.further, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && !filepath.IsLocal(relative(dir, real)) {
			a.own = append(a.own, abs)
		}
	}
	if a.opts.Trust {
		s.view = trust.Everything()
		return nil
	}
	s.stamp = a.trusts.Stamp()
	s.view, err = a.trusts.View(dir, a.own...)
	return err
}

// relative gives a path from a folder; one that has none is outside.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return ".."
	}
	return rel
}

// place finds the directory of the state.
func (a *App) place(cfg *config.Config) (err error) {
	a.dir, a.state = cfg.Dir, a.opts.State
	if a.state == "" {
		if a.state, err = config.StateDir(cfg.Dir, a.opts.Getenv); err != nil {
			return err
		}
	}
	if a.state, err = filepath.Abs(a.state); err != nil {
		return err
	}
	a.grants = grants.New(filepath.Join(a.state, "grants.json"))
	a.files = history.NewKeeper(filepath.Join(a.state, "files"), a.state, cfg.Home)
	a.keys = keyfile.New(cfg.Home, a.opts.Getenv)
	return nil
}

// Dir is the workspace: absolute, with links followed.
func (a *App) Dir() string { return a.dir }

// StateDir is where the database and blobs are.
func (a *App) StateDir() string { return a.state }

// Config is the configuration with its origins.
func (a *App) Config() *config.Config { return a.now().config }

// Catalog is the catalog of profiles.
func (a *App) Catalog() *catalog.Catalog { return a.now().catalog }

// Models is the catalog of models.
func (a *App) Models() *modelcatalog.Catalog { return a.now().models }

// Resolve says what a profile comes to with the given overrides (profile keys
// and their values as text). It starts nothing. Where no model is named and none is
// found, a diagnostic says so, and Model is empty: such a profile cannot be run.
func (a *App) Resolve(ctx context.Context, name string, over session.Overrides) (*spec.Spec, []profile.Diagnostic, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s := a.now()
	p, err := a.profileHere(ctx, s, name)
	if err != nil {
		return nil, nil, err
	}
	return a.resolve(s, p, over)
}

// ResolveAt is Resolve for an earlier version of the profile: revision is one of its
// history, or the start of one.
func (a *App) ResolveAt(ctx context.Context, name, revision string, over session.Overrides) (*spec.Spec, []profile.Diagnostic, error) {
	s := a.now()
	p, err := s.catalog.At(ctx, name, revision)
	if err != nil {
		return nil, nil, err
	}
	return a.resolve(s, p, over)
}

func (a *App) resolve(s *setup, p *profile.Profile, over session.Overrides) (*spec.Spec, []profile.Diagnostic, error) {
	in := a.input(s, p, over)
	in.Lookable = true
	return a.resolveInput(s, in)
}

func (a *App) resolveInput(s *setup, in resolve.Input) (*spec.Spec, []profile.Diagnostic, error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	out, ds, err := resolve.Spec(in)
	if err == nil && !in.RulesOnly {
		err = a.summariser(s, in, out)
		ds = append(append(ds, a.noProviders(out)...), a.noBrowser(out)...)
		ds = append(append(ds, a.noKnowledge(out)...), notShown(out)...)
	}
	if err != nil {
		return nil, ds, err
	}
	a.redactPrompt(out)
	return out, ds, nil
}

func (a *App) input(s *setup, p *profile.Profile, over session.Overrides) resolve.Input {
	return resolve.Input{
		Profile: p, Config: s.config, Models: s.models, Trust: s.view,
		Session: over.Session.Map(), Overrides: over.Set, Flags: over.Flags, AllowAll: over.AllowAll, LookupEnv: a.lookupEnv,
		Strategies: a.opts.PromptStrategies, Skills: func() []spec.Skill { return s.forModels(s.skills.Snapshot()) },
		Default: modelcatalog.DefaultOptions{APIs: spoken(), Where: p.File},
	}
}

func (a *App) lookupEnv(name string) (string, bool) {
	v := a.opts.Getenv(name)
	return v, v != ""
}

// path makes a path of the configuration absolute.
func (a *App) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(a.Dir(), p)
}

// Backend opens the store, once, and starts no worker.
func (a *App) Backend(ctx context.Context) (session.Backend, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open(ctx)
}

func (a *App) open(ctx context.Context) (session.Backend, error) {
	switch {
	case a.closed:
		return nil, ErrClosed
	case a.backend != nil:
		return a.backend, nil
	case a.host != nil:
		b, err := a.host.Backend(ctx)
		a.backend = b
		return b, err
	case a.opts.Backend != nil:
		a.backend = a.opts.Backend
		return a.backend, nil
	}
	b, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	a.backend = b
	a.closers = append(a.closers, b.Close)
	return b, nil
}

// openStore opens the store that the configuration names.
func (a *App) openStore(ctx context.Context) (session.Backend, error) {
	cfg := a.now().config
	if file, ok := a.storeFile(cfg); ok {
		return sqlite.Open(ctx, file, sqlite.Options{Sync: cfg.StoreSync.V})
	}
	return postgres.Open(ctx, cfg.Store.V, postgres.Options{})
}

// storeFile is the file of a store that is one.
func (a *App) storeFile(cfg *config.Config) (string, bool) {
	file, ok := strings.CutPrefix(cfg.Store.V, "sqlite:")
	if ok && !filepath.IsAbs(file) {
		file = filepath.Join(a.state, file)
	}
	return file, ok
}

// Start opens the store and begins to run what is submitted. Submit does it
// when needed.
func (a *App) Start(ctx context.Context) error {
	if err := a.openTenants(); err != nil {
		return err
	}
	_, err := a.dispatcher(ctx)
	return err
}

func (a *App) dispatcher(ctx context.Context) (*dispatch.Local, error) {
	if a.host != nil {
		if _, err := a.Backend(ctx); err != nil {
			return nil, err
		}
		return a.host.dispatcher(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.local != nil && !a.closed {
		return a.local, nil
	}
	backend, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.observe(); err != nil {
		return nil, err
	}
	a.local, err = dispatch.NewLocal(ctx, backend, a.runAny, dispatch.Options{
		LockDir: filepath.Join(a.state, "workers"), Claim: a.opts.Claim, Ended: a.endStarted, Log: a.opts.Log,
	})
	return a.local, err
}

// endStarted ends the programs that were started for runs, and may still be at work.
// They keep the lock of the dispatcher open.
func (a *App) endStarted() error {
	var errs []error
	for _, t := range a.Tenants() {
		errs = append(errs, t.endStarted())
	}
	a.jobs.Close()
	a.browsers.Close()
	return errors.Join(append(errs, a.closeServers())...)
}

// Close lets turns finish until ctx ends, hands over what is left, and closes
// the store.
func (a *App) Close(ctx context.Context) error {
	a.front.close()
	a.guardian.close() // what it has to store needs the store
	a.mu.Lock()
	local, closers := a.local, a.closers
	a.closed, a.local, a.closers = true, nil, nil
	a.mu.Unlock()
	var errs []error
	if local != nil {
		errs = append(errs, local.Close(ctx))
	} else {
		errs = append(errs, a.endStarted())
	}
	for _, b := range append(a.Tenants(), a) {
		errs = append(errs, b.files.Close())
		b.client.CloseIdleConnections()
		errs = append(errs, b.temp.remove())
	}
	for _, c := range closers {
		errs = append(errs, c())
	}
	if a.host == nil {
		errs = append(errs, a.observed().Close(context.WithoutCancel(ctx)))
	}
	return errors.Join(errs...)
}
