package shell

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

var seeds = []string{
	"git status; rm -rf x", "git $(rm x)", "git status > out", "bash -c 'rm x'", "env rm x", "a | xargs rm", "cat <<E\n$(rm x)\nE", "cat <<'E'\n$(rm x)\nE",
	"$'\\x72m' x", "a & b", "if a; then b; else c; fi", "for x in 1 2; do git $x; done", "case a in b) rm x;; *) c;; esac", "X=1 git fetch",
	"git {a,b{1..3}}", "a \"`b \\`c\\``\"", "a \"${x:-$(b)}\"", "a ${x:='b c'} $x", "a <(b) >(c)", "cd d && a > f; b > g", "time -p a", "time -- a", "coproc a",
	"nice -n 5 timeout 3 a 'b c'", "sh -c 'a; $(b)' x", "sh -c '((a))'", "echo 'ran' 2>&1 >&2 | cat", "a=(x $(b)); c ${a[@]}", "x='a[$(rm y)]'; echo $((x))",
	"[[ -v x && a =~ b ]] && c", "((x++)); a", "{ a; b; } > f", "! a", "while a; do b; break; done < in", "a \\\n b", "eval 'a; b'", "command a", "printf -v x '%s' y; $x",
	"read x < in; git $x", "find . -exec rm {} \\;", "bash <<< 'rm x'", "bash <<E\nrm x\nE", "env -S 'rm -f' x", "xargs -I{} a {} < in", "a[$(rm x)]=1", "f() { a; }; f", "alias a=b; a",
	"trap 'a' EXIT", "echo $x{a,b}", "echo [a-z]* ? {}", "a 'b'\"c\"\\d", "a #b\nc", "a <<< $(b)", "a {x}>f", "a 3>&1 4<&-", "a &> f", "a <> f", "((a)) || b", "$(a)", "a |& b", "a&&b||c",
	"declare -a x=$y", "export A=$(b)", "set -e; a", "a $\"b\"", "select x in a; do b; done", "function f { a; }", "until a; do b; break; done", "a `b 'c'`", "a '$(b)' \"$(c)\"",
}

// fragments are pieces of lines: put together in any order, they are often
// lines, and seldom those that somebody thought of.
var fragments = strings.Fields(`a b c git rm x y echo 1 $x ${x} ${x:-b} ${x:-$(b)} ${x:-'$(b)'} "${x:-" ${x# ${x%"}"} ${x/ ${!x} ${x@Q} ${#x} $# $? $@ "$@" $1
	" " ' ' \" \' \ $' $" $(b) \x60 \x60b\x60 "\x60b\x60" '$(b)' "$(b)" \"$(b)\" $( ) ( ) (( )) $(( $((1)) $((x)) $[ { } {a,b} {1..3} {} , ,b} .. ; & && | || |& ;; ! - -- -p -v -n
	< > >> <> >| &> &>> <& >& 2>&1 >&- 3>&1 {v}> <<< <<E <<'E' <<-E \nE\n \n \n \t # \\\n <( >( >&'$(b)' if then elif else fi while until for in do done select case esac [[ ]] [ ] -f =~ == = x= x+= x=( X=1 a[ a[1] ]=
	* ? @( [a-z] time coproc function f() eval command builtin exec env xargs nice sh bash -c -I{} export declare local read let test printf set return break cd d`)

// assemble puts fragments together, each byte one, some without a blank.
func assemble(choice []byte) string {
	escapes := strings.NewReplacer(`\x60`, "`", `\n`, "\n", `\t`, "\t")
	var b strings.Builder
	for _, c := range choice {
		b.WriteString(escapes.Replace(fragments[int(c)%len(fragments)]))
		if c%3 > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestTrace runs lines in a bash that writes down what runs: nothing may that
// their analysis does not list or say that it does not know.
func TestTrace(t *testing.T) {
	tr := newTracer(t)
	for _, line := range seeds {
		tr.ran(t, line)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		choice := make([]byte, 1+random.IntN(8))
		for i := range choice {
			choice[i] = byte(random.IntN(256))
		}
		tr.ran(t, assemble(choice))
	}
}

// FuzzFragments compares the analysis of assembled lines with what bash runs.
func FuzzFragments(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	tr := newTracer(f)
	f.Fuzz(func(t *testing.T, choice []byte) {
		if len(choice) < 16 {
			tr.ran(t, assemble(choice))
		}
	})
}

// FuzzAnalyze compares the analysis of a line with what bash runs.
func FuzzAnalyze(f *testing.F) {
	for _, line := range seeds {
		f.Add(line)
	}
	tr := newTracer(f)
	f.Fuzz(func(t *testing.T, line string) {
		l, err := Analyze(line)
		again, err2 := Analyze(line)
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(l, again) {
			t.Errorf("%q: %v, %v; then %v, %v", line, l, err, again, err2)
		}
		for _, c := range l.Commands {
			if len(c.Words) == 0 {
				t.Errorf("%q: a command without words", line)
			}
		}
		tr.ran(t, line)
	})
}
