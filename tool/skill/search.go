package skill

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/rosterrun/roster/profile"
)

// maxWords bounds what a search looks for.
const maxWords = 12

// search finds skills by words of their names and descriptions, or by a name that is
// nearly theirs; the best first.
func search(all map[string]Use, text string) []Use {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = words[:min(maxWords, len(words))]
	type hit struct {
		Use
		score int
	}
	var hits []hit
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.Name)
		name, about := strings.ToLower(s.Name), strings.ToLower(s.Description)
		score := 0
		for _, w := range words {
			switch {
			case strings.Contains(name, w):
				score += 3
			case len(w) > 2 && strings.Contains(about, w):
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{s, score})
		}
	}
	slices.Sort(names)
	for _, near := range profile.Nearest(text, names, 3) {
		if !slices.ContainsFunc(hits, func(h hit) bool { return h.Name == near }) {
			hits = append(hits, hit{all[near], 2})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(b.score-a.score, strings.Compare(a.Name, b.Name)) })
	out := make([]Use, len(hits))
	for i, h := range hits {
		out[i] = h.Use
	}
	return out
}
