package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// TestRig: the bounds of rigs are numbers, and folders outside of the workspace count
// only where the workspace is trusted.
func TestRig(t *testing.T) {
	for _, c := range []struct {
		name, text string
		trusted    bool
		want       string // settings, or what the error says
		err        bool
	}{
		{"all", "rig: {max-parallel: 3, max_hops: 20, outside: true}", true, "rig.max-hops=20,rig.max-parallel=3,rig.outside=true", false},
		{"a budget", "rig: {budget: {cost-per-day: 2.5}}", false, "rig.budget.cost-per-day=2.5", false},
		{"a budget of nothing", "rig: {budget: {cost-per-day: 0}}", false, "an amount", true},
		{"another budget", "rig: {budget: {cost-per-hour: 1}}", false, `did you mean "cost-per-day"?`, true},
		{"not trusted", "rig: {max-hops: 2, outside: true}", false, "rig.max-hops=2", false},
		{"nothing", "rig:", false, "", false},
		{"no bound", "rig: {max-parallel: 0}", false, "takes 1 to 256", true},
		{"no number", "rig: {max-hops: many}", false, "a whole number", true},
		{"another key", "rig: {max-hop: 2}", false, `did you mean "max-hops"?`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := placed(t, c.text+"\n", "", nil)
			if c.trusted {
				o.Trust = func(string, string) trust.View { return trust.Everything() }
			}
			cfg, _, err := Load(o)
			if c.err {
				if parse := (*profile.ParseError)(nil); !errors.As(err, &parse) || !strings.Contains(err.Error()+parse.Diagnostics[0].Hint, c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range cfg.Settings() {
				if strings.HasPrefix(s.Key, "rig.") {
					got = append(got, s.Key+"="+s.Value)
				}
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
