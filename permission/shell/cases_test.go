package shell

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// TestCases holds the lines of testdata/lines.txt against what stands under
// them: the commands that run, separated by " | ", with holes in angle
// brackets; then the files that are read and written; then ANY if anything
// else may run. ERROR is a line of which nothing is known. "⏎" is a newline.
func TestCases(t *testing.T) {
	file, err := os.Open("testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	cases := 0
	for scanner.Scan() {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "## ") {
			continue
		}
		if !scanner.Scan() {
			t.Fatalf("%q has no analysis", line)
		}
		want := strings.TrimPrefix(scanner.Text(), "\t")
		if got := analysis(line); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		cases++
	}
	if err := scanner.Err(); err != nil || cases < 300 {
		t.Errorf("%d cases, %v", cases, err)
	}
}

func analysis(line string) string {
	l, err := Analyze(strings.ReplaceAll(line, "⏎", "\n"))
	if err != nil {
		return "ERROR"
	}
	return strings.ReplaceAll(show(l), "\n", "⏎")
}

// show writes an analysis on one line.
func show(l Line) string {
	var out []string
	for _, c := range l.Commands {
		var words []string
		for _, w := range c.Words {
			words = append(words, showWord(w))
		}
		out = append(out, strings.Join(words, " "))
	}
	for _, r := range l.Redirects {
		sign := "< "
		if r.Write {
			sign = "> "
		}
		out = append(out, sign+showWord(r.Path))
	}
	if l.Unknown {
		out = append(out, "ANY")
	}
	return strings.Join(out, " | ")
}

func showWord(w Word) string {
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
