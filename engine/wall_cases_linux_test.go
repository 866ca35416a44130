package engine_test

import (
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/permission"
)

const (
	external  = permission.ExternalDirectory
	protected = permission.Protected
	anyFile   = "read write edit grep"
	changing  = "write edit"
)

// escape is a way out of a workspace: a path for tools, or a line for bash.
type escape struct {
	name  string
	tools string
	path  string
	by    string // see verdict.check
	set   func(w *wall)
	// as is how a careless reader takes the path; nil: as it is.
	as func(string) string
	// bounds is a case that reaches nothing and must end.
	bounds bool
}

func links(pairs ...string) func(*wall) {
	return func(w *wall) {
		for i := 0; i < len(pairs); i += 2 {
			w.link(pairs[i+1], pairs[i])
		}
	}
}

func inside(dirs ...string) func(*wall) {
	return func(w *wall) {
		for _, d := range dirs {
			w.must(os.MkdirAll(w.ws+"/"+d, 0o777))
		}
	}
}

func hardLink(target, name string) func(*wall) {
	return func(w *wall) { w.must(os.Link(w.fill(target), w.ws+"/"+name)) }
}

func here(w *wall)  { w.t.(*testing.T).Chdir(w.ws) }
func there(w *wall) { w.t.(*testing.T).Chdir(w.out) }

// opened keeps a file outside open at a known number.
func opened(w *wall) {
	fd, err := syscall.Open(w.out+"/SECRET.txt", syscall.O_RDWR, 0)
	w.must(err)
	w.must(syscall.Dup3(fd, 217, syscall.O_CLOEXEC))
	syscall.Close(fd)
	w.t.Cleanup(func() { syscall.Close(217) })
}

func home(w *wall) { w.t.(*testing.T).Setenv("HOME", w.out) }

