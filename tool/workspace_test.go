package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
)

func needs(f *fixture, tool string, in object) []permission.Query {
	f.t.Helper()
	plan, err := f.prepare(tool, in)
	if err != nil {
		f.t.Fatal(err)
	}
	defer plan.Close()
	return plan.Needs()
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func TestNeeds(t *testing.T) {
	f := newFixture(t, func(e *Env) { e.Protected = []string{"my/agents/**"} })
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f.file("d/a.txt", "")
	symlink(t, "d", filepath.Join(f.root, "link"))
	symlink(t, outside, filepath.Join(f.root, "out"))
	symlink(t, "no/such/file", filepath.Join(f.root, "dangling"))
	symlink(t, ".git/config", filepath.Join(f.root, "innocent"))
	const external, protected = permission.ExternalDirectory, permission.Protected
	tests := []struct {
		tool, path string
		want       []permission.Query
	}{
		{"read", "d/a.txt", []permission.Query{{Tool: "read", Subject: "d/a.txt"}}},
		{"read", "./d/../d//a.txt", []permission.Query{{Tool: "read", Subject: "d/a.txt"}}},
		{"read", f.root + "/d/a.txt", []permission.Query{{Tool: "read", Subject: "d/a.txt"}}},
		{"read", "link/a.txt", []permission.Query{{Tool: "read", Subject: "d/a.txt"}}},
		{"read", "link/../d", []permission.Query{{Tool: "read", Subject: "d"}}},
		{"read", ".", []permission.Query{{Tool: "read", Subject: "."}}},
		{"read", "no/such", []permission.Query{{Tool: "read", Subject: "no/such"}}},
		{"read", "dangling", []permission.Query{{Tool: "read", Subject: "no/such/file"}}},
		{"read", "out/x", []permission.Query{{Tool: "read", Subject: outside + "/x"}, {Tool: external, Subject: outside + "/x"}}},
		{"read", "..", []permission.Query{{Tool: "read", Subject: filepath.Dir(f.root)}, {Tool: external, Subject: filepath.Dir(f.root)}}},
		{"read", f.root + "x", []permission.Query{{Tool: "read", Subject: f.root + "x"}, {Tool: external, Subject: f.root + "x"}}},
		{"write", "new/x", []permission.Query{{Tool: "write", Subject: "new/x"}}},
		{"write", "out/x", []permission.Query{{Tool: "write", Subject: outside + "/x"}, {Tool: external, Subject: outside + "/x"}}},
		{"write", "roster.yaml", []permission.Query{{Tool: "write", Subject: "roster.yaml"}, {Tool: protected, Subject: "roster.yaml"}}},
		{"write", "innocent", []permission.Query{{Tool: "write", Subject: ".git/config"}, {Tool: protected, Subject: ".git/config"}}},
		{"write", "out/.claude/x", []permission.Query{{Tool: "write", Subject: outside + "/.claude/x"},
			{Tool: external, Subject: outside + "/.claude/x"}, {Tool: protected, Subject: outside + "/.claude/x"}}},
		{"edit", "my/agents/x.md", []permission.Query{{Tool: "edit", Subject: "my/agents/x.md"}, {Tool: protected, Subject: "my/agents/x.md"}}},
		{"glob", "link", []permission.Query{{Tool: "glob", Subject: "d"}}},
		{"grep", "out", []permission.Query{{Tool: "grep", Subject: outside}, {Tool: external, Subject: outside}}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.path, func(t *testing.T) {
			in := object{"path": tt.path}
			switch tt.tool {
			case "write":
				in["content"] = ""
			case "edit":
				in["old"], in["new"] = "a", "b"
			case "glob", "grep":
				in["pattern"] = "x"
			}
			if diff := cmp.Diff(tt.want, needs(f, tt.tool, in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProtectedPaths(t *testing.T) {
	f := newFixture(t)
	tests := map[string]bool{
		"roster.yaml": true, "sub/roster.yaml": true, "AGENTS.md": true, "sub/Agents.MD": true, "CLAUDE.md": true,
		".mcp.json": true, ".git/hooks/pre-commit": true, "vendor/x/.git/config": true, ".GIT/config": true,
		"profiles/a.md": true, "rig/profiles/deep/a.md": true, "agent/a.md": true, "agents/a/b.md": true,
		".opencode/agent/a.md": true, ".claude/settings.json": true, "x/review.agent.md": true, "new/system_prompt.txt": true, "persona.txt": true, "tools/enabled.json": true, "x/tools/enabled.json": true,
		".cla\u017fde/x": false, ".claude\u017f/x": false, "profile\u017f/a.md": true, "my-rig/profiles/a.md": true,
		"src/agents/a.go": false, "readme.md": false, ".gitignore": false, "profiles.go": false, "rig/loom/strands/x": false, "new/config.json": false,
	}
	for path, want := range tests {
		if got := isProtected(f, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func isProtected(f *fixture, path string) bool {
	return slices.ContainsFunc(needs(f, "write", object{"path": path, "content": ""}), func(q permission.Query) bool {
		return q.Tool == permission.Protected
	})
}

// TestProtectedDirectories lie anywhere, and stay protected for an agent that
// works below them.
func TestProtectedDirectories(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"Profiles/sub", "real", "user", "work"} {
		if err := os.MkdirAll(filepath.Join(outer, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, "real", filepath.Join(outer, "linked"))
	f := newFixture(t, func(e *Env) {
		e.Root = filepath.Join(outer, "work")
		e.Protected = []string{outer, outer + "/Profiles", outer + "/linked", outer + "/user", outer + "/none/yet"}
	})
	for path, want := range map[string]bool{
		"../Profiles/a.md": true, "../profiles/sub/b.md": true, "../real/x": true, "../linked/x": true, outer + "/user": true,
		"../none/yet/x": true, "x.md": false, "../other/x": false, "../Profilesx": false,
	} {
		if got := isProtected(f, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestStateDirectoryIsDeniedToAll(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.MkdirAll(filepath.Join(state, "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "roster.db"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(e *Env) { e.StateDir = state })
	symlink(t, state, filepath.Join(f.root, "s"))
	symlink(t, filepath.Join(state, "roster.db"), filepath.Join(f.root, "db.txt"))
	for _, path := range []string{state, "s", "s/roster.db", "s/deep/../roster.db", "db.txt", state + "/new"} {
		for tool, in := range map[string]object{
			"read": {}, "write": {"content": ""}, "edit": {"old": "a", "new": "b"},
			"glob": {"pattern": "*"}, "grep": {"pattern": "x"},
		} {
			in["path"] = path
			_, err := f.prepare(tool, in)
			var denied *StateDirError
			if !errors.As(err, &denied) {
				t.Errorf("%s %s: %v", tool, path, err)
			}
		}
		if _, err := f.prepare("bash", object{"command": "ls", "workdir": path}); err == nil {
			t.Errorf("bash in %s", path)
		}
	}
	f.has(f.ok("glob", object{"pattern": "*"}), "[no file matches]", "[2 files left out")
	parent := filepath.Dir(state)
	f.has(f.ok("grep", object{"pattern": "secret", "path": parent}), "[no line matches]")
	f.same(f.ok("read", object{"path": parent}), "[the directory is empty]")
}

// TestSwapAfterPrepare replaces what was judged by something else before it is
// used.
func TestSwapAfterPrepare(t *testing.T) {
	secretDir := t.TempDir()
	if err := os.WriteFile(filepath.Join(secretDir, "a.txt"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	swaps := map[string]func(t *testing.T, root string){
		"file by link": func(t *testing.T, root string) {
			os.Remove(root + "/d/a.txt")
			symlink(t, secretDir+"/a.txt", root+"/d/a.txt")
		},
		"directory by link": func(t *testing.T, root string) {
			os.Rename(root+"/d", root+"/old")
			symlink(t, secretDir, root+"/d")
		},
	}
	inputs := map[string]object{
		"read":  {"path": "d/a.txt"},
		"write": {"path": "d/a.txt", "content": "written", "force": true},
		"edit":  {"path": "d/a.txt", "old": "e", "new": "x", "force": true},
		"grep":  {"path": "d", "pattern": "."},
		"bash":  {"command": "cat a.txt; echo >> a.txt", "workdir": "d"},
	}
	for name, swap := range swaps {
		for tool, in := range inputs {
			if tool == "bash" && name == "file by link" {
				continue // which files a command opens is not bound
			}
			t.Run(name+", "+tool, func(t *testing.T) {
				f := newFixture(t)
				f.file("d/a.txt", "mine")
				plan, err := f.prepare(tool, in)
				if err != nil {
					t.Fatal(err)
				}
				defer plan.Close()
				swap(t, f.root)
				r, err := plan.Run(t.Context(), nil)
				if got := fmt.Sprint(r, err); len(got) == 0 || contains(got, "secret") {
					t.Errorf("the secret was seen: %s", got)
				}
				if b, err := os.ReadFile(filepath.Join(secretDir, "a.txt")); err != nil || string(b) != "secret" {
					t.Errorf("the file outside is now %q, %v", b, err)
				}
			})
		}
	}
}

func TestLinkLoop(t *testing.T) {
	f := newFixture(t)
	symlink(t, "b", filepath.Join(f.root, "a"))
	symlink(t, "a", filepath.Join(f.root, "b"))
	f.fails("read", object{"path": "a"}, "too many levels of symbolic links")
}

func TestBuiltinsNeedAWorkspace(t *testing.T) {
	for name, env := range map[string]Env{
		"relative": {Root: ".", Exec: []string{"x"}},
		"missing":  {Root: "/no/such/directory", Exec: []string{"x"}},
		"a file":   {Root: os.Args[0], Exec: []string{"x"}},
	} {
		if _, err := Builtins(env); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestNoHelper: a program that cannot be the exec helper starts no commands, and
// says why; its other tools work.
func TestNoHelper(t *testing.T) {
	f := newFixture(t, func(e *Env) { e.Exec = nil })
	f.file("a.txt", "hello")
	f.has(f.ok("read", object{"path": "a.txt"}), "hello")
	r, err := f.run("bash", object{"command": "echo hi"})
	if err != nil || !r.Error || !strings.Contains(message.PartsText(r.Parts), "call sandbox.Main") {
		t.Errorf("%+v, %v", r, err)
	}
}
