package profile

import (
	"cmp"
	"math/bits"
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
	inWord := letters(word)
	var near []scored
	for _, c := range candidates {
		inC := letters(c)
		longest := max(len(word), len(c))
		steps := 1 + longest/4
		if longest < 5 {
			steps = 1 // of so few letters two others make another word
		}
		if inWord&^inC != 0 && inC&^inWord != 0 && apart(inWord, inC) > steps {
			continue // the rest of the loop costs more
		}
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

// letters is the set of the letters of a word. Some are taken for the same,
// among them the cases of a letter.
func letters(word string) uint32 {
	var set uint32
	for _, r := range word {
		set |= 1 << (r % 32)
	}
	return set
}

// apart is a lower bound of the distance of two words: a letter that only one
// of them has takes a step of its own.
func apart(a, b uint32) int { return max(bits.OnesCount32(a&^b), bits.OnesCount32(b&^a)) }

// related says whether one word is the start of the other.
func related(a, b string) bool {
	return len(a) > 2 && len(b) > 2 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
