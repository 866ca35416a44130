package shell

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// quote writes a word in one of the ways that mean the same.
func quote(t *rapid.T, word string) string {
	switch rapid.IntRange(0, 4).Draw(t, "quotes") {
	case 0:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	case 1:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(word) + `"`
	case 2:
		return "$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "r", `\x72`, "m", `\155`, " ", `\u0020`).Replace(word) + "'"
	case 3: // letter by letter
		var b strings.Builder
		for _, r := range word {
			b.WriteString([]string{`\` + string(r), "'" + strings.ReplaceAll(string(r), "'", `'\''`) + "'"}[rapid.IntRange(0, 1).Draw(t, "letter")])
		}
		if word == "" {
			return "''"
		}
		return b.String()
	}
	if word == "" || strings.Trim(word, nameBytes+"/=:") != "" {
		return quote(t, word)
	}
	return word
}

// write writes commands with any spacing and quotes.
func write(t *rapid.T, commands [][]string, separators []string) string {
	space := rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n ", "\\\n\t"})
	var b strings.Builder
	for i, words := range commands {
		if i > 0 {
			b.WriteString(separators[i-1])
		}
		for _, w := range words {
			b.WriteString(space.Draw(t, "space") + quote(t, w))
		}
		b.WriteString(rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "end"))
	}
	return b.String()
}

// TestSpacingAndQuotes: an analysis is the same for every way to write the
// same words.
func TestSpacingAndQuotes(t *testing.T) {
	program := rapid.SampledFrom([]string{"git", "rm", "env", "sudo", "xargs", "timeout", "nice", "find", "bash", "sh", "python3", "sed", "awk", "cd", "echo",
		"eval", "command", "exec", "test", "printf", "read", "unset", "set", "trap", "tar", "go", "uv", "/bin/rm", "./x"})
	arg := rapid.SampledFrom([]string{"status", "-c", "-n", "5", "--", "-exec", "{}", ";", "+", "rm x", "rm", "X=1", "PATH=/tmp", "$x", "$(rm x)", "`rm`", "*", "~", "", "a b", "it's",
		`"`, `\`, "a[$(rm x)]", "-v", "run", "-I", "ü", "#", "|", "s/a/b/e", "print > \"x\"", "git push && rm y", "{a,b}", "!"})
	rapid.Check(t, func(t *rapid.T) {
		var commands [][]string
		var separators []string
		for range rapid.IntRange(1, 3).Draw(t, "commands") {
			commands = append(commands, append([]string{program.Draw(t, "program")}, rapid.SliceOfN(arg, 0, 5).Draw(t, "args")...))
			separators = append(separators, rapid.SampledFrom([]string{";", "|", "&&", "||", "&", "\n"}).Draw(t, "separator"))
		}
		one, two := write(t, commands, separators), write(t, commands, separators)
		first, err := Analyze(one)
		if err != nil {
			t.Fatalf("%q: %v", one, err)
		}
		second, err := Analyze(two)
		if err != nil {
			t.Fatalf("%q: %v", two, err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%q\n%s\n%q\n%s", one, show(first), two, show(second))
		}
	})
}

// TestBounds: the longest lines take bounded time and say little.
func TestBounds(t *testing.T) {
	for _, piece := range []string{
		"if a;then ", "while a;do ", "a;", "a&&", "a|", "{a,b}", "{1..256}\\a", "a ", "X=1 ", "env ", "eval ", "find -exec ", "xargs ", "$(", "`", "\"$(", "${x:-", "((",
		"<(", "$x", "*", "[", ":~", ">f ", "<<E ", "{ ", "f(){ ", "x=( ", "a[", "time ", "sh -c ", "#", "\n", "a $((x)) ", "for x in a;do ", "cd x && > f; ", "a <<E\n$(b)\nE\n",
	} {
		body := strings.Repeat(piece, MaxLine/2/len(piece))
		for _, line := range []string{body, "x{1..256}" + body, "eval '" + body + "'", "while cd x; do " + body + ";done", strings.Repeat("X=1 ", 4000) + "eval '" + body + "'"} {
			start := time.Now()
			l, _ := Analyze(line)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%q…: %v", line[:20], took)
			}
			words := 0
			for _, c := range l.Commands {
				words += len(c.Words)
			}
			if len(l.Commands) > maxCommands || len(l.Redirects) > maxCommands || words > maxWords {
				t.Errorf("%q…: %d commands, %d words, %d redirections", line[:20], len(l.Commands), words, len(l.Redirects))
			}
		}
	}
	for _, line := range []string{"", " ", "a\x00b", "a\rb", "a\x01b", "a\x7f", "a \xff", strings.Repeat("a", MaxLine+1), strings.Repeat("$((", MaxLine/3), strings.Repeat("a;", 5000)} {
		if l, err := Analyze(line); err == nil {
			t.Errorf("%.20q: %s", line, show(l))
		}
	}
}
