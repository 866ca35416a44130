package resolve

import (
	"fmt"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// counts says whether what a layer allows counts: not of a workspace that nobody
// has trusted, and not of a request.
func (r *resolver) counts(layer int) bool {
	return (r.asked == 0 || layer != r.asked) && r.trusts(layer)
}

// trusts says the same of workspaces alone.
func (r *resolver) trusts(layer int) bool {
	l := r.layers[layer]
	return r.in.Trust.Workspace() || !l.Workspace && (layer < r.own || r.in.Trust.Own(l.Keys.File))
}

// defaultPermission takes the effect that holds where no rule matches. An allow
// that does not count is passed over for what counts, and is to ask at most.
func (r *resolver) defaultPermission() {
	get := func(p *profile.Profile) profile.Value[permission.Effect] { return p.DefaultPermission }
	v := pick(r, "default-permission", get)
	if v.V == permission.Allow && !r.trusts(r.won["default-permission"]) {
		v.V = permission.Ask
		for i, l := range r.layers {
			if own := get(l.Keys); own.Set && r.trusts(i) {
				v.V = own.V
			}
		}
	}
	r.out.DefaultPermission = v.V
}

// cautious says once that allow rules count as ask.
func (r *resolver) cautious() {
	n, first := 0, permission.Rule{}
	for _, rule := range r.out.Rules {
		if rule.Untrusted && rule.At.Layer != source.Override && permission.Beyond(rule, r.out.Rules) {
			if n++; n == 1 {
				first = rule
			}
		}
	}
	if n == 0 {
		return
	}
	what := "an allow rule counts as ask"
	if n > 1 {
		what = fmt.Sprintf("%d allow rules count as ask", n)
	}
	r.note(CodeAllow, profile.SeverityWarning, first.At, "permission", what+": nobody has trusted the workspace", trust.Remedy)
}
