package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// cachePlaces are what of a request `cache: manual` can have kept, in the order in
// which they stand there.
func cachePlaces() []string { return []string{"tools", "system", "messages"} }

// cacheBreakpoints finds the places that `cache: manual` marks: all, where nothing
// is said.
func (r *resolver) cacheBreakpoints() {
	const key = "cache-breakpoints"
	v := pick(r, key, func(p *profile.Profile) profile.Value[[]string] {
		x, ok := kept(p, key)
		if !ok || r.err != nil {
			return profile.Value[[]string]{}
		}
		list, err := textList(x)
		if i := slices.IndexFunc(list, func(place string) bool { return !slices.Contains(cachePlaces(), place) }); err == nil && i >= 0 {
			err = fmt.Errorf("%q is none of %s", list[i], strings.Join(cachePlaces(), ", "))
		}
		if err != nil {
			r.fail(key, x.At, err.Error(), "write a list such as [system, tools]")
		}
		return profile.Value[[]string]{V: list, Set: err == nil, At: x.At}
	})
	if r.out.Cache != "manual" {
		return
	}
	for _, place := range cachePlaces() {
		if !v.Set || slices.Contains(v.V, place) {
			r.out.CacheBreakpoints = append(r.out.CacheBreakpoints, place)
		}
	}
}
