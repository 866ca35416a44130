package identity_test

import (
	"context"
	"testing"

	"github.com/rosterrun/roster/identity"
)

func TestMay(t *testing.T) {
	all := identity.Viewer | identity.Runner | identity.Approver | identity.Editor | identity.Admin
	for _, c := range []struct {
		has, needs identity.Role
		want       bool
	}{
		{0, 0, true},
		{0, identity.Viewer, false},
		{identity.Viewer, identity.Viewer, true},
		{identity.Viewer, identity.Runner, false},
		{identity.Runner, identity.Viewer, true},
		{identity.Runner, identity.Editor, false},
		{identity.Runner, identity.Runner | identity.Approver, true},
		{identity.Editor, identity.Runner | identity.Approver, false},
		{identity.Admin, identity.Editor, true},
		{identity.Editor, identity.Admin, false},
		{all, identity.Admin, true},
	} {
		if got := (identity.Caller{Roles: c.has}).May(c.needs); got != c.want {
			t.Errorf("who is %q may what needs %q: %v", c.has, c.needs, got)
		}
	}
}

func TestParseRoles(t *testing.T) {
	got, err := identity.ParseRoles("runner, approver")
	if err != nil || got != identity.Runner|identity.Approver || got.String() != "runner,approver" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "root", "runner,", "Admin"} {
		if got, err := identity.ParseRoles(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestFrom(t *testing.T) {
	if c := identity.From(t.Context()); c != identity.Local() {
		t.Errorf("without a caller it is %+v", c)
	}
	want := identity.Caller{Tenant: "acme", User: "ann", Key: "k1", Roles: identity.Runner}
	if got := identity.From(identity.With(context.Background(), want)); got != want {
		t.Errorf("got %+v", got)
	}
}
