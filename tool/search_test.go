package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

// tree is a workspace with what searches must deal with.
func tree(t *testing.T, change ...func(*Env)) *fixture {
	f := newFixture(t, change...)
	for i, name := range []string{"b.go", "a.go", "sub/c.go", "sub/deep/d.txt", ".hidden", "build/out.go", "sub/gen.go", ".git/x.go", "keep.log", "x.log", ".env"} {
		f.file(name, fmt.Sprintf("package %s // number %d\n", filepath.Base(name), i))
		f.age(name, i)
	}
	f.file(".gitignore", "build/\n*.log\n!keep.log\n")
	f.file("sub/.gitignore", "/gen.go\n")
	f.age(".gitignore", 100)
	f.age("sub/.gitignore", 100)
	return f
}

func TestGlob(t *testing.T) {
	tests := map[string]struct {
		in   object
		want string
	}{
		"one level":       {object{"pattern": "*.go"}, "b.go\na.go\n"},
		"any level":       {object{"pattern": "**/*.go"}, "b.go\na.go\nsub/c.go\n"},
		"below":           {object{"pattern": "**", "path": "sub"}, "sub/c.go\nsub/deep/d.txt\nsub/.gitignore\n"},
		"braces":          {object{"pattern": "{a,b}.go"}, "b.go\na.go\n"},
		"ignored asked":   {object{"pattern": "**/*.go", "include-ignored": true}, "b.go\na.go\nsub/c.go\nbuild/out.go\nsub/gen.go\n"},
		"ignored as path": {object{"pattern": "*", "path": "build"}, "build/out.go\n"},
		"negated":         {object{"pattern": "*.log"}, "keep.log\n"},
		"hidden":          {object{"pattern": ".h*"}, ".hidden\n"},
		"none":            {object{"pattern": "*.none"}, "[no file matches]\n"},
	}
	f := tree(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { f.same(f.ok("glob", tt.in), tt.want) })
	}
	f.fails("glob", object{"pattern": "/etc/*"}, "is absolute")
	f.fails("glob", object{"pattern": "a/../../*"}, "goes up")
	f.fails("glob", object{"pattern": "[a"}, "malformed")
	f.fails("glob", object{"pattern": "*", "path": "a.go"}, "is a file")
	f.fails("glob", object{"pattern": "*", "path": "none"}, "does not exist")
}

func TestGlobTiesAndLimit(t *testing.T) {
	f := newFixture(t, settingsOf(`{"glob":{"limit":3}}`))
	for _, name := range []string{"d", "b", "a", "c"} {
		f.file(name, "")
		f.age(name, 1)
	}
	f.same(f.ok("glob", object{"pattern": "*"}), "a\nb\nc\n[1 more match left out: only the newest 3 are listed, narrow the pattern]\n")
}

