package resolve

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// Capped makes a spec that stands in a log obey the host's policy of this moment
// too: it may have less than when the run began, and not more. It changes
// nothing in s.
func Capped(s *spec.Spec, policy config.Policy, lookup func(string) (string, bool)) (*spec.Spec, error) {
	out := *s
	rules, at, err := expand(policy.Permission, source.Host, lookup)
	if err != nil {
		return nil, fmt.Errorf("%s: policy.permission: %w", at, err)
	}
	if len(rules)+len(s.HostRules) > 0 && !reflect.DeepEqual(rules, s.HostRules) {
		out.HostNow = rules
	}
	if out.Sandbox, err = walled(s.Sandbox, policy.Sandbox, s.Workspace); err != nil {
		return nil, err
	}
	if most := policy.TaskDepth; most != 0 {
		out.Subagents.MaxDepth = min(out.Subagents.MaxDepth, max(most, 0))
	}
	l := &out.Limits
	l.Set = maps.Clone(l.Set)
	atMost(l, "turns", &l.Turns, policy.Limits.Turns)
	atMost(l, "tokens", &l.Tokens, policy.Limits.Tokens)
	atMost(l, "duration", &l.Duration, policy.Limits.Duration)
	atMost(l, "cost", &l.Cost, policy.Limits.Cost)
	return &out, nil
}

func atMost[T int | ~int64 | float64](l *spec.Limits, name string, v *T, host profile.Value[T]) {
	if !host.Set || host.V <= 0 || *v > 0 && *v <= host.V {
		return
	}
	*v = host.V
	if l.Set == nil {
		l.Set = map[string]string{}
	}
	l.Set[name] = host.At.String()
}
