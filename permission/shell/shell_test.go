package shell

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"git status":           {"git", "status"},
		"  git\t status  ":     {"git", "status"},
		"git status;":          {"git", "status"},
		"git status\n":         {"git", "status"},
		"g'i't \"sta\"tus":     {"git", "status"},
		`x a\ b 'c d' "e f"`:   {"x", "a b", "c d", "e f"},
		`a\\b "x\"y" "x\ay"`:   {`a\b`, `x"y`, `x\ay`},
		"git \\\n status":      {"git", "status"},
		"a '' \"\"":            {"a", "", ""},
		"echo a=b x#y":         {"echo", "a=b", "x#y"},
		"echo '*?[~{}' '$(x)'": {"echo", "*?[~{}", "$(x)"},
		"'if' x":               {"if", "x"},
		"echo ü 🌍":             {"echo", "ü", "🌍"},
		"bash script.sh":       {"bash", "script.sh"},
		"find . -name x":       {"find", ".", "-name", "x"},
		"git -C d switch -c x": {"git", "-C", "d", "switch", "-c", "x"},
		"printf '%s' -n":       {"printf", "%s", "-n"},
		"test -f x":            {"test", "-f", "x"},
	} {
		words, err := Words(line)
		if err != nil || !slices.Equal(words, want) {
			t.Errorf("%q: %q, %v; want %q", line, words, err, want)
		}
	}
}

func TestNotSimple(t *testing.T) {
	for _, line := range []string{
		"a; b", "a\nb", "a | b", "a |& b", "a && b", "a || b", "a & b", "a &", "! a", "(a)", "{ a; }", "a $(b)", "a `b`", "$a", "a $b", "a ${b}",
		"a $((1))", "a \"$b\"", "a \"$(b)\"", "a $'b'", "a $\"b\"", "a <(b)", "a > b", "a < b", "a 2>&1", "a << b\nb", "a <<< b", "X=1 a", "X=1",
		"a *", "a ?", "a [b]", "a {b,c}", "a {1..3}", "a ~", "a ~/x", "a x=~", "if a; then b; fi", "while a; do b; done", "for a in b; do c; done",
		"case a in b) c;; esac", "f() { a; }", "function f { a; }", "[[ a ]]", "((1))", "let a=1", "export A=1", "declare a", "time a", "coproc a",
		"a # b", "a @(b)", "env a", "sudo rm x", "/usr/bin/env a", "xargs rm", "eval a", "source a", ". a", "sh -c a", "bash", "exec a", "command a",
		"find . -exec rm x", "timeout 5 a", "a\r", "a\x01b",
		"git -c alias.x=!rm x", "git -C d --no-pager -c a=b status", "git --config-env=a=B x", "git --exec-path=/tmp x",
		"'./a /../b' c", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "jobs -x rm y", "enable -f ./x.so x",
	} {
		if words, err := Words(line); !errors.Is(err, ErrNotSimple) {
			t.Errorf("%q: %q, %v", line, words, err)
		}
	}
}

// TestNothingRunsOutOfPlainWords: what bash would run out of an argument is not
// taken for a simple command.
func TestNothingRunsOutOfPlainWords(t *testing.T) {
	for _, line := range []string{
		"printf -v 'a[$(echo ran >&2)]' x", "printf '-va[$(echo ran >&2)]' x", "test -v 'a[$(echo ran >&2)]'",
		"'[' -v 'a[$(echo ran >&2)]' ']'", "'let' 'a[$(echo ran >&2)]=1'", "\\declare 'a[$(echo ran >&2)]=1'",
		"\"typeset\" -i 'a=b[$(echo ran >&2)]'", "read 'a[$(echo ran >&2)]'", "compgen -W '$(echo ran >&2)'",
		"jobs -x echo ran", "unset 'BASH_VERSINFO[$(echo ran >&2)]'", "echo 'a[$(echo ran >&2)]'", "cd 'a[$(echo ran >&2)]'",
	} {
		if _, err := Words(line); err != nil {
			continue
		}
		out, _ := exec.Command("bash", "--noprofile", "--norc", "-c", line).CombinedOutput()
		if bytes.HasPrefix(out, []byte("ran")) {
			t.Errorf("%q counts as simple and runs another command", line)
		}
	}
}

func TestUnparsable(t *testing.T) {
	for _, line := range []string{
		"", "  ", "\n", "# only a comment", "a 'b", "a \"b", "a $(b", "a `b", "if", "a |", "a &&", ")", "a\x00b", "a \xff", "a; ;",
		strings.Repeat("a", MaxLine+1), strings.Repeat("$((", MaxLine/3),
	} {
		words, err := Words(line)
		if err == nil || errors.Is(err, ErrNotSimple) {
			t.Errorf("%.40q: %q, %v", line, words, err)
		}
	}
}

// TestBashAgrees lets bash itself print the words of lines that count as
// simple: their first word is replaced by a function that prints.
func TestBashAgrees(t *testing.T) {
	for _, line := range []string{`show a b`, `show 'a b' "c  d" e\ f`, `show "a\$b" '$x' \$x`, `show a\
b "c\
d"`, `show '' "" a''b`, `sh'o'w x#y a=b`, `show "\a\"\\"`, `show !x ü %1 ^a a,b @ +`} {
		agrees(t, line)
	}
}

// agrees compares with bash and says whether the line is simple.
func agrees(t *testing.T, line string) bool {
	t.Helper()
	words, err := Words(line)
	if err != nil {
		if !strings.Contains(t.Name(), "Fuzz") {
			t.Errorf("%q: %v", line, err)
		}
		return false
	}
	if words[0] != "show" {
		return false
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-c", `show() { printf '%s\0' show "$@"; }; eval "$1"`, "bash", line)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	got := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
	if err != nil || !slices.Equal(got, words) {
		t.Errorf("%q: bash says %q (%v), we say %q", line, got, err, words)
	}
	return true
}

// FuzzWords holds every line that counts as simple against bash, as the words
// of a harmless function.
func FuzzWords(f *testing.F) {
	for _, line := range []string{`a b`, `'a' "b" c\ d`, "a; b", "a $(b)", "a {b,c}", "a\r\nb", "$'a'", `"\$"`, "a=b", "!", "a\\\nb", "# x", "\u00a0"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		if len(rest) < 1000 {
			agrees(t, "show "+rest)
		}
		words, err := Words(rest)
		if err == nil && len(words) == 0 {
			t.Error("a simple command without words")
		}
	})
}
