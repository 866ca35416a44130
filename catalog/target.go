package catalog

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// ExistsError says that a profile is there that was to be new. It is
// profile.ProfileExists for errors.Is.
type ExistsError struct {
	Name, File string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("profile exists: %s, in %s", e.Name, e.File)
}

// Unwrap gives the error's name.
func (e *ExistsError) Unwrap() error { return profile.ProfileExists }

// RevisionError says that a profile is not as the caller saw it. Have is empty
// if it changed while it was saved. It is profile.RevisionMismatch for
// errors.Is.
type RevisionError struct {
	Name, Want, Have string
}

func (e *RevisionError) Error() string {
	if e.Have == "" {
		return fmt.Sprintf("profile changed: %s was written by another while it was saved: read it again", e.Name)
	}
	return fmt.Sprintf("profile changed: %s has revision %s, not %s: read it again", e.Name, e.Have, e.Want)
}

// Unwrap gives the error's name.
func (e *RevisionError) Unwrap() error { return profile.RevisionMismatch }

// ReadOnlyError says that a profile is not written, and why. It is
// profile.ReadOnly for errors.Is.
type ReadOnlyError struct {
	Name, File, Why string
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("profile %s is not written: %s: %s", e.Name, e.File, e.Why)
}

// Unwrap gives the error's name.
func (e *ReadOnlyError) Unwrap() error { return profile.ReadOnly }

// target is where a profile is, or is to be, and what its files hold.
type target struct {
	c    *Catalog
	name string

	served  *profile.Profile // nil: none
	refused error            // the file that claims the name does not load
	several bool             // the file holds other profiles too

	source Source
	rel    string // of the main file, below the source
	shown  string
	root   *os.Root
	real   string            // of the root
	dir    string            // of the main file, below the root, with a slash at its end; or empty
	base   string            // of the main file; empty: there is none
	texts  map[string][]byte // what the files hold, by their paths from dir
	shared map[string][]byte // what those hold that other profiles have too
	gone   []string          // parts that are to be removed with the next write
	mtime  time.Time
}

// edit calls f with the target of a name, while nobody else saves below the same
// root: in this process, and in others.
func (c *Catalog) edit(ctx context.Context, name string, f func(*target) error) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	t, err := c.locate(name)
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, t.real)
	top := t.real
	t.root.Close()
	if err != nil {
		return err
	}
	defer unlock()
	if t, err = c.locate(name); err != nil {
		return err
	}
	defer t.root.Close()
	if t.real != top {
		return &RevisionError{Name: name}
	}
	if t.source.ReadOnly {
		return &ReadOnlyError{Name: name, File: t.shown, Why: "it is in the user's folder, which serves other workspaces too: edit it by hand"}
	}
	if t.there() && dialect.Shared(t.source.place(t.rel)) {
		return &ReadOnlyError{Name: name, File: t.shown, Why: "it is OpenCode's configuration, which says more than its profiles: edit it by hand, or write a file in .opencode/agent, which goes before it"}
	}
	return f(t)
}

// lockEvery is how often a lock is tried that another process has, lockWait how
// long.
const (
	lockEvery = 5 * time.Millisecond
	lockWait  = 10 * time.Second
)

// lock locks a folder, until the function that it gives is called. It leaves no
// file behind, and ends with the process.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	const shown = "." // what is locked is the workspace, or another folder of profiles
	f, err := os.Open(dir)
	if err != nil {
		return nil, ioError(shown, bare(err))
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	every := time.NewTicker(lockEvery)
	defer every.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			f.Close()
			return nil, ioError(shown, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ioError(shown, fmt.Errorf("another process saves profiles there: %w", ctx.Err()))
		case <-every.C:
		}
	}
}

