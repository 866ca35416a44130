package resolve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// narrow takes out of what a request overrides all that would widen what the
// layers below it leave: larger limits, further tools, a laxer default. Its rules
// are marked, so that they allow no more than others do.
func (r *resolver) narrow(keys *profile.Profile) {
	narrowLimit(r, "turns", &keys.Limits.Turns, func(p *profile.Profile) profile.Value[int] { return p.Limits.Turns })
	narrowLimit(r, "tokens", &keys.Limits.Tokens, func(p *profile.Profile) profile.Value[int64] { return p.Limits.Tokens })
	narrowLimit(r, "duration", &keys.Limits.Duration, func(p *profile.Profile) profile.Value[time.Duration] { return p.Limits.Duration })
	narrowLimit(r, "cost", &keys.Limits.Cost, func(p *profile.Profile) profile.Value[float64] { return p.Limits.Cost })
	if d := &keys.DefaultPermission; d.Set {
		below := strongest(r.layers, func(p *profile.Profile) profile.Value[permission.Effect] { return p.DefaultPermission })
		if d.V > below.V {
			r.widens("default-permission", below.V)
			*d = profile.Value[permission.Effect]{}
		}
	}
	if keys.Tools.Set {
		r.narrowTools(&keys.Tools.V)
	}
	r.narrowSubagents(keys)
	r.narrowTimeout(keys)
}

// strongest gives the value of the strongest layer that has one.
func strongest[T any](layers []config.Layer, get func(*profile.Profile) profile.Value[T]) (v profile.Value[T]) {
	for _, l := range layers {
		if next := get(l.Keys); next.Set {
			v = next
		}
	}
	return v
}

func narrowLimit[T int | ~int64 | float64](r *resolver, name string, v *profile.Value[T], get func(*profile.Profile) profile.Value[T]) {
	below := strongest(r.layers, get)
	if v.Set && below.V > 0 && (v.V == 0 || v.V > below.V) {
		r.widens("limits."+name, below.V)
		*v = profile.Value[T]{}
	}
}

// narrowTools keeps of a list the tools that the layers below list too.
func (r *resolver) narrowTools(v *profile.Tools) {
	var below profile.Tools
	for _, l := range r.layers {
		if l.Keys.Tools.Set {
			below = l.Keys.Tools.V.Over(below)
		}
	}
	asked := v.Over(below)
	*v = profile.Tools{Names: []string{}, All: asked.All && below.All}
	switch {
	case asked.All:
		v.Names = slices.Clone(below.Names)
		return
	case below.All:
		v.Names = asked.Names
		return
	}
	var gone []string
	for _, name := range asked.Names {
		if slices.ContainsFunc(below.Names, func(listed string) bool { return covers(listed, name) }) {
			v.Names = append(v.Names, name)
		} else {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		r.widens("tools", "without "+strings.Join(gone, ", "))
	}
}

// covers says whether the name of a tool, which may hold a *, stands for another.
func covers(listed, name string) bool {
	p, err := permission.ParsePattern(listed)
	return listed == name || err == nil && !strings.Contains(name, "*") && p.Match(name)
}

func (r *resolver) widens(key string, stays any) {
	r.note(CodeWidens, profile.SeverityWarning, source.Origin{Layer: source.Override}, key,
		fmt.Sprintf("%s: a request may only narrow what the profile has; it stays %v", key, stays), "change the profile, or say it by a flag")
}
