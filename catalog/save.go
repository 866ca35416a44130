package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// SaveOptions say how a profile is saved. IfMatch is the revision that the
// profile must have, as the catalog serves it; empty: any. IfAbsent wants that
// there is none. Dialect is that of a new file; empty: knot for a profile that
// has no more than knot's keys, else roster. It is not used for a file that is
// there.
type SaveOptions struct {
	Dialect  string
	IfMatch  string
	IfAbsent bool
}

// Save writes a profile and gives it as the catalog serves it from then on. In
// the file that has it only what changed is written anew (dialect.Update); a new
// one is made in the workspace, in the folder of its dialect. A profile in
// memory or in the user's folder is not written.
//
// The write is atomic: after a crash the file holds the old text or the new one,
// and it is on disk when Save returns. Of a directory profile each file is, not
// all together. Saves of one workspace run one after the other, in all processes
// of the machine, so that of several with the same IfMatch one succeeds. A
// program that does not ask, such as an editor, is noticed until just before the
// file is replaced.
//
// Errors: *ExistsError, *RevisionError, *NotFoundError (with IfMatch),
// *ReadOnlyError; *profile.ParseError for a profile that cannot be written;
// *profile.LoadError for a file that does not load, or that cannot be read or
// written.
func (c *Catalog) Save(ctx context.Context, p *profile.Profile, o SaveOptions) (*profile.Profile, error) {
	if err := profile.CheckName(p.Name); err != nil {
		return nil, err
	}
	var saved *profile.Profile
	err := c.edit(ctx, p.Name, func(t *target) error {
		err := t.admits(o)
		if err == nil {
			saved, err = c.store(t, p, o.Dialect)
		}
		return err
	})
	return saved, err
}

// store writes a profile into the file that it has, or into a new one.
func (c *Catalog) store(t *target, p *profile.Profile, dialect string) (*profile.Profile, error) {
	parts, err := t.written(p, dialect)
	if err != nil {
		return nil, err
	}
	return c.put(t, parts, "saved")
}

// admits says whether the options allow to write what is there.
func (t *target) admits(o SaveOptions) error {
	switch {
	case o.IfAbsent && (t.there() || t.served != nil):
		return &ExistsError{Name: t.name, File: t.shown}
	case o.IfAbsent:
		return nil
	case t.refused != nil:
		return t.refused
	case o.IfMatch == "":
		return nil
	case t.served == nil:
		return &NotFoundError{Name: t.name}
	case t.served.Revision() != o.IfMatch:
		return &RevisionError{Name: t.name, Want: o.IfMatch, Have: t.served.Revision()}
	}
	return nil
}

// written gives the files of a profile as they are to be.
func (t *target) written(p *profile.Profile, name string) ([]dialect.Part, error) {
	if t.there() {
		return t.update(p)
	}
	return t.create(p, name)
}

// update gives the files with the profile written in.
func (t *target) update(p *profile.Profile) ([]dialect.Part, error) {
	parts, ds := dialect.Update(t.file(), p)
	if len(parts) == 0 {
		return nil, &profile.ParseError{Diagnostics: ds}
	}
	parts[0].Path = t.base // which may be found through a link of another name
	return parts, nil
}

// create gives the files of a new profile, and sets the target's folder.
func (t *target) create(p *profile.Profile, name string) ([]dialect.Part, error) {
	parts, ds, err := encode(p, name)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, &profile.ParseError{Diagnostics: ds}
	}
	t.dir, t.base = path.Split(parts[0].Path)
	t.shown = parts[0].Path
	for i, part := range parts {
		rel, err := filepath.Rel(filepath.FromSlash(t.dir), filepath.FromSlash(part.Path))
		if err != nil || !filepath.IsLocal(rel) {
			return nil, &ReadOnlyError{Name: t.name, File: part.Path, Why: "other profiles share the file: edit it by hand"}
		}
		parts[i].Path = filepath.ToSlash(rel)
	}
	return parts, nil
}

