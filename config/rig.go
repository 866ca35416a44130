package config

import (
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// Rig says how rigs run. What is not Set is the default.
type Rig struct {
	MaxParallel profile.Value[int] // jobs at work at once in one process, 1 to 256; default 4
	MaxHops     profile.Value[int] // jobs that may stand before one, each having caused the next, 1 to 1000; default 8
	// PerDay is what the knots of one rig may spend on a day of the machine together, in
	// USD: no job begins beyond. Over 0; default no limit.
	PerDay profile.Value[float64]
	// Outside lets knots watch folders outside of the workspace. It counts only in a
	// workspace that is trusted, or in a file of the user's.
	Outside profile.Value[bool]
}

func (s section) rig(it item) {
	it.key = strings.ReplaceAll(it.key, "_", "-")
	switch it.key {
	case "max-parallel":
		s.between(it, 1, 256, &s.cfg.Rig.MaxParallel)
	case "max-hops":
		s.between(it, 1, 1000, &s.cfg.Rig.MaxHops)
	case "budget":
		s.each(it, s.rigBudget)
	case "outside":
		if v, ok := s.oneOf(it, "true", "false"); ok && (v == "false" || s.may(trust.Path, it, it.node) == nil) {
			s.cfg.Rig.Outside = value(v == "true", it)
		}
	default:
		s.unknown(it, "max-parallel", "max-hops", "budget", "outside")
	}
}

func (s section) rigBudget(it item) {
	if strings.ReplaceAll(it.key, "_", "-") != "cost-per-day" {
		s.unknown(it, "cost-per-day")
		return
	}
	if v, ok := s.dollars(it); ok {
		s.cfg.Rig.PerDay = value(v, it)
	}
}

// between reads a whole number that has bounds.
func (s section) between(it item, low, high int, to *profile.Value[int]) {
	v, ok := s.count(it)
	switch {
	case !ok:
	case v < low || v > high:
		s.notAllowed(it, "%s is %d; it takes %d to %d", it.path, v, low, high)
	default:
		*to = value(v, it)
	}
}
