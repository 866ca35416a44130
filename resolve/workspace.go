package resolve

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// workspace finds the directory that tools work in: inside of the workspace's
// root or, with `worktree`, of a tree that the session has for itself.
func (r *resolver) workspace() {
	dir := pick(r, "workspace", func(p *profile.Profile) profile.Value[string] { return p.Workspace })
	if r.in.Workspace != "" {
		trace := r.out.Origins["workspace"]
		if dir.Set {
			trace.Overrode = append(trace.Overrode, trace.Origin)
		}
		dir = profile.Value[string]{V: r.in.Workspace, Set: true, At: source.Origin{Layer: source.Flag}}
		trace.Origin = dir.At
		r.out.Origins["workspace"] = trace
	} else if dir = r.variables("workspace", dir); r.err != nil {
		return
	}
	top := r.in.Config.Dir
	own := dir.V == spec.InWorktree
	if own {
		dir = r.belowWorktree()
	}
	switch t := r.in.Worktree; {
	case t != nil && !(own && r.in.Shared):
		r.out.Worktree, top = t, t.Root
	case own:
		r.out.Worktree = &spec.Worktree{}
	}
	r.within(top, dir)
}

// belowWorktree is the folder that weaker layers name: it is that of the tree.
func (r *resolver) belowWorktree() profile.Value[string] {
	return strongest(r.layers, func(p *profile.Profile) profile.Value[string] {
		if p.Workspace.V == spec.InWorktree {
			return profile.Value[string]{}
		}
		return p.Workspace
	})
}

// within makes a directory below top the one that tools work in.
func (r *resolver) within(top string, dir profile.Value[string]) {
	rel := dir.V
	if filepath.IsAbs(rel) {
		if below, err := filepath.Rel(r.in.Config.Dir, rel); err == nil {
			rel = below
		}
	}
	rel = cmp.Or(rel, ".")
	if !filepath.IsLocal(rel) {
		r.fail("workspace", dir.At, fmt.Sprintf("%s is outside of %s", dir.V, top), "name a directory in the workspace")
		return
	}
	root := r.root
	if top != r.in.Config.Dir {
		var err error
		if root, err = os.OpenRoot(top); err != nil {
			r.fail("workspace", dir.At, err.Error(), "the worktree of the session is gone")
			return
		}
		defer root.Close()
	}
	info, err := root.Stat(rel)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", rel)
	}
	if err != nil {
		r.fail("workspace", dir.At, err.Error(), "name a directory that is in the workspace")
		return
	}
	r.out.Workspace = filepath.Join(top, rel)
}