// encode writes a new profile in a dialect.
func encode(p *profile.Profile, name string) ([]dialect.Part, []profile.Diagnostic, error) {
	if name == "" {
		name = "roster"
		if plain(p) {
			name = "knot"
		}
	}
	d, ok := dialect.ByName(name)
	if !ok {
		return nil, nil, fmt.Errorf("there is no dialect %q: %w", name, profile.SchemaValidation)
	}
	if name == "knot" && !p.Tools.Set && !p.Extends.Set { // there a list that is absent is an empty one
		c := *p
		c.Tools.Set, c.Tools.V.Names = true, []string{}
		p = &c
	}
	parts, ds := dialect.Create(d, p)
	return parts, ds, nil
}

// plain says whether a profile says no more than the first knots could.
func plain(p *profile.Profile) bool {
	if len(p.Permission) > 0 && p.Dialect != "knot" { // there they are the tool list's
		return false
	}
	few := profile.Profile{Name: p.Name, Provider: p.Provider, Model: p.Model, SystemPrompt: p.SystemPrompt, Tools: p.Tools, Body: p.Body}
	all := *p
	all.Permission = nil
	return few.Revision() == all.Revision()
}

// The points of a save at which a process may end.
const (
	pointKept    = "the version is kept"
	pointOpened  = "the new file is there"
	pointWritten = "its text is written"
	pointReady   = "all is ready to be renamed"
	pointRenamed = "it is renamed"
	pointDurable = "the folder is on disk"
)

func (t *target) reached(point string) {
	if t.c.reached != nil {
		t.c.reached(point)
	}
}

// put writes the files of a profile and gives what the catalog serves then.
func (c *Catalog) put(t *target, parts []dialect.Part, message string) (*profile.Profile, error) {
	fresh := !t.there()
	if err := c.keep(t, parts, message); err != nil {
		return nil, err
	}
	t.reached(pointKept)
	if err := t.write(parts); err != nil {
		return nil, err
	}
	all := c.Snapshot()
	p, err := all.Get(t.name)
	if err == nil {
		at, _ := filepath.EvalSymlinks(t.path(t.base)) // a folder may be a link
		if f, ok := all.FileOf(p); ok && f.Path == at {
			return p, nil
		}
		err = &ExistsError{Name: t.name, File: p.File}
	}
	if fresh { // ignored, shadowed or refused: nobody would find it
		if e := t.remove(parts); e != nil {
			err = errors.Join(err, e)
		}
	}
	return nil, &profile.LoadError{Path: t.shown, Err: fmt.Errorf("the catalog does not serve what was written there: %w", err)}
}

// Delete removes the file of a profile. ifMatch is the revision that it must
// have; empty: any. A file that does not load is removed by the name that it
// claims. One that changes meanwhile is not: the error is a *RevisionError. If an earlier source has the name, that profile is served then.
func (c *Catalog) Delete(ctx context.Context, name, ifMatch string) error {
	if err := profile.CheckName(name); err != nil {
		return err
	}
	return c.edit(ctx, name, func(t *target) error {
		switch {
		case !t.there():
			return &NotFoundError{Name: name}
		case ifMatch != "" && t.served == nil:
			return t.refused
		case ifMatch != "" && t.served.Revision() != ifMatch:
			return &RevisionError{Name: name, Want: ifMatch, Have: t.served.Revision()}
		case t.several:
			return &ReadOnlyError{Name: name, File: t.shown, Why: "the file holds other profiles too: edit it by hand"}
		}
		if err := c.keep(t, nil, ""); err != nil {
			return err
		}
		t.reached(pointKept)
		if err := t.unchanged(nil); err != nil {
			return err
		}
		return t.remove(t.parts())
	})
}

