package roster

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/skill"
)

// Skills are the skills that the workspace sees, at this moment.
func (a *App) Skills() *skill.Snapshot { return a.now().skills.Snapshot() }

// skillPlaces lists where the skills of a configuration are.
func (a *App) skillPlaces(cfg *config.Config) []skill.Place {
	places := skill.Standard(a.opts.Getenv("HOME"), cfg.Home, cfg.Dir)
	for _, f := range cfg.Skills {
		places = append(places, skill.Further(f.V, cfg.Dir, f.At.Layer == source.User, f.At))
	}
	return places
}

// furnishSkills makes the library of skills, unless it is at the same places as before.
func (a *App) furnishSkills(s *setup, cfg *config.Config) {
	places := a.skillPlaces(cfg)
	if s.skills != nil && slices.Equal(places, s.skillPlaces) {
		return
	}
	s.skills, s.skillPlaces = skill.Open(cfg.Dir, places), places
}

// modelSkills keeps what the skills come to under what the user trusts.
type modelSkills struct {
	mu   sync.Mutex
	of   *skill.Snapshot
	list []spec.Skill
}

// forModels lists the skills of a moment that models may call.
func (s *setup) forModels(all *skill.Snapshot) []spec.Skill {
	m := s.modelSkills
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == all {
		return m.list
	}
	m.of, m.list = all, make([]spec.Skill, 0, len(all.List()))
	for _, x := range all.List() {
		if x.OnlyUser {
			continue
		}
		out := spec.Skill{
			Name: x.Name, Description: x.Description, File: x.File, Dir: x.Dir, Layer: x.Layer, Own: x.Own, OnlyNamed: x.Layer == source.Builtin,
		}
		if s.allowedCount(x) {
			out.Allowed = x.Allowed
		} else {
			out.Inert = len(x.Allowed) > 0
		}
		m.list = append(m.list, out)
	}
	return m.list
}

// allowedCount says whether the allowed-tools of a skill have an effect: the user's
// own do, and those of a workspace that is trusted.
func (s *setup) allowedCount(x *skill.Skill) bool { return x.Own || s.view.Workspace() }

// skillTool is the tool skill for a spec. A skill that is not there any more, or lies
// elsewhere now, is not known to it.
func (a *App) skillTool(s *spec.Spec) tool.Tool {
	var uses []skill.Use
	if len(s.Skills) > 0 {
		all := a.Skills()
		for _, x := range s.Skills {
			if found, err := all.Get(x.Name); err == nil && found.Dir == x.Dir {
				uses = append(uses, skill.Use{Skill: found, Allowed: x.Allowed})
			}
		}
	}
	return skill.New(s.Workspace, uses, s.ToolSettings[skill.Name])
}

// maxSkillFolders bounds how many folders of skills a box is told of one by one.
const maxSkillFolders = 32

// skillFolders are those of a spec's skills that are outside of where it works, for
// its commands to read. What commands never reach stays out of reach.
func (a *App) skillFolders(s *spec.Spec, hidden []string) []string {
	var out []string
	for _, x := range s.Skills {
		if x.Dir != "" && !isWithin(s.Workspace, x.Dir) && sandbox.Apart(x.Dir, hidden) {
			out = append(out, x.Dir)
		}
	}
	if len(out) <= maxSkillFolders {
		return out
	}
	places := a.now().skills.Places()
	for i, dir := range out {
		if in := slices.IndexFunc(places, func(p string) bool { return isWithin(p, dir) && sandbox.Apart(p, hidden) }); in >= 0 {
			out[i] = places[in]
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), 2*maxSkillFolders)]
}

func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// skillAllows are the rules in the allowed-tools of the workspace's skills that allow
// more than others do.
func (s *setup) skillAllows(others []permission.Rule) (out []permission.Rule) {
	for _, x := range s.skills.Snapshot().List() {
		if x.Own {
			continue
		}
		for _, r := range x.Allowed {
			if permission.Beyond(r, others) {
				out = append(out, r)
			}
		}
	}
	return out
}
