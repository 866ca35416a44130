package resolve

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

// DefaultSkillsBudget is how many tokens the index of skills has, at most.
const DefaultSkillsBudget = 6000

// skillsShare is the least that the model's window is larger than the index.
const skillsShare = 10

// bytesPerToken is what a token has, as far as one can tell without the model.
const bytesPerToken = 4

// skillTool is the tool by which an agent reads a skill.
const skillTool = "skill"

// skills finds which skills the agent may use, and tells the model of them. Who is
// not offered the tool has none.
func (r *resolver) skills() {
	want := r.skillNames()
	r.skillsBudget()
	if r.err != nil {
		return
	}
	var permit *permission.Engine
	offered := r.out.AllTools || slices.Contains(r.out.Tools, skillTool)
	if offered && r.in.Skills != nil {
		if permit, r.err = r.out.Permit(false); r.err != nil {
			return
		}
		offered = permit.Offered(skillTool)
	}
	if !offered {
		if want.Set && len(want.V) > 0 {
			r.note(profile.CodeSkillsUnoffered, profile.SeverityWarning, want.At, "skills", "skills are named, and the tool skill is not offered: they have no effect",
				"list skill under tools, and allow it")
		}
		return
	}
	if r.in.Skills == nil || want.Set && len(want.V) == 0 {
		return
	}
	all := r.in.Skills()
	r.missing(want, all)
	for _, s := range all {
		if wanted(want, &s) && permit.Decide(permission.Query{Tool: skillTool, Subject: s.Name}).Effect != permission.Deny {
			r.out.Skills = append(r.out.Skills, s)
		}
	}
	r.inertSkills()
	r.skillIndex()
}

// skillNames are the names, or patterns of them, that the profile has skills of; not
// set: all.
func (r *resolver) skillNames() profile.Value[[]string] {
	return pick(r, "skills", func(p *profile.Profile) profile.Value[[]string] {
		x, ok := kept(p, "skills")
		if !ok || r.err != nil {
			return profile.Value[[]string]{}
		}
		n, err := x.Node()
		var list []string
		if err == nil && n.Tag == "!!null" {
			return profile.Value[[]string]{}
		}
		if err == nil {
			list, err = names(n)
		}
		if err != nil {
			r.fail("skills", x.At, err.Error(), "write a list of names; [] is none")
		}
		return profile.Value[[]string]{V: list, Set: err == nil, At: x.At}
	})
}

func (r *resolver) skillsBudget() {
	v := pick(r, "skills-budget", func(p *profile.Profile) profile.Value[int] {
		x, ok := kept(p, "skills-budget")
		if !ok || r.err != nil {
			return profile.Value[int]{}
		}
		n, err := x.Node()
		tokens := 0
		if err == nil {
			tokens, err = strconv.Atoi(n.Value)
		}
		if err == nil && tokens < 1 {
			err = fmt.Errorf("it is %d", tokens)
		}
		if err != nil {
			r.fail("skills-budget", x.At, err.Error(), "write how many tokens the list of skills may have, 1 or more")
		}
		return profile.Value[int]{V: tokens, Set: err == nil, At: x.At}
	})
	tokens := cmp.Or(v.V, DefaultSkillsBudget)
	if window := r.out.Model.ContextWindow; window > 0 && !v.Set {
		tokens = min(tokens, window/skillsShare)
	}
	r.out.SkillsBudget = tokens
}

// wanted says whether a skill is one of those that the profile names.
func wanted(want profile.Value[[]string], s *spec.Skill) bool {
	if !want.Set {
		return !s.OnlyNamed
	}
	return slices.ContainsFunc(want.V, func(pattern string) bool {
		ok, err := path.Match(pattern, s.Name)
		return pattern == s.Name || err == nil && ok
	})
}

// missing says which names are nobody's.
func (r *resolver) missing(want profile.Value[[]string], all []spec.Skill) {
	for _, name := range want.V {
		one := profile.Value[[]string]{V: []string{name}, Set: true}
		if slices.ContainsFunc(all, func(s spec.Skill) bool { return wanted(one, &s) }) {
			continue
		}
		near := make([]string, len(all))
		for i := range all {
			near[i] = all[i].Name
		}
		hint := "roster skills list has those that there are"
		if near = profile.Nearest(name, near, 1); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		r.note(profile.CodeNoSkill, profile.SeverityWarning, want.At, "skills", fmt.Sprintf("there is no skill %q", name), hint)
	}
}

// inertSkills says whose allowed-tools have no effect.
func (r *resolver) inertSkills() {
	var list []string
	var first *spec.Skill
	for i := range r.out.Skills {
		if s := &r.out.Skills[i]; s.Inert {
			if list = append(list, s.Name); first == nil {
				first = s
			}
		}
	}
	if first == nil {
		return
	}
	who := strings.Join(list[:min(len(list), 5)], ", ")
	if more := len(list) - 5; more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	r.note(profile.CodeExecuting, profile.SeverityWarning, source.Origin{File: first.File}, "allowed-tools",
		"allowed-tools of skills have no effect, for nobody has trusted the workspace: "+who, trust.Remedy)
}

// skillIndex tells the model of the skills.
func (r *resolver) skillIndex() {
	r.set(spec.Index, source.Origin{Layer: source.Builtin})
	if len(r.out.Skills) == 0 {
		return
	}
	lines := make([]prompt.SkillLine, len(r.out.Skills))
	for i, s := range r.out.Skills {
		lines[i] = prompt.SkillLine{Name: s.Name, Description: s.Description, Last: s.Layer == source.Builtin || s.Layer == source.User}
		if s.Dir != "" {
			lines[i].Folder = filepath.Dir(filepath.Dir(s.File))
		}
	}
	budget := r.out.SkillsBudget
	x := prompt.NewSkillIndex(lines, budget*bytesPerToken)
	at := r.out.Origins["skills-budget"].Origin
	if at.File == "" {
		at = source.Origin{Layer: at.Layer, File: r.in.Profile.File}
	}
	how := fmt.Sprintf("raise skills-budget (%d tokens now), or name fewer under skills", budget)
	switch {
	case len(x.Left) > 0:
		r.note(profile.CodeSkillsCut, profile.SeverityWarning, at, "skills-budget",
			fmt.Sprintf("of %d skills %d are not listed, and the others without descriptions: %s", len(lines), len(x.Left), some(x.Left)), how)
	case x.Shortened == 0:
		r.note(profile.CodeSkillsCut, profile.SeverityWarning, at, "skills-budget", fmt.Sprintf("%d skills are listed without their descriptions", len(lines)), how)
	case x.Shortened > 0:
		r.note(profile.CodeSkillsCut, profile.SeverityNote, at, "skills-budget", fmt.Sprintf("the descriptions of %d skills are cut to %d characters", len(lines), x.Shortened), how)
	}
	layer := spec.Layer{Name: spec.Index, Text: x.Text}
	i := slices.IndexFunc(r.out.Prompt, func(l spec.Layer) bool { return l.Name == spec.Memory || l.Name == spec.Environment })
	if i < 0 {
		i = len(r.out.Prompt)
	}
	r.out.Prompt = slices.Insert(r.out.Prompt, i, layer)
}

// some are the first of a list.
func some(list []string) string {
	text := strings.Join(list[:min(len(list), 10)], ", ")
	if more := len(list) - 10; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
