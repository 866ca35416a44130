package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest gives at most n of the candidates that could have been meant by word,
// the nearest first. It gives none when nothing is near.
func Nearest(word string, candidates []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	word = strings.ToLower(word)
	var near []scored
	for _, c := range candidates {
		l := strings.ToLower(c)
		longer := max(len(word), len(l))
		most := 1 + longer/4
		if longer-min(len(word), len(l)) > most && !related(word, l) {
			continue
		}
		if d := levenshtein.ComputeDistance(word, l); d <= most || related(word, l) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name))
	})
	var out []string
	for _, s := range near[:min(n, len(near))] {
		out = append(out, s.name)
	}
	return out
}

// related says whether one word is the start of the other.
func related(a, b string) bool {
	return len(a) > 2 && len(b) > 2 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
