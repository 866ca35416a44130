package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Rig is what the files of one rig say. It is never changed, and safe for concurrent
// use.
type Rig struct {
	Name  string // its folder, at the root of the workspace: rig, or one that ends in -rig
	Looms []Loom // by name
	// Problems are those of no file of a knot.
	Problems []profile.Diagnostic
}

// Loom is a folder of knots.
type Loom struct {
	Name  string // the whole name of the folder, such as review-loom
	Files []File // by name
}

// File is the file of a knot.
type File struct {
	Path string // relative to the workspace, with slashes
	// Name is that of the knot, or the one that the file claims; empty: none.
	Name        string
	Knot        *Knot // nil: one of the diagnostics is an error
	Diagnostics []profile.Diagnostic
}

// Knots are those of the rig that hold, by loom and name.
func (r *Rig) Knots() (knots []*Knot) {
	for _, l := range r.Looms {
		for _, f := range l.Files {
			if f.Knot != nil {
				knots = append(knots, f.Knot)
			}
		}
	}
	slices.SortFunc(knots, func(a, b *Knot) int {
		return cmp.Or(strings.Compare(a.Loom, b.Loom), strings.Compare(a.Name, b.Name))
	})
	return knots
}

// Knot finds a knot by LOOM/NAME, or by its name alone where only one loom has it. The
// error is a *NotFoundError.
func (r *Rig) Knot(name string) (*Knot, error) {
	var found []*Knot
	var ids []string
	for _, k := range r.Knots() {
		ids = append(ids, k.ID())
		if k.ID() == name || k.Name == name {
			found = append(found, k)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := &NotFoundError{Rig: r.Name, Name: name, Nearest: profile.Nearest(name, ids, 3)}
	for _, k := range found {
		e.Several = append(e.Several, k.ID())
	}
	return nil, e
}

// NotFoundError says that no knot, or more than one, has a name.
type NotFoundError struct {
	Rig, Name string
	Several   []string // those that have it
	Nearest   []string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("%s has no knot %q", e.Rig, e.Name)
	switch {
	case len(e.Several) > 0:
		return fmt.Sprintf("%q is the name of several knots of %s: write %s", e.Name, e.Rig, strings.Join(e.Several, " or "))
	case len(e.Nearest) > 0:
		s += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return s + " (roster rig list names them)"
}

// Diagnostics are all that is wrong in the rig: first the problems of no knot, then
// those of each file, in the order of the files.
func (r *Rig) Diagnostics() []profile.Diagnostic {
	ds := slices.Clone(r.Problems)
	for _, l := range r.Looms {
		for _, f := range l.Files {
			ds = append(ds, f.Diagnostics...)
		}
	}
	return ds
}

// Bounds of a rig.
const (
	MaxRigs  = 100
	MaxLooms = 1000
	MaxKnots = 1000 // in a loom
)

// IsRig says whether a folder at the root of a workspace is a rig by its name.
func IsRig(name string) bool {
	return name == "rig" || strings.HasSuffix(name, "-rig") && checkName(name) == nil
}

// IsLoom says whether a folder of a rig is a loom by its name.
func IsLoom(name string) bool { return strings.HasSuffix(name, "-loom") }

// Find names the rigs of a workspace, in order: the folders at its root that IsRig
// knows, links left out. More than MaxRigs are an error.
func Find(workspace string) ([]string, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := list(root, ".")
	if err != nil {
		return nil, fmt.Errorf("looking for rigs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && IsRig(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > MaxRigs {
		return nil, fmt.Errorf("the workspace %s has %d rigs, more than %d", workspace, len(names), MaxRigs)
	}
	return names, nil
}

// list gives what a folder has, by name.
func list(root *os.Root, dir string) ([]fs.DirEntry, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// NoRigError says that a workspace has no rig of a name.
type NoRigError struct {
	Name    string
	Nearest []string // rigs that may be meant
	Err     error    // why it is none, though something of that name is there; may be nil
}

func (e *NoRigError) Error() string {
	s := "there is no rig " + e.Name
	switch {
	case !IsRig(e.Name):
		s = fmt.Sprintf("%.80q is not the name of a rig: one is rig, or ends in -rig", e.Name)
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", s, e.Err)
	}
	if len(e.Nearest) > 0 {
		s += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return s + " (roster rig list names those that there are)"
}

// Unwrap gives the reason.
func (e *NoRigError) Unwrap() error { return e.Err }

// NoRig is the error for a name that is none of these.
func NoRig(name string, names []string) *NoRigError {
	return &NoRigError{Name: name, Nearest: profile.Nearest(name, names, 3)}
}

var errNoFolder = errors.New("it is no folder, or a link")

// Lookup is a *NoRigError, unless a workspace has a rig of a name.
func Lookup(workspace, name string) error {
	var why error
	if IsRig(name) { // which makes it a plain name
		info, err := os.Lstat(filepath.Join(workspace, name))
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			why = errNoFolder
		case !errors.Is(err, fs.ErrNotExist):
			why = err
		}
	}
	names, err := Find(workspace)
	if err != nil {
		return err
	}
	none := NoRig(name, names)
	none.Err = why
	return none
}

// Load reads a rig of a workspace. What is wrong in it is in its diagnostics; the error
// is that there is no such folder, a *NoRigError, or that ctx is done.
func Load(ctx context.Context, workspace, name string, p Policy) (*Rig, error) {
	if err := Lookup(workspace, name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil, &NoRigError{Name: name, Err: cmp.Or(err, errNoFolder)}
	}
	entries, err := list(root, name)
	if err != nil {
		return nil, err
	}
	l := &loader{ctx: ctx, root: root, policy: p, rig: &Rig{Name: name}}
	for _, e := range entries {
		if !IsLoom(e.Name()) {
			continue
		}
		if len(l.rig.Looms) == MaxLooms {
			l.problem(profile.CodeRigCut, path.Join(name, e.Name()), fmt.Sprintf("the rig has more than %d looms; this one and those behind it are not read", MaxLooms), "")
			break
		}
		l.loom(e)
	}
	l.rig.producers()
	return l.rig, ctx.Err()
}

type loader struct {
	ctx    context.Context
	root   *os.Root
	policy Policy
	rig    *Rig
}

// problem reports something that is not read.
func (l *loader) problem(code, file, message, hint string) {
	l.rig.Problems = append(l.rig.Problems, profile.Diagnose(code, source.Origin{File: file}, "", message, hint))
}

func (l *loader) loom(e fs.DirEntry) {
	dir := path.Join(l.rig.Name, e.Name())
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		l.problem(profile.CodeLoom, dir, "the loom is a link, which is not followed", "move the folder here")
		return
	case !e.IsDir():
		return
	case checkName(e.Name()) != nil:
		l.problem(profile.CodeLoom, dir, fmt.Sprintf("%q is not the name of a loom", e.Name()), "names are letters, digits, '.', '_' and '-', with a letter or digit first, and end in -loom")
		return
	}
	entries, err := list(l.root, dir)
	if err != nil {
		l.problem(profile.CodeIO, dir, fmt.Sprintf("the loom cannot be read: %v", err), "")
		return
	}
	loom := Loom{Name: e.Name()}
	for _, f := range entries {
		if l.ctx.Err() != nil {
			return
		}
		if path.Ext(f.Name()) != ".md" || strings.HasPrefix(f.Name(), ".") || f.IsDir() {
			continue
		}
		if len(loom.Files) == MaxKnots {
			l.problem(profile.CodeRigCut, path.Join(dir, f.Name()), fmt.Sprintf("the loom has more than %d knots; this one and those behind it are not read", MaxKnots), "")
			break
		}
		loom.Files = append(loom.Files, l.file(loom.Name, path.Join(dir, f.Name())))
	}
	loom.twice()
	l.rig.Looms = append(l.rig.Looms, loom)
}

// file reads one knot. A link is followed within the workspace.
func (l *loader) file(loom, name string) File {
	f := File{Path: name, Name: claimed("", name)}
	data, err := l.read(name)
	if err != nil {
		code, hint := profile.CodeIO, ""
		if l.isLink(name) {
			code, hint = profile.CodeLoom, "write the knot into the loom itself: a link is followed within the workspace only"
		}
		f.Diagnostics = []profile.Diagnostic{profile.Diagnose(code, source.Origin{File: name, Line: 1, Column: 1}, "", fmt.Sprintf("the knot cannot be read: %v", err), hint)}
		return f
	}
	k, ds := Parse(loom, name, data, l.policy)
	f.Name, f.Diagnostics = k.Name, ds
	if !profile.Refused(ds) {
		f.Knot = k
	}
	return f
}

func (l *loader) isLink(name string) bool {
	info, err := l.root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// read reads a regular file; no more of it than shows that it is too large.
func (l *loader) read(name string) ([]byte, error) {
	info, err := l.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, profile.MaxFile+1))
}

// twice refuses the knots of a loom that have one name. A name counts without its case:
// it is that of a file, which some systems take for the same.
func (l *Loom) twice() {
	first := map[string]int{}
	for i := range l.Files {
		f := &l.Files[i]
		if f.Knot == nil {
			continue
		}
		key := strings.ToLower(f.Name)
		other, twice := first[key]
		if !twice {
			first[key] = i
			continue
		}
		f.clash(&l.Files[other])
		l.Files[other].clash(f)
	}
	for i := range l.Files {
		if profile.Refused(l.Files[i].Diagnostics) {
			l.Files[i].Knot = nil
		}
	}
}

// clash reports that another file has the name too.
func (f *File) clash(other *File) {
	at, there := f.Knot.NameAt, other.Knot.NameAt
	f.Diagnostics = inOrder(append(f.Diagnostics, profile.Diagnose(profile.CodeKnotTwice, at, "name",
		fmt.Sprintf("the knot %q is there twice: %s has the name %q too", f.Name, there, other.Name), "rename one of the two; until then neither runs")))
}
