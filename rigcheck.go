package roster

import (
	"context"
	"strings"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/graph"
)

// CheckRig reports on the files of a rig, each knot with what is wrong with it.
func (a *App) CheckRig(ctx context.Context, name string) (view.Report, error) {
	report := view.Report{Files: []view.Checked{}}
	r, err := a.Rig(ctx, name)
	if err != nil {
		return report, err
	}
	for _, d := range r.Problems {
		report.Add(view.Checked{Path: d.File, Status: catalog.Refused, Diagnostics: []profile.Diagnostic{d}})
	}
	for _, l := range r.Looms {
		for _, f := range l.Files {
			report.Add(a.checkKnot(l.Name, f))
		}
	}
	return report, nil
}

func (a *App) checkKnot(loom string, f rig.File) view.Checked {
	c := view.Checked{Path: f.Path, Status: catalog.Loaded, Diagnostics: append([]profile.Diagnostic{}, f.Diagnostics...)}
	if f.Name != "" {
		c.Name = loom + "/" + f.Name
	}
	if f.Knot == nil {
		c.Status = catalog.Refused
		return c
	}
	if err := a.withoutProfile(f.Knot); err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		c.Diagnostics = append(c.Diagnostics, profile.Diagnose(profile.CodeNotLoaded, f.Knot.Agent.At, "agent-profile-ref", message,
			"its strands wait until the profile is there; roster list shows those that are"))
	}
	return c
}

// withoutProfile says why the profile that a knot names is not to be had; nil: it is, or
// the knot names none.
func (a *App) withoutProfile(k *rig.Knot) error {
	if k.Agent.Ref == "" {
		return nil
	}
	_, err := a.Catalog().Get(k.Agent.Ref)
	return err
}

// RigFiles lists the knots of a rig as its files are, without their jobs.
func (a *App) RigFiles(ctx context.Context, name string) (view.Rig, error) {
	r, err := a.Rig(ctx, name)
	if err != nil {
		return view.Rig{}, err
	}
	return a.viewRig(r, nil, nil), nil
}

// RigGraph draws a rig: what starts which knot, and where it writes.
func (a *App) RigGraph(ctx context.Context, name string) (*graph.Graph, error) {
	r, err := a.Rig(ctx, name)
	if err != nil {
		return nil, err
	}
	return graph.New(r), nil
}
