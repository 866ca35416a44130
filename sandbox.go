package roster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/spec"
)

// box is what the commands of a spec run in.
func (a *App) box(s *spec.Spec) (sandbox.Box, error) {
	b, err := a.boxIn(s.Sandbox, s.Workspace)
	if t := s.Worktree; t != nil && t.Dir != "" && b.Kind != "" { // git looks there, and changes nothing
		b.Read = append(b.Read[:len(b.Read):len(b.Read)], t.Dir, t.Repository)
	}
	if b.Kind != "" {
		b.Read = append(b.Read[:len(b.Read):len(b.Read)], a.skillFolders(s, b.Hidden)...)
	}
	return b, err
}

// hookBox is what a hook's command runs in: that of the spec, in the workspace's
// root. Those that the user has in files of his own are his own programs, and run
// as such.
func (a *App) hookBox(s *spec.Spec, e *hook.Entry) (sandbox.Box, error) {
	if a.Trust().Own(e.At.File) {
		return sandbox.Box{}, nil
	}
	return a.boxIn(s.Sandbox, a.dir)
}

func (a *App) boxIn(s spec.Sandbox, dir string) (sandbox.Box, error) {
	kind, hidden := sandbox.Kind(s.Kind), append([]string{a.hidden(), a.trusts.Home}, a.hiddenFrom()...)
	if kind == "" {
		kind = sandbox.Default()
		// A workspace that holds them, such as the home folder, needs a wall that
		// can keep them apart from it.
		if kind == sandbox.Landlock && !sandbox.Apart(dir, hidden) && sandbox.Probe(sandbox.Bubblewrap) == nil {
			kind = sandbox.Bubblewrap
		}
	}
	if kind == sandbox.None {
		return sandbox.Box{}, nil
	}
	b := sandbox.Box{
		Kind: kind, Write: []string{dir}, Read: s.Read, Hidden: hidden,
		Network: !s.NoNetwork, Image: s.Image,
	}
	if kind != sandbox.Landlock {
		return b, nil // they have a folder for temporary files of their own
	}
	var err error
	b.Temp, err = a.temp.dir(b.Hidden)
	b.Write = append(b.Write, b.Temp)
	return b, err
}

// hidden is what no tool reaches: the state of the workspace, and where that of
// others is too.
func (a *App) hidden() string {
	if a.opts.State == "" {
		return filepath.Dir(a.state)
	}
	return a.state
}

// temp is the folder for temporary files of commands that have the host's: that
// of the machine, or one of their own in it where something lies there that they
// must not reach.
type temp struct {
	mu  sync.Mutex
	own string
}

func (t *temp) dir(hidden []string) (string, error) {
	all := os.TempDir()
	if sandbox.Apart(all, hidden) {
		return all, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own != "" {
		return t.own, nil
	}
	dir, err := os.MkdirTemp(all, "roster-")
	if err != nil {
		return "", fmt.Errorf("the folder for temporary files of commands: %w", err)
	}
	if !sandbox.Apart(dir, hidden) {
		return "", errors.Join(fmt.Errorf("the folder for temporary files, %s, lies where no command may reach: set TMPDIR to another", all), os.Remove(dir))
	}
	t.own = dir
	return dir, nil
}

// remove takes the own folder away.
func (t *temp) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == "" {
		return nil
	}
	dir := t.own
	t.own = ""
	return os.RemoveAll(dir)
}
