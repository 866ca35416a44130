package shell

import (
	"strings"
	"testing"
)

// show writes a line's analysis as the tables have it: commands separated by
// " | ", holes as <text>, then "< path" and "> path", and ANY for unknown.
func show(l Line) string {
	var out []string
	word := func(w Word) string {
		var b strings.Builder
		for _, p := range w {
			if p.Hole {
				b.WriteString("<" + p.Text + ">")
			} else {
				b.WriteString(p.Text)
			}
		}
		return b.String()
	}
	for _, c := range l.Commands {
		var words []string
		for _, w := range c.Words {
			words = append(words, word(w))
		}
		out = append(out, strings.Join(words, " "))
	}
	for _, r := range l.Redirects {
		sign := "< "
		if r.Write {
			sign = "> "
		}
		out = append(out, sign+word(r.Path))
	}
	if l.Unknown {
		out = append(out, "ANY")
	}
	return strings.Join(out, " | ")
}

func TestAnalyze(t *testing.T) {
	for _, tt := range [][2]string{
		{"git status", "git status"},
		{"git status; rm -rf x", "git status | rm -rf x"},
		{"a && b || c | d & e\nf", "a | b | c | d | e | f"},
		{"git $(rm x)", "rm x | git <$(rm x)> | ANY"},
		{"git `rm x`", "rm x | git <`rm x`> | ANY"},
		{"git status > /etc/passwd", "git status | > /etc/passwd"},
		{"a < in >> out 2>&1 &> all 2> /dev/null", "a | < in | > out | > all"},
		{"X=1 git fetch", "X=1 git fetch"},
		{"g'i't \"sta\"tus", "git status"},
		{`$'\x72m' x`, "rm x"},
		{"rm *.go ~/x $y", "rm <*>.go <~>/x <$y>"},
		{"{rm,-rf,x{1..3}}", "rm -rf x1 x2 x3"},
		{"cat <<E\n$(rm x)\nE", "rm x | cat"},
		{"$x y", "<$x> y | ANY"},
		{"f() { rm x; }; f", "rm x | f | ANY"},
		{"cd x && a > f && b > g; c > h", "cd x | a | b | c | > x/f | > x/g | > <…/>h"},
	} {
		l, err := Analyze(tt[0])
		if err != nil {
			t.Errorf("%q: %v", tt[0], err)
		} else if got := show(l); got != tt[1] {
			t.Errorf("%q:\n got %s\nwant %s", tt[0], got, tt[1])
		}
	}
}
