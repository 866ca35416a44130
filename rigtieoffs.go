package roster

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/tieoff"
)

// TieOffQuery narrows a list of answers. The zero one lists those of all knots.
type TieOffQuery struct {
	Knot    string // LOOM/NAME, or a name that only one knot has; empty: all
	Limit   int    // 0: 100
	Answers bool   // give the answers too, and not only what is known of them
}

// RigTieOffs lists the answers of the knots of a rig, the newest first. The answers of a
// knot that is gone are listed as long as their file is there. A knot that neither is
// there nor has answers is a *rig.NotFoundError.
func (a *App) RigTieOffs(ctx context.Context, name string, q TieOffQuery) (view.TieOffs, error) {
	out := view.TieOffs{Rig: name, Sections: []view.TieOff{}, Problems: []string{}}
	root, err := a.rigRoot(name)
	if err != nil {
		return out, err
	}
	defer root.Close()
	entries, err := tieoff.List(root)
	if err == nil && q.Knot != "" {
		entries, err = a.ofKnot(ctx, name, q.Knot, entries)
	}
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		sections, problems, err := tieoff.Read(root, e.File)
		if errors.Is(err, fs.ErrNotExist) { // it was there just now
			continue
		}
		if err != nil {
			return out, err
		}
		for i := range sections {
			out.Sections = append(out.Sections, view.NewTieOff(e, &sections[len(sections)-1-i], q.Answers))
		}
		for _, p := range problems {
			out.Problems = append(out.Problems, e.File+": "+p.String())
		}
		out.Sections = newest(out.Sections, cmp.Or(q.Limit, 100))
	}
	return out, nil
}

// newest are the first sections by time, those without one last; where the times are the
// same they stay in their order.
func newest(sections []view.TieOff, limit int) []view.TieOff {
	slices.SortStableFunc(sections, func(x, y view.TieOff) int {
		switch {
		case x.Time == nil && y.Time == nil:
			return 0
		case x.Time == nil:
			return 1
		case y.Time == nil:
			return -1
		}
		return y.Time.Compare(*x.Time)
	})
	return sections[:min(limit, len(sections))]
}

// ofKnot are the tie-offs of the knot that has a name.
func (a *App) ofKnot(ctx context.Context, rigName, knot string, entries []tieoff.Entry) ([]tieoff.Entry, error) {
	of := slices.DeleteFunc(slices.Clone(entries), func(e tieoff.Entry) bool { return e.ID() != knot && e.Knot != knot })
	if len(of) == 1 {
		return of, nil
	}
	r, err := a.Rig(ctx, rigName)
	if err != nil {
		return nil, err
	}
	k, err := r.Knot(knot)
	if err != nil {
		if e := (*rig.NotFoundError)(nil); errors.As(err, &e) && len(of) > 0 {
			e.Several = nil
			for _, one := range of {
				e.Several = append(e.Several, one.ID())
			}
		}
		return nil, err
	}
	return slices.DeleteFunc(of, func(e tieoff.Entry) bool { return e.ID() != k.ID() }), nil
}

// rigRoot opens the folder of a rig.
func (a *App) rigRoot(name string) (*os.Root, error) {
	if err := rig.Lookup(a.Dir(), name); err != nil {
		return nil, err
	}
	return os.OpenRoot(filepath.Join(a.Dir(), name))
}
