package command_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// made reads a command.
func made(t testing.TB, kind command.Kind, text string) *command.Command {
	t.Helper()
	file := map[command.Kind]string{command.Gemini: "c.toml", command.Copilot: ".github/prompts/c.prompt.md"}[kind]
	if file == "" {
		file = "c.md"
	}
	c, ds := command.Read(kind, "c", file, []byte(text))
	if c == nil || profile.Refused(ds) {
		t.Fatalf("the command is not read: %+v", ds)
	}
	return c
}

// fake are hands that say what they are asked for.
func fake(files map[string]string) command.Hands {
	return command.Hands{
		Workspace: "/ws/proj",
		Run:       func(_ context.Context, line string, _ source.Origin) (string, error) { return "<" + line + ">\n", nil },
		File: func(_ context.Context, f command.File) ([]message.Part, error) {
			text, ok := files[f.Path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			if f.Asked {
				text += "!"
			}
			return []message.Part{message.Text{Text: text}}, nil
		},
	}
}

func sent(parts []message.Part) string { return message.PartsText(parts) }

func TestExpand(t *testing.T) {
	files := map[string]string{"a.go": "A", "src/": "list", "b c.md": "BC", "docs/x.md": "X"}
	for _, c := range []struct {
		name string
		kind command.Kind
		text string
		args string
		want string
	}{
		// Claude Code: $ARGUMENTS is what was typed, $1 a word of it.
		{"all arguments as typed", command.Claude, "Fix $ARGUMENTS.", `12 "high prio"`, `Fix 12 "high prio".`},
		{"words without their quotes", command.Claude, "PR $1, $2.", `12 "high prio"`, "PR 12, high prio."},
		{"a word that is not given stays", command.Claude, "PR $1, $2.", "12", "PR 12, $2."},
		{"by index from zero", command.Claude, "$ARGUMENTS[0]-$ARGUMENTS[1]", "a b", "a-b"},
		{"from zero where $0 is named", command.Claude, "$0 then $1", "a b", "a then b"},
		{"named", command.Claude, "---\narguments: [issue, branch]\n---\nFix $issue on $branch, $issues.", "7 main", "Fix 7 on main, $issues."},
		{"no place for arguments", command.Claude, "Fix it.", "now", "Fix it.\n\nARGUMENTS: now"},
		{"no arguments", command.Claude, "Fix $ARGUMENTS.", "", "Fix ."},
		{"money is no argument", command.Claude, "$150, $9.99, $1,000, $5M and $1", "a", "$150, $9.99, $1,000, $5M and a"},
		{"an open quote is plain", command.Claude, "$1|$2", "it's fine", "it's|fine"},
		{"what is put in is not read again", command.Claude, "$1 $2", "$2 $ARGUMENTS", "$2 $ARGUMENTS"},
		{"a command line", command.Claude, "Branch: !`git branch`", "", "Branch: <git branch>"},
		{"inside of a word it is text", command.Claude, "not(!`x`)", "", "not(!`x`)"},
		{"lines in a fence", command.Claude, "Now:\n```!\ngit a\ngit b\n```\nGo.", "", "Now:\n<git a\ngit b>\nGo."},
		{"an argument in a line", command.Claude, "!`git log $1`", `"a; rm -rf /"`, "<git log 'a; rm -rf /'>"},
		{"arguments in a line are words", command.Claude, "!`git log $ARGUMENTS`", "-5 --oneline", "<git log -5 --oneline>"},
		{"in double quotes one text", command.Claude, "!`echo \"$ARGUMENTS\"`", "a `id` $(id) \"b\"", "<echo \"a \\`id\\` \\$(id) \\\"b\\\"\">"},
		{"in single quotes", command.Claude, "!`echo '$1'`", `"a'b"`, `<echo 'a'\''b'>`},
		{"what a line writes is no line", command.Claude, "!`echo $1` @a.go", "'!`x`'", "<echo '!`x`'> @a.go\n\n@a.go:\nA"},
		{"a file", command.Claude, "See @a.go.", "", "See @a.go.\n\n@a.go:\nA"},
		{"a folder", command.Claude, "See @src/", "", "See @src/\n\n@src/:\nlist"},
		{"a file with blanks", command.Claude, `See @"b c.md"`, "", "See @\"b c.md\"\n\n@b c.md:\nBC"},
		{"a file that the arguments name", command.Claude, "See $1", "@a.go", "See @a.go\n\n@a.go:\nA!"},
		{"half of it by the command", command.Claude, "See @$1", "a.go", "See @a.go\n\n@a.go:\nA"},
		{"a file twice", command.Claude, "@a.go @a.go", "", "@a.go @a.go\n\n@a.go:\nA"},
		{"no file in a sample of code", command.Claude, "```py\n@a.go\n```\nx@a.go", "", "```py\n@a.go\n```\nx@a.go"},
		{"what a line writes names no file", command.Claude, "!`echo @a.go`", "", "<echo @a.go>"},
		{"without frontmatter", command.Roster, "\ufeffDo $1\r\nnow", "it", "Do it\nnow"},

		// OpenCode: the last of the numbers takes the rest.
		{"the last takes the rest", command.OpenCode, "$1: $2", `a "b c" d`, "a: b c d"},
		{"the highest number, wherever", command.OpenCode, "$2, $1", "a b c", "b c, a"},
		{"one that is not given is empty", command.OpenCode, "[$1][$2]", "a", "[a][]"},
		{"raw", command.OpenCode, "$ARGUMENTS[0]", `a "b"`, `a "b"[0]`},
		{"behind the text", command.OpenCode, "Do it.", "a b", "Do it.\n\na b"},
		{"a line anywhere", command.OpenCode, "(!`git x`)", "", "(<git x>)"},
		{"quotes split", command.OpenCode, "$1|$2|$3", `a"b c"d`, "a|b c|d"},

		// Gemini CLI: {{args}}, !{…} and @{…}.
		{"args raw", command.Gemini, "prompt = 'Fix {{args}}.'", `"a b"`, `Fix "a b".`},
		{"args in a line are one text", command.Gemini, "prompt = 'See !{grep -r {{args}} .}'", "It's a", `See <grep -r 'It'\''s a' .>`},
		{"braces in a line", command.Gemini, "prompt = '!{awk \"{print}\" {x}}'", "", `<awk "{print}" {x}>`},
		{"the command as typed behind the text", command.Gemini, "prompt = 'Log.'", "1.2 added", "Log.\n\n/c 1.2 added"},
		{"a file in its place", command.Gemini, "prompt = 'A @{a.go} B'", "", "A A B"},
		{"other signs are text", command.Gemini, "prompt = '$1 @a.go !`x`'", "", "$1 @a.go !`x`"},

		// Prompt files of VS Code.
		{"inputs by name", command.Copilot, "Make ${input:name} in ${input:dir:where?}", "dir=src name=Form", "Make Form in src"},
		{"inputs in their order", command.Copilot, "${input:a}/${input:b}", "x y", "x/y"},
		{"one input takes all", command.Copilot, "Do ${input:what}", "this and that", "Do this and that"},
		{"the workspace", command.Copilot, "${workspaceFolder} ${workspaceFolderBasename}", "", "/ws/proj proj"},
		{"a link", command.Copilot, "See [x](../../docs/x.md) and [y](https://y)", "", "See [x](../../docs/x.md) and [y](https://y)\n\n@docs/x.md:\nX"},
	} {
		t.Run(string(c.kind)+"/"+c.name, func(t *testing.T) {
			got, err := made(t, c.kind, c.text).Expand(t.Context(), c.args, fake(files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, sent(got.Parts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExpandRefuses(t *testing.T) {
	no := errors.New("no")
	for _, c := range []struct {
		name string
		kind command.Kind
		text string
		args string
		want string
	}{
		{"a denied line", command.Claude, "x\n!`rm x`", "", "c.md:2:1: no"},
		{"too many lines", command.Claude, strings.Repeat("!`ok`\n", 33), "", "more than 32 command lines"},
		{"too many arguments", command.Claude, "$1", strings.Repeat("a", command.MaxArguments+1), "65537 bytes"},
		{"too much text", command.Claude, strings.Repeat("$ARGUMENTS", 100), strings.Repeat("a", command.MaxArguments), "more than 4194304 bytes"},
		{"an argument in backquotes", command.Gemini, "prompt = '!{echo `echo {{args}}`}'", "a", "cannot stand here"},
		{"in a here-document", command.Gemini, "prompt = \"!{cat <<E\\n{{args}}\\nE}\"", "a", "cannot stand here"},
		{"in arithmetic", command.Claude, "!`echo $(( $1 ))`", "a", "cannot stand here"},
		{"in a test", command.Claude, "!`[[ $1 -eq 0 ]]`", "a", "cannot stand here"},
		{"behind a dollar", command.Gemini, "prompt = '!{echo \"${{args}}\"}'", "a", "cannot stand here"},
		{"behind a backslash", command.Gemini, "prompt = '!{echo \\{{args}}}'", "a", "cannot stand here"},
		{"in a remark", command.Claude, "!`ls # $1`", "a", "cannot stand here"},
		{"for eval", command.Claude, "!`eval $1`", "a", "cannot stand here"},
		{"in a case", command.Claude, "!`echo \"$(case a in a) echo $1;; esac)\"`", "a", "cannot stand here"},
		{"an input without value", command.Copilot, "${input:name:which?}", "", `the input "name" has no value (give it as name=VALUE: which?)`},
		{"nothing to send", command.Claude, "$ARGUMENTS", "", "empty prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hands := fake(nil)
			hands.Run = func(_ context.Context, line string, at source.Origin) (string, error) {
				if line == "ok" {
					return "", nil
				}
				return "", fmt.Errorf("%s: %w", at, no)
			}
			got, err := made(t, c.kind, c.text).Expand(t.Context(), c.args, hands)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it comes to %v, %v, not to an error with %q", got, err, c.want)
			}
		})
	}
}

func TestExpandNotes(t *testing.T) {
	c := made(t, command.Claude, "---\ncontext: fork\nhooks: {}\n---\n@no/such.go, $2, ${CLAUDE_SESSION_ID}")
	got, err := c.Expand(t.Context(), "a", fake(nil))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got.Notes, "\n")
	for _, want := range []string{"context: fork", "hooks:", "${CLAUDE_SESSION_ID}", "$2 is not among the arguments", "@no/such.go names no file"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing is said of %s:\n%s", want, all)
		}
	}
}

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		text, name, arguments, literal string
		ok                             bool
	}{
		{"/review a b", "review", "a b", "/review a b", true},
		{"/git:commit", "git:commit", "", "/git:commit", true},
		{"/team/review\nx", "team/review", "x", "/team/review\nx", true},
		{"//review a", "", "", "/review a", false},
		{"review", "", "", "review", false},
		{"/ x", "", "", "/ x", false},
		{"/../x", "", "", "/../x", false},
		{"/a\x00b", "", "", "/a\x00b", false},
		{"/" + strings.Repeat("a", 200), "", "", "/" + strings.Repeat("a", 200), false},
		{"/etc/passwd is", "etc/passwd", "is", "/etc/passwd is", true}, // a name only if there is such a command
	} {
		name, arguments, literal, ok := command.Typed(c.text)
		if name != c.name || arguments != c.arguments || literal != c.literal || ok != c.ok {
			t.Errorf("%q is %q %q %q %v", c.text, name, arguments, literal, ok)
		}
	}
}

func TestJoinKeepsWords(t *testing.T) {
	words := []string{"a", "b c", `d"e`, "it's", "", `f\g`, "$x", "`y` z", `$ "`}
	c := made(t, command.Claude, "$1|$2|$3|$4|$5|$6|$7|$8|$9")
	got, err := c.Expand(t.Context(), command.Join(words), fake(nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(words, "|"); sent(got.Parts) != want {
		t.Errorf("the words are %q, not %q", sent(got.Parts), want)
	}
}

// TestLongTextsAreReadOnce: what opens and is not closed costs no more than its length.
func TestLongTextsAreReadOnce(t *testing.T) {
	for _, open := range []string{"!{", "@{", "!`", "$1 ", "@\"", "](", "#file:'", "${input:", "```!\nx\n", "\n```\n", "@a", "(", "${"} {
		for _, kind := range []command.Kind{command.Claude, command.OpenCode, command.Gemini, command.Copilot} {
			c := &command.Command{Name: "c", Kind: kind, Text: strings.Repeat(open, 1<<18/len(open))}
			began := time.Now()
			_ = c.Lines()
			_ = c.Files()
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s %q takes %v", kind, open, took)
			}
		}
	}
}