// locate finds the file of a name as it is now. The caller closes the root.
func (c *Catalog) locate(name string) (*target, error) {
	all := c.Snapshot()
	t := &target{c: c, name: name, texts: map[string][]byte{}, shared: map[string][]byte{}}
	i := -1
	if p, err := all.Get(name); err == nil {
		t.served = p
		i = all.fileOf[p]
	} else if l, ok := all.broken[name]; ok {
		t.refused = err
		if i = slices.IndexFunc(all.files, func(f sourced) bool { return f.loaded == l || f.shown == l.shown }); i < 0 {
			return nil, err
		}
	}
	if i < 0 {
		return t, t.inWorkspace()
	}
	f := all.files[i]
	t.source, t.rel, t.shown, t.several = all.sources[f.source], f.rel, f.shown, len(f.profiles) > 1
	if t.served != nil && t.served.Code != nil {
		return nil, &ReadOnlyError{Name: name, File: f.shown, Why: "a program defines it: change the program"}
	}
	if f.entry == nil || f.entry.real == "" {
		return nil, &ReadOnlyError{Name: name, File: f.shown, Why: "it is no file that can be written"}
	}
	return t, t.open(f.entry.real)
}

// inWorkspace makes the workspace the place of a profile that there is not.
func (t *target) inWorkspace() (err error) {
	if t.c.workspace == "" {
		return &ReadOnlyError{Name: t.name, File: "the catalog", Why: "it has no workspace for new profiles"}
	}
	if t.real, err = realPath(t.c.workspace); err == nil {
		t.root, err = os.OpenRoot(t.real)
	}
	if err != nil {
		return ioError(".", bare(err))
	}
	return nil
}

// open reads the files of a profile.
func (t *target) open(file string) error {
	top := t.source.Root
	if top == "" && t.rel != "" {
		top = t.source.Path
	}
	w, err := walk(Source{Path: file, Root: top}, false, nil)
	if err == nil && (w.root == nil || len(w.out) != 1 || w.out[0].diag != nil) {
		err = fmt.Errorf("the file is gone, or leads out of its source")
	}
	if err != nil {
		w.close()
		return ioError(t.shown, err)
	}
	f := w.out[0]
	t.root, t.real = w.root, w.real
	t.dir, t.base = path.Split(filepath.ToSlash(f.inRoot))
	t.mtime = time.Unix(0, f.stamp.mtime)
	data, err := t.read(f.inRoot)
	var beside map[string][]byte
	if err == nil {
		var o opener
		beside, err = readParts(&o, w.root, f.parts)
		o.close()
	}
	if err != nil {
		w.close()
		return ioError(t.shown, err)
	}
	t.texts[t.base] = data
	for name, data := range beside {
		if strings.HasPrefix(name, "../") {
			t.shared[name] = data
		} else {
			t.texts[name] = data
		}
	}
	return nil
}

// read reads a file below the root.
func (t *target) read(inRoot string) ([]byte, error) {
	var o opener
	defer o.close()
	return o.read(t.root, inRoot, nil)
}

// there says whether the profile has a file.
func (t *target) there() bool { return t.base != "" && len(t.texts) > 0 }

// at gives the path of a part below the root.
func (t *target) at(name string) string { return path.Join(t.dir, name) }

// path is the absolute path of a part.
func (t *target) path(name string) string {
	return filepath.Join(t.real, filepath.FromSlash(t.at(name)))
}

// names lists the parts, the main file first.
func (t *target) names() []string {
	names := []string{t.base}
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		if name != t.base {
			names = append(names, name)
		}
	}
	return names
}

// parts gives what the files hold, the main one first.
func (t *target) parts() []dialect.Part {
	var out []dialect.Part
	for _, name := range t.names() {
		out = append(out, dialect.Part{Path: name, Data: t.texts[name]})
	}
	return out
}

func (t *target) file() *dialect.File { return t.fileOf(t.parts()) }

// fileOf makes of parts what the catalog would make of the files.
func (t *target) fileOf(parts []dialect.Part) *dialect.File {
	f := &dialect.File{
		Name: t.shown, Path: t.source.place(t.rel), Data: parts[0].Data,
		Claimed: isMarkdown(t.base), Options: t.c.opts, Beside: maps.Clone(t.shared),
	}
	for _, p := range parts[1:] {
		f.Beside[p.Path] = p.Data
	}
	return f
}

func (t *target) revision() string {
	if t.served == nil {
		return ""
	}
	return t.served.Revision()
}
