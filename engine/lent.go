package engine

import (
	"slices"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
)

// lends are the rules that a loop has for a while, compiled, and of what.
type lends struct {
	of    []*session.Lent
	rules *permission.Lent
}

// lent gives the rules that the loop has for a while; nil: none. One that cannot be
// understood has no effect: it would only have allowed something.
func (r *run) lent() *permission.Lent {
	now := r.s.Loop.Lent
	if !slices.Equal(r.lends.of, now) {
		r.lends = lends{of: now}
		if rules := lentRules(now); len(rules) > 0 {
			r.lends.rules, _ = permission.CompileLent(rules)
		}
	}
	return r.lends.rules
}

func lentRules(list []*session.Lent) (rules []permission.Rule) {
	for _, l := range list {
		for _, x := range l.Rules {
			if x.Effect == permission.Allow.String() {
				rules = append(rules, permission.Rule{
					Tool: x.Tool, Subject: x.Subject, Effect: permission.Allow,
					At: source.Origin{Layer: source.Layer(x.Layer), File: x.File, Line: x.Line},
				})
			}
		}
	}
	return rules
}
