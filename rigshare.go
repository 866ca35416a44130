package roster

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/bundle"
)

// ShareRig gives the files of looms of a rig, of all if none is named: their knots, and the
// profiles that those name with the parents of these, for bundle.Write. left are the
// profiles that cannot be in a bundle: those that are not there, or no Markdown file of the
// folder profiles of the rig or the workspace.
func (a *App) ShareRig(ctx context.Context, name string, looms ...string) (files []bundle.File, left []string, err error) {
	r, err := a.Rig(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(a.Dir())
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, one := range looms {
		if !slices.ContainsFunc(r.Looms, func(l rig.Loom) bool { return l.Name == one }) {
			return nil, nil, fmt.Errorf("%s has no loom %q: roster rig list names them", name, one)
		}
	}
	paths, left := map[string]bool{}, []string{}
	for _, l := range r.Looms {
		if len(looms) > 0 && !slices.Contains(looms, l.Name) {
			continue
		}
		for _, f := range l.Files {
			paths[f.Path] = true
			if f.Knot == nil || f.Knot.Agent.Ref == "" {
				continue
			}
			for ref, file := range a.profileFiles(f.Knot.Agent.Ref) {
				if _, ok := bundle.Of(name, file); ok {
					paths[file] = true
				} else if !slices.Contains(left, ref) {
					left = append(left, ref)
				}
			}
		}
	}
	for p := range paths {
		in, ok := bundle.Of(name, p)
		if !ok {
			return nil, nil, fmt.Errorf("%s cannot be shared: its name is no plain one", p)
		}
		data, err := bundle.Load(root, p)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, bundle.File{Path: in, Data: data})
	}
	slices.Sort(left)
	return files, left, nil
}

// profileFiles are the files of a profile and of its parents, by name; empty where there is
// none.
func (a *App) profileFiles(name string) map[string]string {
	p, err := a.Catalog().Get(name)
	if err != nil {
		return map[string]string{name: ""}
	}
	files := map[string]string{}
	for _, one := range append([]*profile.Profile{p}, p.Parents...) {
		files[one.Name] = one.File
	}
	return files
}

// ImportRig adds the files of a bundle to the workspace as those of a rig, which may be
// there. It overwrites nothing (*bundle.DiffersError).
func (a *App) ImportRig(name string, files []bundle.File) ([]bundle.Made, error) {
	root, err := os.OpenRoot(a.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return bundle.Import(root, name, files)
}