// write replaces what changes of the files, the main one last: each through a
// file beside it that is renamed.
func (t *target) write(parts []dialect.Part) error {
	type file struct{ temporary, path string }
	var ready []file
	err := func() error {
		for _, p := range parts {
			if old, ok := t.texts[p.Path]; ok && bytes.Equal(old, p.Data) {
				continue
			}
			at, err := t.temporary(p.Path)
			if err != nil {
				return err
			}
			ready = append(ready, file{at, p.Path})
			if err := t.prepare(p, at); err != nil {
				return err
			}
		}
		if err := t.unchanged(parts); err != nil {
			return err
		}
		t.reached(pointReady)
		for len(ready) > 0 {
			last := ready[len(ready)-1].path
			if err := t.root.Rename(ready[len(ready)-1].temporary, t.at(last)); err != nil {
				return err
			}
			t.reached(pointRenamed)
			ready = ready[:len(ready)-1]
			if err := t.sync(path.Dir(t.at(last))); err != nil {
				return err
			}
			t.reached(pointDurable)
		}
		for _, name := range t.gone {
			if err := t.root.Remove(t.at(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if len(t.gone) > 0 {
			return t.sync(path.Dir(t.at(t.base)))
		}
		return nil
	}()
	for _, f := range ready {
		err = errors.Join(err, t.discard(f.temporary))
	}
	var changed *RevisionError
	var exists *ExistsError
	if err == nil || errors.As(err, &changed) || errors.As(err, &exists) {
		return err
	}
	return ioError(t.shown, err)
}

// temporary is the path of the file that a part is written to first. Its name
// starts with a dot, so that the catalog does not read it; what a crash leaves
// there is replaced by the next save. A folder that has the name is left alone.
func (t *target) temporary(part string) (string, error) {
	const most = 10 // names that are tried
	dir, base := path.Split(t.at(part))
	for i := range most {
		at := dir + "." + base + ".roster-tmp" + strings.Repeat("p", i)
		if info, err := t.root.Lstat(at); err != nil || !info.IsDir() {
			return at, nil
		}
	}
	return "", fmt.Errorf("folders have all the names of the file that would be written first, such as %s.%s.roster-tmp: remove them", dir, base)
}

// prepare writes the text of a part to a path beside the part, with its mode.
func (t *target) prepare(p dialect.Part, at string) error {
	if err := t.makeFolder(path.Dir(at)); err != nil {
		return err
	}
	if err := t.discard(at); err != nil {
		return err
	}
	f, err := t.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	t.reached(pointOpened)
	_, err = f.Write(p.Data)
	t.reached(pointWritten)
	if info, e := t.root.Lstat(t.at(p.Path)); err == nil && e == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (t *target) discard(at string) error {
	err := t.root.Remove(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unchanged says whether the files still hold what they held when they were
// read, and those that are to be new are not there.
func (t *target) unchanged(parts []dialect.Part) error {
	names := t.names()
	for _, p := range parts {
		if !slices.Contains(names, p.Path) {
			names = append(names, p.Path)
		}
	}
	for _, name := range names {
		was, known := t.texts[name]
		data, err := t.read(t.at(name))
		switch {
		case err == nil && !known && t.served == nil:
			return &ExistsError{Name: t.name, File: t.at(name)}
		case err != nil && !isAbsent(err):
			return err
		case known != (err == nil), !bytes.Equal(data, was):
			return &RevisionError{Name: t.name, Want: t.revision()}
		}
	}
	return nil
}

// makeFolder makes a folder, and what is above it, durably.
func (t *target) makeFolder(dir string) error {
	if _, err := t.root.Stat(dir); err == nil {
		return nil
	}
	if err := t.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := t.sync(dir); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the names in a folder durable.
func (t *target) sync(dir string) error {
	f, err := t.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// remove takes the files away, the main one first, and the folder that only they
// were in.
func (t *target) remove(parts []dialect.Part) error {
	for i, p := range parts {
		err := t.root.Remove(t.at(p.Path))
		if err != nil && !(i > 0 && errors.Is(err, fs.ErrNotExist)) {
			return ioError(t.shown, err)
		}
	}
	if err := t.sync(path.Clean("./" + t.dir)); err != nil {
		return ioError(t.shown, err)
	}
	if len(parts) > 1 {
		_ = t.root.Remove(path.Clean("./" + t.dir)) // not empty: it holds something of its own
	}
	return nil
}