func replaced(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

func unescaped(s string) string {
	for strings.Contains(s, "%") {
		s, _ = url.PathUnescape(s)
	}
	return s
}

var (
	pathLinks = []escape{
		{name: "a link", tools: anyFile, path: "l", by: external, set: links("l", "$O/SECRET.txt")},
		{name: "a link to the folder", tools: anyFile, path: "dir/SECRET.txt", by: external, set: links("dir", "$O")},
		{name: "a folder that is a link", tools: "grep glob", path: "dir", by: external, set: links("dir", "$O")},
		{name: "a folder that is a link, with a slash", tools: "grep glob", path: "dir/", by: external, set: links("dir", "$O")},
		{name: "a folder that is a link, with a dot", tools: "grep glob", path: "dir/.", by: external, set: links("dir", "$O")},
		{name: "a new file in a linked folder", tools: "write", path: "dir/new/x", by: external, set: links("dir", "$O")},
		{name: "a relative link", tools: anyFile, path: "rel/SECRET.txt", by: external, set: links("rel", "../outside")},
		{name: "a link through the workspace's own path", tools: anyFile, path: "l", by: external, set: links("l", "$W/../outside/SECRET.txt")},
		{name: "a chain of links", tools: anyFile, path: "a/SECRET.txt", by: external, set: links("a", "b", "b", "d/c", "d/c", "../z", "z", "$O")},
		{name: "a link in a linked folder", tools: anyFile, path: "a/c/SECRET.txt", by: external, set: links("a", "d", "d/c", "$O")},
		{name: "up after a link", tools: anyFile, path: "dir/../SECRET.txt", by: external, set: links("dir", "$O/deep")},
		{name: "up after a link that leads up", tools: anyFile, path: "d/up/../outside/SECRET.txt", by: external, set: links("d/up", "..")},
		{name: "up twice after a link inside", tools: anyFile, path: "a/../../outside/SECRET.txt", by: external, set: links("a", "d")},
		{name: "up inside of a link", tools: anyFile, path: "a/SECRET.txt", by: external, set: links("a", "d/e/../../../outside")},
		{name: "a dangling link", tools: "write", path: "l", by: external, set: links("l", "$O/new.txt")},
		{name: "a dangling link by a link", tools: "write", path: "m", by: external, set: links("l", "$O/new.txt", "m", "l")},
		{name: "a link to the root", tools: anyFile, path: "r$O/SECRET.txt", by: external, set: links("r", "/")},
		{name: "a link to the root by way of proc", tools: anyFile, path: "r$O/SECRET.txt", by: external, set: links("r", "/proc/self/root")},
		{name: "a link to the working directory", tools: anyFile, path: "c/SECRET.txt", by: external,
			set: func(w *wall) { there(w); w.link("/proc/self/cwd", "c") }},
		{name: "a link to what is open", tools: "read grep", path: "f", by: external,
			set: func(w *wall) { opened(w); w.link("/proc/self/fd/217", "f") }},
		{name: "a link with a newline in its name", tools: anyFile, path: "a\nb/SECRET.txt", by: external, set: links("a\nb", "$O")},
		{name: "as many links as there may be", tools: anyFile, path: "l0/SECRET.txt", by: external, set: func(w *wall) {
			for i := range 39 {
				w.link("l"+string(rune('0'+i+1)), "l"+string(rune('0'+i)))
			}
			w.link("$O", "l"+string(rune('0'+39)))
		}},
		{name: "links in a circle", tools: anyFile, path: "a", by: "=too many levels of symbolic links", set: links("a", "b", "b", "a"), bounds: true},
		{name: "a link to a device without end", tools: anyFile, path: "z", by: external, set: links("z", "/dev/zero"), bounds: true},
		{name: "a hard link to what is outside", tools: changing, path: "h", by: "=h", set: hardLink("$O/SECRET.txt", "h")},
		{name: "a hard link to a protected file", tools: "write", path: "h", by: "=overwrote h", set: hardLink("$W/roster.yaml", "h")},
	}
	pathNames = []escape{
		{name: "up", tools: anyFile, path: "../outside/SECRET.txt", by: external},
		{name: "a folder beside", tools: "grep glob", path: "../outside", by: external},
		{name: "up from a folder", tools: anyFile, path: "d/e/../../../outside/SECRET.txt", by: external},
		{name: "up with dots between", tools: anyFile, path: "./d/.././../outside/./SECRET.txt", by: external},
		{name: "up past the root", tools: anyFile, path: strings.Repeat("../", 60) + "$O/SECRET.txt", by: external},
		{name: "in full", tools: anyFile, path: "$O/SECRET.txt", by: external},
		{name: "in full with slashes", tools: anyFile, path: "//$O///SECRET.txt", by: external},
		{name: "in full by way of the workspace", tools: anyFile, path: "$W/d/../../outside/SECRET.txt", by: external},
		{name: "a name that begins like the workspace's", tools: "read grep", path: "$W-2/SECRET.txt", by: external,
			set: func(w *wall) { w.must(os.Rename(w.out, w.ws+"-2")) }},
		{name: "by way of the working directory", tools: anyFile, path: "/proc/self/cwd/../outside/SECRET.txt", by: external, set: here},
		{name: "by way of a working directory outside", tools: anyFile, path: "/proc/self/cwd/SECRET.txt", by: external, set: there},
		{name: "by way of the process's root", tools: anyFile, path: "/proc/self/root$O/SECRET.txt", by: external},
		{name: "by way of the thread's root", tools: anyFile, path: "/proc/thread-self/root$O/SECRET.txt", by: external},
		{name: "by way of the process's number", tools: anyFile, path: "/proc/$PID/root$O/SECRET.txt", by: external},
		{name: "by way of the process's tasks", tools: anyFile, path: "/proc/$PID/task/$PID/cwd/SECRET.txt", by: external, set: there},
		{name: "by way of an open file", tools: "read grep", path: "/proc/self/fd/217", by: external, set: opened},
		{name: "by way of an open file in dev", tools: "read grep", path: "/dev/fd/217", by: external, set: opened},
		{name: "what the process reads", tools: anyFile, path: "/dev/stdin", by: external, bounds: true},
		{name: "what the process was given", tools: "read grep", path: "/proc/self/environ", by: external, bounds: true},
		{name: "as long as a path may be", tools: anyFile, path: strings.Repeat("d/../", 700) + "../outside/SECRET.txt", by: external},
		{name: "longer than a path may be", tools: anyFile, path: strings.Repeat("d/../", 900) + "../outside/SECRET.txt", by: "=file name too long", bounds: true},
		{name: "ten thousand folders", tools: anyFile, path: strings.Repeat("a/", 10_000) + "x", by: "=file name too long", bounds: true},
		{name: "a name longer than one may be", tools: anyFile, path: strings.Repeat("a", 300) + "/../../outside/SECRET.txt", by: "=file name too long", bounds: true},
		{name: "through a folder that is not there", tools: anyFile, path: "none/../../outside/SECRET.txt", by: "=no such file or directory",
			as: replaced("none/../", "")},
		{name: "through a file", tools: anyFile, path: "d/a.txt/../../../outside/SECRET.txt", by: "=not a directory",
			as: replaced("a.txt/../", "")},
		{name: "nothing", tools: anyFile, path: "", by: "=path", bounds: true},
		{name: "a pipe", tools: anyFile, path: "p", by: "=", set: func(w *wall) { w.must(syscall.Mkfifo(w.ws+"/p", 0o666)) }, bounds: true},
		{name: "a socket", tools: anyFile, path: "s", by: "=", bounds: true,
			set: func(w *wall) { w.must(syscall.Mknod(w.ws+"/s", syscall.S_IFSOCK|0o666, 0)) }},
	}
	pathReadings = []escape{
		{name: "home", tools: anyFile, path: "~/SECRET.txt", by: "=nothing in it is expanded", set: home, as: replaced("~", "$O")},
		{name: "a user's home", tools: anyFile, path: "~nobody/SECRET.txt", by: "=nothing in it is expanded", as: replaced("~nobody", "$O")},
		{name: "a variable", tools: anyFile, path: "$HOME/SECRET.txt", by: "=nothing in it is expanded", set: home, as: os.ExpandEnv},
		{name: "a variable in braces", tools: anyFile, path: "${HOME}/SECRET.txt", by: "=nothing in it is expanded", set: home, as: os.ExpandEnv},
		{name: "an address", tools: anyFile, path: "file://$O/SECRET.txt", by: "=nothing in it is expanded", as: replaced("file://", "")},
		{name: "percent signs for dots", tools: "read grep", path: "%2e%2e/outside/SECRET.txt", by: "=does not exist", as: unescaped},
		{name: "percent signs for slashes", tools: "read grep", path: "..%2foutside%2FSECRET.txt", by: "=does not exist", as: unescaped},
		{name: "percent signs twice", tools: "read grep", path: "%252e%252e/outside/SECRET.txt", by: "=does not exist", as: unescaped},
		{name: "backslashes", tools: "read grep write", path: `..\outside\SECRET.txt`, by: "=", as: replaced(`\`, "/")},
		{name: "full-width slashes", tools: "read grep write", path: "..／outside／SECRET.txt", by: "=", as: replaced("／", "/")},
		{name: "division slashes", tools: "read grep write", path: "..∕outside⁄SECRET.txt", by: "=", as: replaced("∕", "/", "⁄", "/")},
		{name: "full-width dots", tools: "read grep write", path: "．．/outside/SECRET.txt", by: "=", as: replaced("．", ".")},
		{name: "a sign of two dots", tools: "read grep write", path: "‥/outside/SECRET.txt", by: "=", as: replaced("‥", "..")},
		{name: "signs without width", tools: "read grep write", path: ".\u200b./outside/SECRET.txt", by: "=", as: replaced("\u200b", "")},
		{name: "signs that turn the direction", tools: "read grep write", path: "\u202e../outside/SECRET.txt", by: "=", as: replaced("\u202e", "")},
		{name: "an accent apart", tools: "read grep write", path: "e\u0301/SECRET.txt", by: "=", set: links("\u00e9", "$O"), as: replaced("e\u0301", "\u00e9")},
		{name: "a space behind the dots", tools: "read grep write", path: ".. /outside/SECRET.txt", by: "=", as: replaced(".. ", "..")},
		{name: "a space in front", tools: "read grep write", path: " ../outside/SECRET.txt", by: "=", as: strings.TrimSpace},
		{name: "a dot behind the dots", tools: "read grep write", path: ".../outside/SECRET.txt", by: "=", as: replaced("...", "..")},
		{name: "a newline", tools: "read grep write", path: "..\n/outside/SECRET.txt", by: "=", as: replaced("\n", "")},
		{name: "a NUL behind it", tools: anyFile, path: "../outside/SECRET.txt\x00.md", by: "=invalid argument", as: replaced("\x00.md", "")},
	}
	pathGuarded = []escape{
		{name: "protected: as it is", tools: changing, path: "roster.yaml", by: protected},
		{name: "protected: through another", tools: changing, path: ".git/../roster.yaml", by: protected},
		{name: "protected: through two", tools: changing, path: "rig/x/../../roster.yaml", by: protected, set: inside("rig/x")},
		{name: "protected: in full", tools: changing, path: "$W//./roster.yaml", by: protected},
		{name: "protected: from outside", tools: changing, path: "../ws/AGENTS.md", by: protected},
		{name: "protected: in other case", tools: changing, path: ".GIT/config", by: protected, as: strings.ToLower},
		{name: "protected: a file in other case", tools: changing, path: "Agents.MD", by: protected, as: replaced("Agents.MD", "AGENTS.md")},
		{name: "protected: a long s", tools: changing, path: "profileſ/p.md", by: protected, as: replaced("ſ", "s")},
		{name: "protected: a ligature", tools: "write", path: "proﬁles/p.md", by: "=created proﬁles/p.md", as: replaced("ﬁ", "fi")},
		{name: "protected: a link", tools: changing, path: "notes.txt", by: protected, set: links("notes.txt", "roster.yaml")},
		{name: "protected: a linked folder", tools: changing, path: "g/config", by: protected, set: links("g", ".git")},
		{name: "protected: up after a link", tools: changing, path: "x/../roster.yaml", by: protected, set: links("x", "d")},
		{name: "protected: a new file", tools: "write", path: "profiles/sub/new.md", by: protected},
		{name: "protected: a new hook", tools: "write", path: ".git/hooks/pre-commit", by: protected},
		{name: "protected: by way of the process", tools: changing, path: "/proc/self/cwd/roster.yaml", by: protected, set: here},
		{name: "state: in full", tools: anyFile, path: "$S/SECRET.db", by: "state"},
		{name: "state: up", tools: anyFile, path: "../state/SECRET.db", by: "state"},
		{name: "state: a folder", tools: "grep glob", path: "$S", by: "state"},
		{name: "state: a link", tools: anyFile, path: "s/SECRET.db", by: "state", set: links("s", "$S")},
		{name: "state: a dangling link", tools: "write", path: "s", by: "state", set: links("s", "$S/new")},
		{name: "state: by way of the process", tools: anyFile, path: "/proc/self/root$S/SECRET.db", by: "state"},
		{name: "state: in other case", tools: anyFile, path: "../STATE/SECRET.db", by: "state", as: replaced("STATE", "state")},
	}
	lineRedirections = []escape{
		{name: "reads", path: "cat < ../outside/SECRET.txt", by: external},
		{name: "reads in full", path: "cat < $O/SECRET.txt", by: external},
		{name: "writes", path: "echo x > ../outside/new", by: external},
		{name: "appends", path: "echo x >> ../outside/SECRET.txt", by: external},
		{name: "opens for both", path: "echo x <> ../outside/SECRET.txt >&0", by: external},
		{name: "opens a descriptor", path: "exec 7> ../outside/new; echo x >&7", by: external},
		{name: "in quotes", path: `echo x > ".."/'outside'/n\ew`, by: external},
		{name: "in signs", path: `echo x > $'\x2e./outside/new'`, by: external},
		{name: "a variable", path: "f=../outside/new; echo x > $f", by: external},
		{name: "a link, read", path: "cat < l", by: external, set: links("l", "$O/SECRET.txt")},
		{name: "a link, written", path: "echo x > l", by: external, set: links("l", "$O/SECRET.txt")},
		{name: "a link, all written", path: "echo x &> l", by: external, set: links("l", "$O/SECRET.txt")},
		{name: "a linked folder", path: "echo x > dir/new", by: external, set: links("dir", "$O")},
		{name: "a dangling link", path: "echo x > l", by: external, set: links("l", "$O/new")},
		{name: "a hard link", path: "echo x > h", by: external, set: hardLink("$O/SECRET.txt", "h")},
		{name: "from another folder", path: "cd d && echo x > ../../outside/new", by: external},
		{name: "from a linked folder", path: "cd dir && echo x > new", by: external, set: links("dir", "$O")},
		{name: "from above a linked folder", path: "cd -P dir/.. && cat < SECRET.txt", by: external, set: links("dir", "$O/deep")},
		{name: "from a folder above", path: "(cd ..; echo x > outside/new)", by: external},
		{name: "in a shell", path: "bash -c 'echo x > ../outside/new'", by: external},
		{name: "behind a document", path: "cat <<E > ../outside/new\nx\nE", by: external},
		{name: "by way of the process's root", path: "cat < /proc/self/root$O/SECRET.txt", by: external},
		{name: "a protected file", path: "echo x > d/../roster.yaml", by: protected},
		{name: "a protected file in other case", path: "echo x > .GIT/config", by: protected, as: strings.ToLower},
		{name: "a link to a protected file", path: "echo x > n", by: protected, set: links("n", "roster.yaml")},
		{name: "a protected file, read and then written", path: "echo x < roster.yaml > /dev/stdin", by: external},
		{name: "a protected file by way of the process", path: "echo x > /proc/self/cwd/roster.yaml", by: external},
		{name: "the state", path: "cat < $S/SECRET.db", by: "state"},
		{name: "a link to the state", path: "echo x > s/new", by: "state", set: links("s", "$S")},
	}
)
