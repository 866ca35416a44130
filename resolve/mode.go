package resolve

import (
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// mode takes the permission mode. Nothing that a file says lets everything run
// unasked, and a workspace that nobody has trusted can only restrict.
func (r *resolver) mode() {
	get := func(p *profile.Profile) profile.Value[string] { return p.PermissionMode }
	v := pick(r, "permission-mode", get)
	if !r.trusts(r.won["permission-mode"]) {
		own := permission.ModeDefault.String()
		for i, l := range r.layers {
			if v := get(l.Keys); v.Set && r.trusts(i) {
				own = v.V
			}
		}
		if lax(v.V) || restricts(own) {
			v.V = own
		}
	}
	mode, err := permission.ParseMode(v.V)
	if err != nil {
		r.fail("permission-mode", v.At, err.Error(), "")
		return
	}
	if mode == permission.ModeBypass && !r.in.AllowAll {
		const hint = "give --dangerously-allow-all, or choose another mode"
		switch v.At.Layer {
		case source.Session, source.Override, source.Flag:
			r.fail("permission-mode", v.At, "bypass runs everything unasked, which has to be asked for expressly", hint)
			return
		}
		mode = permission.ModeDefault
		r.ds = append(r.ds, profile.Diagnose(profile.CodeBypass, v.At, "permission-mode",
			"bypass has no effect here: what would be asked for is asked for", hint))
	}
	r.out.PermissionMode = mode
}

func lax(mode string) bool {
	return mode == permission.ModeAcceptEdits.String() || mode == permission.ModeBypass.String()
}

func restricts(mode string) bool {
	return mode == permission.ModePlan.String() || mode == permission.ModeDontAsk.String()
}
