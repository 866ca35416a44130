package roster

import (
	"context"
	"slices"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool/skill"
)

// SkillList lists the skills, and what is wrong with files of such. With a profile it
// is those that the profile may use.
func (a *App) SkillList(ctx context.Context, name string) ([]view.Skill, []profile.Diagnostic, error) {
	s := a.now()
	all := s.skills.Snapshot()
	ds := all.Diagnostics()
	var of []string
	if name != "" {
		sp, more, err := a.Resolve(ctx, name, session.Overrides{})
		if err != nil {
			return nil, nil, err
		}
		ds = more
		for _, x := range sp.Skills {
			of = append(of, x.Name)
		}
	}
	out := []view.Skill{}
	for _, x := range all.List() {
		if name == "" || slices.Contains(of, x.Name) {
			out = append(out, s.viewSkill(x))
		}
	}
	return out, ds, nil
}

// Skill is one skill with its text and its files. The error is a *skill.NotFoundError,
// or why its file cannot be read.
func (a *App) Skill(name string) (view.Skill, error) {
	s := a.now()
	all := s.skills.Snapshot()
	x, err := all.Get(name)
	if err != nil {
		return view.Skill{}, err
	}
	v := s.viewSkill(x)
	if v.Body, v.Text, v.Revision, err = x.Whole(); err != nil {
		return v, err
	}
	v.Files, v.FileCount = x.Files()
	for _, f := range all.Files() {
		if f.Skill == x {
			v.Diagnostics = f.Problems
		}
	}
	return v, nil
}

func (s *setup) viewSkill(x *skill.Skill) view.Skill {
	v := view.Skill{
		Name: x.Name, Description: x.Description, File: x.File, Folder: x.Dir, Called: x.Called, OnlyUser: x.OnlyUser, OnlyModel: x.OnlyModel,
		ArgumentHint: x.ArgumentHint, License: x.License, Compatibility: x.Compatibility,
		Inert: len(x.Allowed) > 0 && !s.allowedCount(x),
	}
	switch {
	case x.Layer == source.Builtin:
		v.Source = "builtin"
	case x.Own:
		v.Source = "user"
	default:
		v.Source = "workspace"
	}
	for _, r := range x.Allowed {
		text := r.Tool
		if r.Subject != "*" {
			text += "(" + r.Subject + ")"
		}
		v.AllowedTools = append(v.AllowedTools, text)
	}
	return v
}

// CheckSkills reports on the skills of the workspace or, with paths, on those below
// them.
func (a *App) CheckSkills(paths ...string) (*catalog.Report, error) {
	places := a.now().skillPlaces
	if len(paths) > 0 {
		places = nil
		for _, p := range paths {
			place, err := skill.At(p)
			if err != nil {
				return nil, err
			}
			places = append(places, place)
		}
	}
	s := skill.Check(a.dir, places)
	r := &catalog.Report{Files: []catalog.FileReport{}}
	add := func(f catalog.FileReport) {
		if f.Diagnostics == nil {
			f.Diagnostics = []profile.Diagnostic{}
		}
		for _, d := range f.Diagnostics {
			if d.Severity == profile.SeverityWarning {
				r.Summary.Warnings++
			}
		}
		switch f.Status {
		case catalog.Refused:
			r.Summary.Refused++
		case catalog.Ignored:
			r.Summary.Ignored++
		default:
			r.Summary.Loaded++
		}
		r.Files = append(r.Files, f)
	}
	for _, f := range s.Files() {
		report := catalog.FileReport{Path: f.File, Status: catalog.Refused, Diagnostics: f.Problems}
		if f.Skill != nil {
			report.Status, report.Name = catalog.Loaded, f.Skill.Name
		}
		add(report)
	}
	for _, d := range s.Places() {
		f := catalog.FileReport{Path: d.File, Status: catalog.Ignored, Diagnostics: []profile.Diagnostic{d}}
		if d.Severity == profile.SeverityError {
			f.Status = catalog.Refused
		}
		add(f)
	}
	return r, nil
}
