package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool/mcp"
)

// A server lives in the box that it is given.
func TestBox(t *testing.T) {
	if err := sandbox.Probe(sandbox.Landlock); err != nil {
		t.Fatal(err)
	}
	inside, outside := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	c := f.connect(server(t, "one", "plain", func(s *mcp.Server) {
		s.Dir = inside
		s.Box = sandbox.Box{Kind: sandbox.Landlock, Write: []string{inside}, Read: []string{filepath.Dir(self)}, Network: true}
	}))
	for dir, want := range map[string]string{inside: "written", outside: "permission denied"} {
		if text, _, err := call(t, find(t, c, "write"), `{"path":"`+dir+`/x"}`); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v", dir, text, err)
		}
	}
}

// Nothing of a server outlives the program that uses it, however that ends.
func TestNothingIsLeft(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "SERVER_OF_TEST=user")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the server does not run: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "the server is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}
