package permission

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func matches(t testing.TB, pattern, s string) bool {
	t.Helper()
	p, err := ParsePattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return p.Match(s)
}

// reference is the definition, one character at a time, with a table of what
// each prefix of the pattern reaches.
func reference(pattern, s string) bool {
	reach := make([]bool, utf8.RuneCountInString(s)+1)
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(reach))
		if p == '*' {
			next[0] = reach[0]
		}
		i := 0
		for rest := s; rest != ""; i++ {
			r, n := utf8.DecodeRuneInString(rest)
			literal := p == r && (r != utf8.RuneError || n == 3)
			rest = rest[n:]
			switch {
			case p == '*':
				next[i+1] = reach[i+1] || next[i]
			case p == '?' && r != 0 || literal:
				next[i+1] = reach[i]
			}
		}
		reach = next
	}
	return reach[len(reach)-1]
}

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"", "a", "a/b c", "\xff"}, nil},
		{"", []string{""}, []string{"a"}},
		{"git *", []string{"git ", "git a b"}, []string{"git", "gitx y", "Git x", "x git "}},
		{"*.env", []string{".env", "a/b.env"}, []string{".env.x", "env"}},
		{"src/**/x", []string{"src/a/b/x", "src//x"}, []string{"src/x"}},
		{"?", []string{"a", "ü", "🌍", "/", "\xff"}, []string{"", "ab"}},
		{"a?c", []string{"abc", "a🌍c"}, []string{"ac", "abbc"}},
		{"*?", []string{"a", "ab", "ü"}, []string{""}},
		{"*a?b*", []string{"aab", "xaybz", "aaxb"}, []string{"ab", "axxb"}},
		{"a*a", []string{"aa", "aba"}, []string{"a", "ab"}},
		{"*ab*ba*", []string{"abba", "xabxbax"}, []string{"aba"}},
		{"[a]\\{x}.+(", []string{"[a]\\{x}.+("}, []string{"a"}},
	}
	for _, tt := range tests {
		for _, s := range tt.yes {
			if !matches(t, tt.pattern, s) {
				t.Errorf("%q does not match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if matches(t, tt.pattern, s) {
				t.Errorf("%q matches %q", tt.pattern, s)
			}
		}
	}
	if (Pattern{}).Match("") {
		t.Error("the zero pattern matches")
	}
}

func TestPatternAgreesWithReference(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?ü")), 0, 12, -1)
	rapid.Check(t, func(r *rapid.T) {
		pattern, s := text.Draw(r, "pattern"), text.Draw(r, "s")
		if got, want := matches(t, pattern, s), reference(pattern, s); got != want {
			r.Fatalf("%q on %q: %v, want %v", pattern, s, got, want)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add("git *", "git status")
	f.Add("*a?b*c", "xxaübzzc\xff")
	f.Add("?*?", "ab")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			if utf8.ValidString(pattern) && !holed(pattern) {
				t.Fatal(err)
			}
			return
		}
		if len(pattern)*len(s) > 1<<20 {
			return
		}
		if got, want := p.Match(s), reference(pattern, s); got != want {
			t.Errorf("%q on %q: %v, want %v", pattern, s, got, want)
		}
	})
}

// TestPatternTime runs what makes backtracking matchers explode.
func TestPatternTime(t *testing.T) {
	long := strings.Repeat("a", 64<<10)
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat("*a", 1000) + "*b",
		strings.Repeat("a*", 1000) + "b",
		strings.Repeat("*", 10_000) + "b",
		"*" + strings.Repeat("a", 5000) + "b*",
		"*" + strings.Repeat("?", 100) + "b*",
		strings.Repeat("*?", 1000) + "b",
	} {
		if matches(t, pattern, long) {
			t.Errorf("%.20q… matches", pattern)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	t.Log(time.Since(start))
}
