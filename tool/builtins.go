package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool/contract"
)

// Env is what the built-in tools work in.
type Env struct {
	// Root is the workspace, an absolute directory. Relative paths begin here.
	Root string
	// StateDir is where roster keeps its own state. No tool reaches into it,
	// whatever the rules say. Empty: there is none.
	StateDir string
	// Protected are further files that say what agents are: doublestar patterns
	// relative to Root, or absolute paths of files and directories. Writing to
	// them is judged under permission.Protected too. A directory that holds all
	// of Root is passed over.
	Protected []string
	// Exec starts the exec helper (sandbox.Main): a program and its first
	// arguments. Without it no command can be started.
	Exec []string
	// Hold is passed to the helper (sandbox.Command.Hold); may be nil.
	Hold *os.File
	// Box is what commands run in; the zero Box is the host.
	Box sandbox.Box
	// Environ is what commands get, less what looks like a secret; nil means
	// os.Environ(). Secrets names further variables that they do not get.
	Environ, Secrets []string
	// Settings holds the settings of each tool as a JSON object. Those of tools
	// that are not built in here are left alone.
	Settings map[string]json.RawMessage
	// Jobs has the commands that are left at work; nil: none can be.
	Jobs *Jobs
}

// Builtins makes the tools of Names. An unknown, null or impossible setting is a
// *SettingError.
func Builtins(env Env) ([]Tool, error) {
	w, err := newWorkspace(env)
	if err != nil {
		return nil, err
	}
	readSet, err1 := readSettings(env.Settings["read"])
	globSet, err2 := globSettings(env.Settings["glob"])
	grepSet, err3 := grepSettings(env.Settings["grep"])
	bashSet, err4 := bashSettings(env.Settings["bash"])
	errs := []error{err1, err2, err3, err4}
	for _, name := range []string{"write", "edit", AskUser, TodoName, PlanName, ScratchpadName} {
		errs = append(errs, contract.Check(name, env.Settings[name]))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	environ := env.Environ
	if environ == nil {
		environ = os.Environ()
	}
	def := func(name string) defined { return define(name, env.Settings[name]) }
	return []Tool{
		newReadTool(def("read"), w, readSet),
		&globTool{def("glob"), w, globSet},
		&grepTool{def("grep"), w, grepSet},
		&writeTool{def("write"), w},
		&editTool{def("edit"), w},
		&bashTool{bashIn(env), w, bashSet, env.Exec, walledGit(Environ(environ, env.Secrets), env.Box), env.Hold, env.Box, env.Jobs},
		askUserTool{def(AskUser)},
		&noteTool{def(TodoName), runTodo},
		&noteTool{def(PlanName), runPlan},
		&noteTool{def(ScratchpadName), runScratchpad},
	}, nil
}

// Names lists the built-in tools in the order of Builtins.
func Names() []string {
	return []string{"read", "glob", "grep", "write", "edit", "bash", AskUser, TodoName, PlanName, ScratchpadName}
}

func newWorkspace(env Env) (*workspace, error) {
	root, err := filepath.EvalSymlinks(env.Root)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("workspace %s: the path must be absolute", env.Root)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace %s is not a directory", root)
	}
	w := &workspace{root: root, protected: permission.DefaultProtected()}
	if env.StateDir != "" {
		state, err := realDir(env.StateDir)
		if err != nil {
			return nil, fmt.Errorf("state directory: %w", err)
		}
		w.state = permission.Fold(state)
	}
	for _, p := range env.Protected {
		if filepath.IsAbs(p) {
			if real, err := realDir(p); err == nil {
				p = real
			}
			if p = permission.Fold(filepath.Clean(p)); permission.Within(root, p) {
				continue
			}
		}
		w.protected = append(w.protected, p)
	}
	return w, nil
}

// decode reads a call's input, which has passed the schema.
func decode[T any](c Call) (in T, err error) {
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return in, fmt.Errorf("the input cannot be read: %w", err)
	}
	return in, nil
}
