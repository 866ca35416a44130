package profile

import (
	"fmt"
	"slices"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// ShadowedDenies notes each deny, of the profile or of a parent, that a later
// rule takes the place of for all that it names. The note stands at the deny or,
// when that is in a parent's file, at the rule of this profile.
func (p *Profile) ShadowedDenies() []Diagnostic {
	rules := p.Permission
	for _, parent := range slices.Backward(p.Parents) {
		rules = slices.Concat(parent.Permission, rules)
	}
	var out []Diagnostic
	said := map[[2]source.Origin]bool{}
	for _, s := range permission.Shadowed(rules) {
		places := [2]source.Origin{s.Deny.At, s.By.At}
		if said[places] { // a rule may stand for several tools
			continue
		}
		said[places] = true
		switch {
		case s.Deny.At.File == p.File:
			out = append(out, Diagnose(CodeShadowedDeny, s.Deny.At, "permission",
				fmt.Sprintf("%s never decides: %s in %s comes later and covers all that it names", rule(s.Deny), rule(s.By), s.By.At), "write the deny below it"))
		case s.By.At.File == p.File:
			out = append(out, Diagnose(CodeShadowedDeny, s.By.At, "permission",
				fmt.Sprintf("%s covers all that %s in %s names, so that the deny of the parent never decides", rule(s.By), rule(s.Deny), s.Deny.At), "narrow the rule, or write the deny again below it"))
		}
	}
	return out
}

// LaunchingAllows notes each rule of the profile's own by which command lines
// may do more than the rule names.
func (p *Profile) LaunchingAllows() []Diagnostic {
	var out []Diagnostic
	var last source.Origin
	for _, l := range permission.Launches(p.Permission) {
		if l.Rule.At == last { // a rule may stand for several tools
			continue
		}
		last = l.Rule.At
		message, hint := rule(l.Rule)+" covers every command line, also what is not known before it runs", "name the commands that may run unasked"
		if l.Name != "" {
			message = fmt.Sprintf("%s covers %s, which runs what it is given: so it allows more than it names", rule(l.Rule), l.Name)
			hint = "write out what it may be given, or ask"
		}
		out = append(out, Diagnose(CodeLaunches, l.Rule.At, "permission", message, hint))
	}
	return out
}

func rule(r permission.Rule) string { return fmt.Sprintf("%s %q %s", r.Tool, r.Subject, r.Effect) }
