// Package config reads roster.yaml: the workspace's, the user's, and what the
// environment and flags say over them. Every value knows where it was written.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// File is the name of the configuration in a workspace and in the user's part.
const File = "roster.yaml"

// ModelsFile is the name of the file beside it that declares providers, models
// and aliases alone. What roster.yaml says of them wins over it.
const ModelsFile = "models.yaml"

// The defaults of what is not set.
const (
	DefaultAddr      = "127.0.0.1:7788"
	DefaultStore     = "sqlite:roster.db"
	DefaultStoreSync = "full"
	DefaultDispatch  = "local"

	DefaultAnswerTime = 24 * time.Hour
)

// Config is what all the files, variables and flags say together.
type Config struct {
	Dir   string   // the workspace: absolute, with links followed
	Home  string   // the user's part
	Files []string // the files that were read, the user's first

	// Defaults are layers of profile keys, the weakest first: the user's, the
	// workspace's, the environment's and the flags'.
	Defaults []Layer
	// Providers and Aliases are declarations in the order in which they win.
	Providers []catalog.Provider
	Aliases   []catalog.Alias
	Policy    Policy
	// Hooks are the host's: the workspace's, then the user's. They are asked in
	// every run. Those that have no effect are left out.
	Hooks []hook.Entry
	// Services are those that profiles may call by their OpenAPI documents, apart from
	// their own. Those that have no effect are left out.
	Services []service.Entry
	// Prompts are those that have a name. The workspace's win over the user's.
	Prompts prompt.Library
	// Profiles are further folders of profiles, absolute.
	Profiles []profile.Value[string]
	// Skills are further folders of skills, absolute; their last parts may be
	// patterns.
	Skills []profile.Value[string]
	Server Server
	// Web and Search say what of the web the tools reach, and who answers searches.
	Web    Web
	Search Search
	// Rig says how rigs run.
	Rig Rig
	// Telemetry says where traces are sent.
	Telemetry Telemetry
	// Servers are the MCP servers of files, the weakest first: the user's, those of
	// other tools' files in the workspace, the workspace's.
	Servers []MCPServer
	// KeepLastGood serves what a profile's file said when it last loaded,
	// while it does not load.
	KeepLastGood profile.Value[bool]
	// AnswerTime is how long a tool call waits for somebody to allow it.
	AnswerTime profile.Value[time.Duration]
	// Store is "sqlite:FILE", the file relative to the state directory.
	Store profile.Value[string]
	// StoreSync is "full" (power loss included) or "normal".
	StoreSync profile.Value[string]
	Dispatch  profile.Value[string]

	// Executing lists what the workspace's file would start, reach or read,
	// with or without effect.
	Executing []trust.Item
}

// Layer is one layer of profile keys.
type Layer struct {
	Name source.Layer
	Keys *profile.Profile
	// Workspace says that a file of the workspace has them.
	Workspace bool
	// Hooks are those among them that act.
	Hooks []hook.Entry
}

// Policy caps what any profile may do, whatever it says.
type Policy struct {
	// Permission holds the workspace's rules and then the user's, so that the
	// user's decide.
	Permission []permission.Rule
	// Limits are the smallest that anyone set.
	Limits profile.Limits
	// Sandbox are the walls that stand around what any profile runs.
	Sandbox []*profile.Sandbox
	// TaskDepth is how many levels of agents may work below any; 0: as profiles say,
	// below 0: none.
	TaskDepth int
}

// Options say where to look. The zero Options read the current directory, the
// process's environment and no flags.
type Options struct {
	// Dir is where to start looking for a workspace.
	Dir string
	// Exact says that Dir is the workspace, whatever its parents hold.
	Exact bool
	// Getenv reads the environment; nil: the process's.
	Getenv func(string) string
	// Flags are values of scalar keys, such as "server.addr".
	Flags map[string]string
	// Trust says which of the workspace's executing keys have an effect. It is
	// asked once the workspace and the user's part are known; nil: none has.
	Trust func(dir, home string) trust.View
}