func TestGlobAgreesWithGit(t *testing.T) {
	f := tree(t)
	f.file("a b/[x]/é.txt", "")
	f.file("logs/deep/a.txt", "")
	f.file("logs/keep/a.txt", "")
	f.file("docs/a/tmp/x", "")
	f.file("docs/tmp/x", "")
	f.file(".gitignore", "# comment\nbuild/\n*.log\n!keep.log\nlogs/*\n!logs/keep\ndocs/**/tmp\n\\#x\n/sub/deep\ntrailing  \n")
	f.file("#x", "")
	f.file("trailing", "")
	if err := os.RemoveAll(filepath.Join(f.root, ".git")); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = f.root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	f.file(".git/info/exclude", "*.txt\n!a.txt\n")
	want := strings.FieldsFunc(git("-c", "core.quotepath=off", "ls-files", "-z", "--others", "--exclude-standard"), func(r rune) bool { return r == 0 })
	got := strings.Split(strings.TrimSpace(f.ok("glob", object{"pattern": "**"})), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSearchTakesReadsVerdict(t *testing.T) {
	f := tree(t)
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "s.go"), []byte("package secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(secret, "s.go"), filepath.Join(f.root, "link.go"))
	symlink(t, "a.go", filepath.Join(f.root, "alias.go"))
	symlink(t, secret, filepath.Join(f.root, "dir"))
	f.rules(append(permission.Builtin(), permission.Rule{Tool: "read", Subject: "sub/c*", Effect: permission.Deny})...)
	f.same(f.ok("glob", object{"pattern": "**/*.go"}), "b.go\na.go\nalias.go\n[2 files left out: the permission rules do not allow to read]\n")
	f.same(f.ok("grep", object{"pattern": "package"}), "b.go:1: package b.go // number 0\na.go:1: package a.go // number 1\n"+
		"sub/deep/d.txt:1: package d.txt // number 3\n.hidden:1: package .hidden // number 4\nkeep.log:1: package keep.log // number 8\n"+
		"[2 files left out: the permission rules do not allow to read]\n")
	f.same(f.ok("grep", object{"pattern": "x", "path": ".env"}), "[no line matches]\n[1 file left out: the permission rules do not allow to read]\n")

	f.permit = nil
	f.has(f.ok("glob", object{"pattern": "**"}), "[no file matches]")
}

func TestGrep(t *testing.T) {
	tests := map[string]struct {
		in   object
		set  string
		want string
	}{
		"match":           {object{"pattern": `number [01]$`}, `{}`, "b.go:1: package b.go // number 0\na.go:1: package a.go // number 1\n"},
		"glob by name":    {object{"pattern": "package", "glob": "*.txt"}, `{}`, "sub/deep/d.txt:1: package d.txt // number 3\n"},
		"glob by path":    {object{"pattern": "package", "glob": "sub/*"}, `{}`, "sub/c.go:1: package c.go // number 2\n"},
		"file":            {object{"pattern": "package", "path": "a.go"}, `{}`, "a.go:1: package a.go // number 1\n"},
		"case":            {object{"pattern": "PACKAGE B"}, `{}`, "[no line matches]\n"},
		"ignore case":     {object{"pattern": "PACKAGE B|zzz", "ignore-case": true}, `{}`, "b.go:1: package b.go // number 0\n"},
		"no line numbers": {object{"pattern": "number 0"}, `{"grep":{"line-numbers":false}}`, "b.go: package b.go // number 0\n"},
		"limit": {object{"pattern": "package"}, `{"grep":{"limit":1}}`,
			"b.go:1: package b.go // number 0\n[stopped at 1 matching line: there are more, narrow the search]\n"},
		"line cut": {object{"pattern": "number 0"}, `{"grep":{"max-line-length":7}}`, "b.go:1: package [line cut, 17 more bytes]\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := tree(t, settingsOf(tt.set))
			f.same(f.ok("grep", tt.in), tt.want)
		})
	}
	f := tree(t)
	f.fails("grep", object{"pattern": "a(?=b)"}, "RE2")
	f.fails("grep", object{"pattern": "a", "glob": "[x"}, "malformed")
}

func TestGrepOddFiles(t *testing.T) {
	f := newFixture(t)
	f.file("bin", "needle\x00")
	f.file("crlf", "x\r\nneedle\r\n")
	f.file("long", strings.Repeat("x", 3*grepBuffer)+"needle\nneedle again\n")
	f.age("crlf", 1)
	f.age("long", 2)
	text := f.ok("grep", object{"pattern": "needle$"})
	f.has(text, "crlf:2: needle\n", "long:1: ", "[1 binary file skipped]", fmt.Sprintf("[1 line of more than %d bytes searched in pieces]", grepBuffer))
	if contains(text, "long:2") {
		t.Errorf("got:\n%s", text)
	}
}

func TestSearchSaysWhatItCouldNotRead(t *testing.T) {
	f := newFixture(t)
	// Nobody, not even root, reads this file from its beginning.
	f.has(f.ok("grep", object{"pattern": "x", "path": "/proc/self/mem"}), "[1 file or directory could not be read, such as /proc/")
}

func TestSearchEndsWithItsContext(t *testing.T) {
	f := tree(t)
	for _, tool := range []string{"glob", "grep"} {
		plan, err := f.prepare(tool, object{"pattern": "x"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := plan.Run(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool, err)
		}
		plan.Close()
	}
}

// TestSearchAroundTheWorkspace: the rules for a file hold wherever a search
// begins.
func TestSearchAroundTheWorkspace(t *testing.T) {
	f := newFixture(t)
	f.file("secrets/key", "needle")
	f.file("open", "needle")
	f.rules(permission.Rule{Tool: "*", Subject: "*", Effect: permission.Allow},
		permission.Rule{Tool: permission.ExternalDirectory, Subject: "*", Effect: permission.Allow},
		permission.Rule{Tool: "read", Subject: "secrets/*", Effect: permission.Deny})
	const leftOut = "[1 file left out: the permission rules do not allow to read]\n"
	f.same(f.ok("grep", object{"pattern": "needle", "path": ".."}), "open:1: needle\n"+leftOut)
	f.same(f.ok("glob", object{"pattern": "**/{key,open}", "path": ".."}), "open\n"+leftOut)
}

func TestPatternsAreBounded(t *testing.T) {
	f := newFixture(t)
	f.file("abc", "x")
	f.fails("glob", object{"pattern": strings.Repeat("{,}", 30) + "x"}, "braces")
	f.fails("grep", object{"pattern": "x", "glob": strings.Repeat("{a,b}", 9)}, "braces")
	f.fails("glob", object{"pattern": "{a,..}/x"}, "goes up")
	f.fails("glob", object{"pattern": strings.Repeat("a", maxPattern+1)}, "at most")
	f.fails("grep", object{"pattern": strings.Repeat(".{0,1000}", 400)}, "repetitions")
	f.fails("grep", object{"pattern": strings.Repeat("a", maxPattern+1)}, "at most")
	f.same(f.ok("glob", object{"pattern": "{a{b,x},[{]}{c,}"}), "abc\n")
}

// TestSearchesOfHugeLinesEnd: one line that would take hours is left when the
// context ends.
func TestSearchesOfHugeLinesEnd(t *testing.T) {
	f := newFixture(t)
	path := f.file("long", strings.Repeat("x", 1<<20))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	for tool, in := range map[string]object{
		"grep": {"pattern": strings.Repeat(".{0,1000}", 20) + "z", "path": "long"},
		"read": {"path": "long"},
	} {
		plan, err := f.prepare(tool, in)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := plan.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", tool, err)
		}
		cancel()
		plan.Close()
	}
}

func BenchmarkGrep(b *testing.B) {
	root := b.TempDir()
	for i := range 500 {
		text := strings.Repeat(fmt.Sprintf("a line of file %d with some words in it\n", i), 200)
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	tools, err := Builtins(Env{Root: root, Exec: []string{"unused"}})
	if err != nil {
		b.Fatal(err)
	}
	permit, err := permission.Compile(permission.Layers{Rules: permission.Builtin()})
	if err != nil {
		b.Fatal(err)
	}
	input, _ := json.Marshal(object{"pattern": "file 499 with"})
	b.ReportAllocs()
	for b.Loop() {
		plan, err := tools[2].Prepare(b.Context(), Call{Session: "s", Input: input, Permit: permit})
		if err != nil {
			b.Fatal(err)
		}
		r, err := plan.Run(b.Context(), nil)
		if err != nil || !contains(message.PartsText(r.Parts), "f499.txt") {
			b.Fatal(r, err)
		}
		plan.Close()
	}
}
