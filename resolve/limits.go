package resolve

import (
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
)

func (r *resolver) limits() {
	host := r.in.Config.Policy.Limits
	l := &r.out.Limits
	l.Set = map[string]string{}
	l.Turns = capped(r, "turns", func(p *profile.Profile) profile.Value[int] { return p.Limits.Turns }, host.Turns)
	l.Tokens = capped(r, "tokens", func(p *profile.Profile) profile.Value[int64] { return p.Limits.Tokens }, host.Tokens)
	l.Duration = capped(r, "duration", func(p *profile.Profile) profile.Value[time.Duration] { return p.Limits.Duration }, host.Duration)
	l.Cost = capped(r, "cost", func(p *profile.Profile) profile.Value[float64] { return p.Limits.Cost }, host.Cost)
}

// capped takes a limit from the layers, or the host's if that is smaller. 0 is
// none.
func capped[T int | ~int64 | float64](r *resolver, name string, get func(*profile.Profile) profile.Value[T], host profile.Value[T]) T {
	key := "limits." + name
	v := pick(r, key, get)
	if host.Set && host.V > 0 && (v.V == 0 || host.V < v.V) {
		trace := r.out.Origins[key]
		r.out.Origins[key] = spec.Trace{Origin: host.At, Overrode: append(trace.Overrode, trace.Origin)}
		v = host
	}
	if v.V > 0 {
		r.out.Limits.Set[name] = v.At.String()
	}
	return v.V
}
