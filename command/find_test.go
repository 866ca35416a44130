package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/profile"
)

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(r *command.Registry) (out []string) {
	for _, c := range r.List() {
		out = append(out, fmt.Sprintf("%s %s %s", c.Name, c.Kind, filepath.Base(c.File)))
	}
	return out
}

func codes(ds []profile.Diagnostic) (out []string) {
	for _, d := range ds {
		out = append(out, d.Code+" "+filepath.Base(d.File))
	}
	return out
}

func TestFind(t *testing.T) {
	dir, home, rh := t.TempDir(), t.TempDir(), t.TempDir()
	for _, f := range []string{
		"commands/own.md", "commands/README.md", "commands/both.md", "commands/note.txt", "commands/.hidden/x.md",
		".claude/commands/git/commit.md", ".claude/commands/both.md", ".claude/commands/a b.md",
		".opencode/command/team/review.md", ".opencode/commands/late.md", ".github/prompts/make.prompt.md", ".github/prompts/other.md",
	} {
		put(t, dir, f, "Do it.\n")
	}
	put(t, dir, ".gemini/commands/sub/look.toml", "description = 'Looks.'\nprompt = 'Look.'\n")
	put(t, dir, "opencode.json", `{"model": "x/y", "command": {"conf": {"template": "Do.", "agent": "plan", "model": "a/b"}, "empty": {"template": ""}}}`)
	put(t, dir, "commands/empty.md", "---\ndescription: x\n---\n")
	put(t, home, ".claude/commands/mine.md", "Mine.")
	put(t, home, ".claude/commands/own.md", "Mine.")
	put(t, home, ".config/opencode/command/oc.md", "Mine.")
	put(t, rh, "commands/rh.md", "Mine.")
	r := command.Find(command.Options{Dir: dir, Home: rh, UserHome: home})
	want := []string{
		"both roster both.md", "conf opencode opencode.json", "git:commit claude commit.md", "late opencode late.md", "make copilot make.prompt.md",
		"mine claude mine.md", "oc opencode oc.md", "own roster own.md", "rh roster rh.md", "sub:look gemini look.toml", "team/review opencode review.md",
	}
	if diff := cmp.Diff(want, names(r)); diff != "" {
		t.Error(diff)
	}
	wantDs := []string{"P294 empty.md", "P295 a b.md", "P296 both.md", "P294 opencode.json", "P296 own.md"}
	if diff := cmp.Diff(wantDs, codes(r.Diagnostics())); diff != "" {
		t.Error(diff)
	}
	if c, err := r.Get("git/commit"); err != nil || c.User || c.File != ".claude/commands/git/commit.md" {
		t.Errorf("git/commit is %+v, %v", c, err)
	}
	if c, _ := r.Get("conf"); c == nil || c.Profile != "plan" || c.Model != "a/b" {
		t.Errorf("conf is %+v", c)
	}
	if c, _ := r.Get("mine"); c == nil || !c.User {
		t.Errorf("mine is %+v", c)
	}
	if _, err := r.Get("git:comit"); err == nil || !strings.Contains(err.Error(), "did you mean /git:commit") {
		t.Errorf("a name that is nearly one: %v", err)
	}
}

func TestFindStaysInTheWorkspace(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret.md", "Secret.")
	put(t, dir, "real/ok.md", "Fine.")
	put(t, dir, ".claude/commands/plain.md", "Fine.")
	links := map[string]string{
		".claude/commands/out.md": filepath.Join(outside, "secret.md"), ".claude/commands/in.md": "../../real/ok.md",
		".claude/commands/gone.md": "nowhere.md", "commands": filepath.Join(outside), ".opencode": "real",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".claude/commands/pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan *command.Registry, 1)
	go func() { done <- command.Find(command.Options{Dir: dir}) }()
	select {
	case r := <-done:
		if diff := cmp.Diff([]string{"in claude in.md", "plain claude plain.md"}, names(r)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"P298 commands", "P298 gone.md", "P298 out.md", "P298 pipe.md"}, codes(r.Diagnostics())); diff != "" {
			t.Error(diff)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a pipe is waited for")
	}
}

// TestTheWorkspaceIsNobodysOwn: where the home folder is the workspace, what lies there
// is not trusted for being the user's.
func TestTheWorkspaceIsNobodysOwn(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".claude/commands/a.md", "Do.")
	r := command.Find(command.Options{Dir: dir, UserHome: dir, Home: filepath.Join(dir, "sub")})
	c, err := r.Get("a")
	if err != nil || c.User {
		t.Errorf("the command is %+v, %v", c, err)
	}
}

func TestLines(t *testing.T) {
	c, _ := command.Read(command.Claude, "c", "c.md", []byte("---\ndescription: x\n---\n\nOne !`a $1`\n\n!`b`\n"))
	var got []string
	for _, l := range c.Lines() {
		got = append(got, fmt.Sprintf("%s %s", l.At, l.Text))
	}
	if diff := cmp.Diff([]string{"c.md:5:1 a $1", "c.md:7:1 b"}, got); diff != "" {
		t.Error(diff)
	}
}
