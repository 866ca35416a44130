package command_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/source"
)

// quoted are command lines whose last word ends with an argument.
var quoted = []string{
	"echo {{args}}", `echo "{{args}}"`, `echo '{{args}}'`, `echo pre{{args}}`, `echo "pre{{args}}"`, `echo 'a'"b{{args}}"`,
	`echo {x}{{args}}`, `echo "$(true)pre{{args}}"`, `x=1 echo "a" 'b' "c{{args}}"`, `echo a#{{args}}`, `echo \"{{args}}`,
}

// lineOf gives the command line that a template comes to, and whether there is one.
func lineOf(t testing.TB, template, arg string) (line string, ok bool) {
	c := made(t, command.Gemini, "prompt = '''!{"+template+"}'''")
	_, err := c.Expand(context.Background(), arg, command.Hands{Run: func(_ context.Context, l string, _ source.Origin) (string, error) {
		line, ok = l, true
		return "x", nil
	}})
	return line, ok && err == nil
}

// lastWord reads a command line as a shell does, which runs nothing.
func lastWord(t testing.TB, line string) (string, int) {
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if len(f.Stmts) != 1 {
		t.Fatalf("%q is %d commands", line, len(f.Stmts))
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background {
		t.Fatalf("%q is no plain command", line)
	}
	words, err := expand.Fields(&expand.Config{CmdSubst: func(io.Writer, *syntax.CmdSubst) error { return nil }}, call.Args...)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return words[len(words)-1], len(words)
}

func checkQuoted(t testing.TB, arg string) {
	if !utf8.ValidString(arg) || strings.TrimSpace(arg) != arg || arg == "" || len(arg) > command.MaxArguments {
		return
	}
	for _, template := range quoted {
		line, ok := lineOf(t, template, arg)
		if strings.ContainsRune(arg, 0) {
			if ok {
				t.Errorf("%q: a NUL is put into a line", template)
			}
			continue
		}
		if !ok {
			t.Errorf("%q with %q is refused", template, arg)
			continue
		}
		word, _ := lastWord(t, line)
		if !strings.HasSuffix(word, arg) {
			t.Errorf("%q with %q comes to %q, whose last word is %q", template, arg, line, word)
		}
	}
}

func TestArgumentsAreText(t *testing.T) {
	for _, arg := range []string{
		"a", "a b", "it's", `a"b`, `\`, `a\`, "$(id)", "`id`", "$HOME", "; rm -rf /", "&& x", "| y", "> z", "a\nb", "*", "~", "{a,b}", "1..9", "a,b",
		"#x", "!x", "'", `"`, `'"'"'`, `$'\n'`, "\u202e", "-rf", "--", "x=1", "\x00", "\x01", "é\u2028ü", "\r",
	} {
		checkQuoted(t, arg)
	}
}

func FuzzArgumentsAreText(f *testing.F) {
	for _, s := range []string{"a b", "$(id)", "'", `"`, `\`, "`", "a\nb", "{1..9}", "~root"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		if len(arg) > 1000 {
			return
		}
		checkQuoted(t, strings.ReplaceAll(strings.TrimSpace(arg), "\r", ""))
	})
}
