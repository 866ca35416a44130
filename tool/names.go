package tool

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/permission"
)

// FileNames lists files of a workspace by their paths, with slashes, as the tool glob finds
// them: without what .gitignore names, what may not be read, and what links to a folder
// lead to. fits says of a path whether it is wanted; it is called from several goroutines.
// The newest come first, at most so many; more says that there are others. Where ctx ends
// first, the error is its own, and what was found until then is given.
func FileNames(ctx context.Context, env Env, permit *permission.Engine, fits func(path string) bool, most int) (paths []string, more bool, err error) {
	w, err := newWorkspace(env)
	if err != nil {
		return nil, false, err
	}
	p, err := w.prepareSearch("glob", "", Call{Permit: permit})
	if err != nil {
		return nil, false, err
	}
	p.search.links = true
	p.search.match, p.search.found.keep = fits, most
	err = p.find(ctx)
	found := &p.search.found
	for _, f := range found.files {
		paths = append(paths, f.subject)
	}
	return paths, found.total > len(paths) || p.search.cut, errors.Join(err, p.Close())
}
