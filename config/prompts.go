package config

import (
	"slices"

	"github.com/rosterrun/roster/prompt"
)

// prompt reads a prompt that has a name.
func (s section) prompt(it item) {
	in, problems := prompt.ReadInstance(s.file, s.layer, it.key, it.node)
	s.problems(problems)
	list := &s.cfg.Prompts.Instances
	*list = append(slices.DeleteFunc(*list, func(p prompt.Instance) bool { return p.Name == in.Name }), in)
}

// strategy reads a template of prompts.
func (s section) strategy(it item) {
	for _, b := range prompt.Builtin() {
		if b.Name == it.key {
			s.notAllowed(it, "%s is built in; give yours another name", it.path)
			return
		}
	}
	t, problems := prompt.ReadTemplate(s.file, s.layer, it.key, it.node)
	s.problems(problems)
	list := &s.cfg.Prompts.Templates
	*list = append(slices.DeleteFunc(*list, func(p prompt.Template) bool { return p.Name == t.Name }), t)
}

func (s section) problems(problems []*prompt.Problem) {
	for _, p := range problems {
		s.report(CodeNotAllowed, p.At, p.Key, p.Key+": "+p.Message, "")
	}
}