// Load reads the configuration. The diagnostics are what was read and has no
// effect; everything that is wrong is in the error, a *profile.ParseError, all
// at once.
func Load(o Options) (*Config, []profile.Diagnostic, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	dir, err := workspace(o)
	if err != nil {
		return nil, nil, err
	}
	home, err := Home(o.Getenv)
	if err != nil {
		return nil, nil, err
	}
	l := &loader{cfg: &Config{Dir: dir, Home: home, Telemetry: Telemetry{Sample: 1}}}
	if o.Trust != nil {
		l.trust = o.Trust(dir, home)
	}
	l.defaults()
	for _, name := range []string{ModelsFile, File} {
		user := filepath.Join(home, name)
		l.load(user, origin{file: user, layer: source.User, models: name == ModelsFile})
	}
	if dir != home {
		l.serverFiles()
		for _, name := range []string{ModelsFile, File} {
			l.load(filepath.Join(dir, name), origin{file: name, layer: source.Defaults, workspace: true, models: name == ModelsFile})
		}
	}
	l.environment(o.Getenv)
	l.flags(o.Flags)
	l.order()
	if profile.Refused(l.ds) {
		return nil, nil, &profile.ParseError{Diagnostics: l.ds}
	}
	return l.cfg, l.ds, nil
}

func workspace(o Options) (string, error) {
	dir := o.Dir
	if o.Exact {
		return realDir(dir)
	}
	return FindWorkspace(dir)
}

// Catalog makes the catalog of models with what this configuration declares.
func (c *Config) Catalog(o catalog.Options) *catalog.Catalog {
	o.Providers, o.Aliases = c.Providers, c.Aliases
	return catalog.New(o)
}

// loader collects the layers, and everything that is wrong with them.
type loader struct {
	cfg   *Config
	ds    []profile.Diagnostic
	trust trust.View
	// user holds the names of the providers that the user declares.
	user map[string]bool
	// builtin holds the built-in providers, once they were asked for.
	builtin *catalog.Catalog
	// workspacePolicy are rules of the workspace, which go before the user's, and
	// workspaceHooks its hooks.
	workspacePolicy []permission.Rule
	workspaceHooks  []hook.Entry
}

// origin says where the keys of one file are from. file is how the file is
// named to people: the workspace's by its name, the user's by its path.
type origin struct {
	file      string
	layer     source.Layer
	workspace bool // a file of the workspace: what executes has no effect
	models    bool // only providers and aliases are declared in it
}

func (l *loader) defaults() {
	at := source.Origin{Layer: source.Builtin}
	set := func(v *profile.Value[string], text string) { *v = profile.Value[string]{V: text, Set: true, At: at} }
	set(&l.cfg.Server.Addr, DefaultAddr)
	set(&l.cfg.Server.Auth.Kind, DefaultAuth)
	set(&l.cfg.Server.Auth.OIDC.UserClaim, "sub")
	set(&l.cfg.Server.Auth.OIDC.RolesClaim, "roles")
	set(&l.cfg.Store, DefaultStore)
	set(&l.cfg.StoreSync, DefaultStoreSync)
	set(&l.cfg.Dispatch, DefaultDispatch)
	l.cfg.AnswerTime = profile.Value[time.Duration]{V: DefaultAnswerTime, Set: true, At: at}
	l.user = map[string]bool{}
}

// order puts the policy's rules and the hooks in the order in which they are
// judged and asked.
func (l *loader) order() {
	l.cfg.Policy.Permission = append(l.workspacePolicy, l.cfg.Policy.Permission...)
	l.cfg.Hooks = append(l.workspaceHooks, l.cfg.Hooks...)
}

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

func (l *loader) load(path string, o origin) {
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := source.Origin{Layer: o.layer, File: o.file}
	if err != nil {
		l.report(CodeIO, at, "", fmt.Sprintf("the file cannot be read: %v", err), "")
		return
	}
	if len(data) > maxFile {
		l.report(CodeTooLarge, at, "", fmt.Sprintf("the file has more than %d bytes", maxFile), "")
		return
	}
	l.cfg.Files = append(l.cfg.Files, path)
	l.decode(data, o)
}

// readFile reads at most one byte more than maxFile of a regular file. It does
// not wait for the other end of a pipe.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("not a regular file"))
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
