package roster

import (
	"testing"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

// TestNarrow: a loop that is taken up obeys what is trusted then. It is never
// allowed more than when it began.
func TestNarrow(t *testing.T) {
	began := &spec.Spec{Trusted: true, PermissionMode: permission.ModeAcceptEdits, DefaultPermission: permission.Allow, Rules: []permission.Rule{
		{Tool: "read", Subject: "*", Effect: permission.Allow, At: source.Origin{Layer: source.Builtin}},
		{Tool: "bash", Subject: "*", Effect: permission.Allow, At: source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 3}},
		{Tool: "edit", Subject: "*", Effect: permission.Allow, At: source.Origin{Layer: source.User, File: "/home/u/.config/roster/roster.yaml", Line: 1}},
		{Tool: "write", Subject: "*", Effect: permission.Allow, Untrusted: true, At: source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 4}},
	}}
	untrusted, err := trust.Files{Home: "/home/u/.config/roster"}.View("/ws")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		view      trust.View
		marked    []bool
		byDefault permission.Effect
	}{
		{"revoked", untrusted, []bool{false, true, false, true}, permission.Ask},
		{"still trusted", trust.Everything(), []bool{false, false, false, true}, permission.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := narrow(began, c.view, config.Policy{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range got.Rules {
				if r.Untrusted != c.marked[i] {
					t.Errorf("%s: marked %v", r.Tool, r.Untrusted)
				}
			}
			if (got.PermissionMode == permission.ModeDefault) != (c.byDefault == permission.Ask) {
				t.Errorf("mode %s", got.PermissionMode)
			}
			if got.DefaultPermission != c.byDefault || began.Rules[1].Untrusted {
				t.Errorf("default %s, and the stored spec is %+v", got.DefaultPermission, began)
			}
		})
	}
}
