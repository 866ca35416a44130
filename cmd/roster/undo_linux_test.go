package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// undoing makes a workspace whose agent runs a command, and has it run.
func undoing(t *testing.T, command string) *workspace {
	t.Helper()
	w := &workspace{t: t, dir: filepath.Join(t.TempDir(), "ws"), provider: newProvider(t)}
	w.write("roster.yaml", "")
	w.write("profiles/dev.md", "---\ndescription: d\nmodel: script:calls.yaml\npermission: {bash: allow, write: allow}\n---\nx\n")
	w.write("calls.yaml", "replies: [{tools: [{name: bash, input: {command: '"+command+"'}}]}, {text: Done.}]\n")
	w.write("a.txt", "before\n")
	return w
}

// only gives the id of the one session.
func (w *workspace) only() string {
	w.t.Helper()
	out, err := w.user(exec.Command("roster", "sessions", "list", "--json")).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(out), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

func (w *workspace) holds(name, want string) {
	w.t.Helper()
	if b, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(b) != want {
		w.t.Errorf("%s holds %q, %v", name, b, err)
	}
}

// TestUndoAsks: on a terminal what would change is shown, and only a yes changes
// it.
func TestUndoAsks(t *testing.T) {
	w := undoing(t, "echo after > a.txt")
	if out, err := w.user(exec.Command("roster", "run", "dev", "go", "--trust")).CombinedOutput(); err != nil || !strings.Contains(string(out), "(ok") {
		t.Fatalf("%v: %s", err, out)
	}
	id := w.only()
	seen, code := w.onTerminal(t, "n\n", "sessions", "undo", id)
	if code != 0 || !strings.Contains(seen, "+before") || !strings.Contains(seen, "nothing was changed") {
		t.Errorf("%d: %s", code, seen)
	}
	w.holds("a.txt", "after\n")
	if out, err := w.user(exec.Command("roster", "sessions", "undo", id)).CombinedOutput(); err == nil || !strings.Contains(string(out), "--yes") {
		t.Errorf("nobody to ask: %v: %s", err, out)
	}
	if seen, code = w.onTerminal(t, "y\n", "sessions", "undo", id); code != 0 || !strings.Contains(seen, "1 file or folder changed") {
		t.Errorf("%d: %s", code, seen)
	}
	w.holds("a.txt", "before\n")
}

// TestUndoAfterAKill: what a command had changed when roster was killed is found
// when the run goes on, and taken back.
func TestUndoAfterAKill(t *testing.T) {
	w := undoing(t, "echo after > a.txt; echo x > new.txt; sleep 60")
	cmd := w.user(exec.Command("roster", "run", "dev", "go", "--trust"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.dir, "new.txt")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not begin")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	id := w.only()
	if out, err := w.user(exec.Command("roster", "sessions", "resume", id)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := w.user(exec.Command("roster", "sessions", "undo", id, "--yes")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "found after the process that ran the call had died") {
		t.Errorf("%v: %s", err, out)
	}
	w.holds("a.txt", "before\n")
	if _, err := os.Stat(filepath.Join(w.dir, "new.txt")); err == nil {
		t.Error("new.txt is there")
	}
}
