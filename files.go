package roster

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Bounds of a search for the names of files.
const (
	filesTime   = 2 * time.Second
	filesLooked = 1000 // of which the best are taken
)

// Files lists files of the workspace whose paths have the letters of part in their
// order, those first whose names fit best, at most limit. It leaves out what git ignores
// and what nobody may read without being allowed to. After two seconds it gives what was
// found until then.
func (a *App) Files(ctx context.Context, part string, limit int) (host.Files, error) {
	s := a.now()
	in := a.input(s, &profile.Profile{Name: "files", Dialect: "code"}, session.Overrides{})
	in.RulesOnly = true
	rules, _, err := resolve.Spec(in)
	if err != nil {
		return host.Files{}, err
	}
	permit, err := rules.Permit(false)
	if err != nil {
		return host.Files{}, err
	}
	others, err := a.othersPlaces(ctx)
	if err != nil {
		return host.Files{}, err
	}
	part = strings.ToLower(part)
	fits := func(p string) bool {
		return fit(p, part) < noFit && !slices.ContainsFunc(others, func(d string) bool { return d == "." || strings.HasPrefix(p, d+"/") })
	}
	timed, cancel := context.WithTimeout(ctx, filesTime)
	defer cancel()
	paths, more, err := tool.FileNames(timed, a.env(rules), permit, fits, filesLooked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		more, err = true, nil
	}
	slices.SortStableFunc(paths, func(x, y string) int { return fit(x, part) - fit(y, part) })
	if len(paths) > limit {
		paths, more = paths[:limit], true
	}
	return host.Files{Files: append([]string{}, paths...), More: more}, err
}

// othersPlaces are the folders of rigs, and those that their knots watch, where the
// request is of a tenant who may not know of them.
func (a *App) othersPlaces(ctx context.Context) (dirs []string, err error) {
	if identity.From(ctx).Tenant == a.ownTenant() {
		return nil, nil
	}
	names, err := a.Rigs()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r, err := a.Rig(ctx, name)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, name)
		for _, k := range r.Knots() {
			if dir := k.Input.V.Dir; dir != "" {
				dirs = append(dirs, path.Clean(dir))
			}
		}
	}
	return dirs, nil
}

// noFit is how badly a path fits that does not.
const noFit = 4

// fit says how well a path fits a part in lower case: the less, the better.
func fit(p, part string) int {
	p = strings.ToLower(p)
	switch name := path.Base(p); {
	case strings.HasPrefix(name, part):
		return 0
	case strings.Contains(name, part):
		return 1
	case strings.Contains(p, part):
		return 2
	}
	rest := p
	for _, r := range part {
		_, after, ok := strings.Cut(rest, string(r))
		if !ok {
			return noFit
		}
		rest = after
	}
	return 3
}
