package expr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

var patterns = []string{
	"a", "abc", "", "^", "$", "^$", "^a", "a$", "a|b", "needle|haystack|é", "(?i)needle", "(?i)kelvin", "(?i)straße", "[a-c]+x", `\bab\b`, `\Bab`, `\w+\s\d`, `^\s*func`,
	"a.c", "a.*c", "(a|b)*abb", "a{2,4}b", `(?m)^a$`, `\Aab\z`, "x*", "[^a]b", `\p{Greek}`, "(?s)a.b", "日本", "a\\rb", "a\nb", `\r`, "\ufffd", "(?i)\ufffd", "k", "(?i)[k-s]t", ".", `\x{10ffff}`,
	"(foo|far)b", "(?i:ab)cd", "a??b", "(ab)+?c", `\b`, `\B`, `^\b`, `\b$`, "(|a)b", "[[:^alpha:]]z", "a(?:b|)c", "(a|ab)(c|bcd)(d*)", "needle.*(end|stop)", `\.go$`, "(?i)^the end$",
}

var texts = []string{
	"", "a", "abc", "xabcx", "ab ab", "needle", "NEEDLE", "Kelvin \u212a", "STRASSE straße STRAßE", "aaab", "abb", "ababb", "a\rb", "a\r", "\xff", "\xe2\x82", "é", "ab", "aab\x00",
	"日本語", "α β", "func f() {", "  func", "the end", "The End", "fob farb foob", "ab cd", "abCD", "x1 2", "_a", "a_", "\u017f", "zz z", "\ufffd", "main.go", "needle then stop", "KeLvIn needlE",
}

// TestAgreesWithRegexp holds every pattern against every line.
func TestAgreesWithRegexp(t *testing.T) {
	for _, p := range patterns {
		for _, fold := range []bool{false, true} {
			agree(t, p, fold, strings.Join(texts, "\n"))
			agree(t, p, fold, strings.Join(texts, "\r\n")+"\n\n")
		}
	}
}

// agree compares the lines that are found with those that match alone.
func agree(t *testing.T, pattern string, fold bool, text string) {
	t.Helper()
	e, err := Compile(pattern, fold)
	if fold {
		pattern = "(?i)" + pattern
	}
	re, reErr := regexp.Compile(pattern)
	if err != nil {
		return
	}
	if reErr != nil {
		t.Fatalf("%q: %v", pattern, reErr)
	}
	got := map[string]bool{}
	for start, end := range e.Searcher(context.Background()).Lines([]byte(text)) {
		got[fmt.Sprint(start, " ", end)] = true
	}
	for pos := 0; pos < len(text); {
		end := strings.IndexByte(text[pos:], '\n') + pos
		if end < pos {
			end = len(text)
		}
		line := strings.TrimRight(text[pos:end], "\r")
		if place := fmt.Sprint(pos, " ", end); got[place] != re.MatchString(line) {
			t.Errorf("%q in %q: found %v", pattern, line, got[place])
		} else {
			delete(got, place)
		}
		pos = end + 1
	}
	if len(got) > 0 {
		t.Errorf("%q in %q: found what is no line: %v", pattern, text, got)
	}
}

// TestAgreesOnRandomExpressions makes expressions and texts of few letters, so
// that they often match.
func TestAgreesOnRandomExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	var expression func(depth int) string
	expression = func(depth int) string {
		if depth == 0 {
			return pick("a", "b", "K", "s", "é", "ſ", ".", "[ab]", "[^a]", "^", "$", `\b`, `\B`, " ", "ab", "aKa", `\w`, `(?i:k)`, "", `\xff`, "\ufffd")
		}
		x, y := expression(depth-1), expression(depth-1)
		return pick(x+y, x+y, x+y, "(?:"+x+"|"+y+")", "("+x+")*", "(?:"+x+")+", "(?:"+x+")?"+y, "(?:"+x+"){2}")
	}
	for range 4000 {
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(pick("a", "b", "k", "K", "s", "é", "ſ", "\u212a", " ", "\n", "\n", "\r\n", "\xff", "ab", "aKa", "_"))
		}
		agree(t, expression(1+random.IntN(4)), random.IntN(3) == 0, text.String())
	}
}

// TestManyStates: an automaton that needs more states than are kept finds the
// same.
func TestManyStates(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	for range 2000 {
		for range 60 {
			text.WriteByte("ab"[random.IntN(2)])
		}
		text.WriteByte('\n')
	}
	agree(t, "a[ab]{18}a[ab]{20}b$", false, text.String())
	agree(t, `\p{L}[ab]{14}(b\pL|\p{Greek})$`, true, text.String())
}

func TestBounds(t *testing.T) {
	for _, p := range []string{strings.Repeat("a", maxLength+1), strings.Repeat(".{0,1000}", 400), "a(?=b)", "("} {
		if _, err := Compile(p, false); err == nil {
			t.Errorf("%.20q is taken", p)
		}
	}
}

// TestStops: one line that would take hours is left when the context ends.
func TestStops(t *testing.T) {
	e, err := Compile(strings.Repeat("(.{0,100}[ab])", 20)+"z", false)
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(7, 8))
	for i := range line {
		line[i] = "abc"[random.IntN(3)]
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range e.Searcher(ctx).Lines(append(line, 'z')) {
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("the search ended before the context: it does not tell whether it can be stopped")
	}
}

func FuzzLines(f *testing.F) {
	for i, p := range patterns {
		f.Add(p, i%2 == 0, texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, pattern string, fold bool, text string) {
		if len(pattern) > 60 || len(text) > 300 {
			return
		}
		agree(t, pattern, fold, text)
	})
}

func BenchmarkLines(b *testing.B) {
	var text bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&text, "\tresult%d, err := function%d(ctx, value, %d) // returns what the caller asked for\n", i, i, i*i)
	}
	for _, p := range []string{"needle", "result99x", "needle|haystack|pitchfork", "(?i)needle", `[0-9]{7}x`, `\p{Greek}+\s`, `\bneed\b`} {
		b.Run(p, func(b *testing.B) {
			e, err := Compile(p, false)
			if err != nil {
				b.Fatal(err)
			}
			s := e.Searcher(b.Context())
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				for range s.Lines(text.Bytes()) {
					b.Fatal("found")
				}
			}
		})
	}
}
