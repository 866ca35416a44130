package tool

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

// TestBracesWrittenOut: a pattern means the same with its braces written out.
func TestBracesWrittenOut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune(`ab{{}},,*[]\`)), 1, 12, -1).Draw(r, "pattern")
		name := rapid.StringOfN(rapid.RuneFrom([]rune(`ab,{}\`)), 1, 6, -1).Draw(r, "name")
		g, err := parseGlob("pattern", pattern)
		if err != nil {
			return
		}
		if slices.ContainsFunc([]string{"{}", "{,", ",,", ",}"}, func(s string) bool { return strings.Contains(pattern, s) }) {
			return // the matcher is not sure of empty alternatives at a name's end
		}
		want, err := doublestar.Match(pattern, name)
		if got := g.match(name); err == nil && got != want {
			r.Fatalf("%q as %q on %q: %v, want %v", pattern, g, name, got, want)
		}
	})
}
