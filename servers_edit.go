package roster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// PutServer writes an MCP server into the roster.yaml of the workspace, or of the user,
// in the place of the one of that name there. Who calls it has seen the server: where
// the workspace is trusted, it is too. The file keeps its comments.
func (a *App) PutServer(ctx context.Context, s profile.Server, user bool) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("the MCP server %q: %w", s.Name, err)
	}
	err := a.editServers(user, func(text []byte) ([]byte, error) { return config.PutServer(text, s) })
	if err != nil || user || a.opts.Trust || !a.Trust().Workspace() {
		return err
	}
	survey, view := a.Survey(), a.Trust()
	seen := slices.DeleteFunc(survey.Items, func(i trust.Item) bool {
		own := i.Kind == trust.Server && i.Key == profile.Servers+"."+s.Name && i.At.File == config.File
		return !own && !view.State(i).Acts()
	})
	return a.TrustWorkspace(ctx, seen)
}

// DropServer takes an MCP server out of the roster.yaml that has it: that of the
// workspace, else that of the user.
func (a *App) DropServer(_ context.Context, name string) error {
	cfg := a.Config()
	for _, s := range slices.Backward(cfg.Servers) {
		if s.Name != name {
			continue
		}
		file := s.Item.At.File
		if filepath.Base(file) != config.File {
			return fmt.Errorf("the MCP server %s is written at %s: take it out there", name, s.Item.At)
		}
		return a.editServers(filepath.IsAbs(file), func(text []byte) ([]byte, error) { return config.DropServer(text, name) })
	}
	return fmt.Errorf("%w: %q", ErrNoServer, name)
}

// editServers changes a roster.yaml, and reads the configuration again.
func (a *App) editServers(user bool, change func([]byte) ([]byte, error)) error {
	a.settle.Lock()
	defer a.settle.Unlock()
	dir := a.dir
	if user {
		dir = a.Config().Home
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, config.File)
	text, err := readSmall(path, maxRosterFile)
	mode := fs.FileMode(0o644)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else if info, statErr := os.Stat(path); statErr == nil {
		mode = info.Mode().Perm()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	next, err := change(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := rewrite(path, next, mode); err != nil {
		return err
	}
	old := a.setup.Load()
	now := a.renew(old, old.view, old.stamp)
	if now.err != nil { // what was there loaded
		return errors.Join(now.err, rewrite(path, text, mode))
	}
	a.setup.Store(now)
	return nil
}

// maxRosterFile bounds a roster.yaml that is changed, in bytes.
const maxRosterFile = 1 << 20

// readSmall reads a regular file that has at most so many bytes.
func readSmall(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("not a file of at most %d bytes", most)
	}
	return os.ReadFile(path)
}

// rewrite writes a file at once or not at all.
func rewrite(path string, data []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".roster-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if all went well
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
