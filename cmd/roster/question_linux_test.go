package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal opens one, and the end of it that a program gets.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// onTerminal runs roster where a person types, and gives all that he sees.
func (w *workspace) onTerminal(t *testing.T, typed string, args ...string) (seen string, code int) {
	t.Helper()
	person, program := pseudoTerminal(t)
	cmd := w.user(exec.Command("roster", args...))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if _, err := person.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close() // so that the reading below ends with the program
	out, err := io.ReadAll(person)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestQuestionAtTheFirstRun: a person at a terminal is asked before a run that
// would use something, and after a no only when there is something else to see.
func TestQuestionAtTheFirstRun(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: filepath.Join(top, "ws")}
	w.write("roster.yaml", "defaults: {model: \"script:hello.yaml\"}\n")
	w.write("hello.yaml", "replies: [{text: \"Hello.\"}]\nloop: true\n")
	w.write("profiles/plain.md", "---\ndescription: d\n---\nx\n")
	w.write("profiles/helper.md", "---\ndescription: d\npermission: {bash: allow}\n---\nx\n")
	const question = "Trust this workspace? [y/N]"
	for _, c := range []struct {
		name, profile, typed string
		asked                bool
		before               func()
	}{
		{name: "a profile that wants nothing", profile: "plain", typed: "y\n"},
		{name: "no", profile: "helper", typed: "n\n", asked: true},
		{name: "not again", profile: "helper", typed: "y\n"},
		{name: "again when something changed", profile: "helper", typed: "\n", asked: true, before: func() {
			w.write("profiles/helper.md", "---\ndescription: d\npermission: {write: allow}\nhooks: {after-loop: [{command: ./x}]}\n---\nx\n")
		}},
		{name: "yes", profile: "helper", typed: "y\n", asked: true, before: func() {
			w.write("profiles/helper.md", "---\ndescription: d\npermission: {write: allow}\nhooks: {after-loop: [{command: ./y}]}\n---\nx\n")
		}},
		{name: "it is trusted", profile: "helper", typed: "n\n"},
		{name: "a command changed", profile: "helper", typed: "n\n", asked: true, before: func() {
			w.write("profiles/helper.md", "---\ndescription: d\npermission: {write: allow}\nhooks: {after-loop: [{command: ./z}]}\n---\nx\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.before != nil {
				c.before()
			}
			seen, code := w.onTerminal(t, c.typed, "run", c.profile, "Hi")
			if asked := strings.Contains(seen, question); asked != c.asked || code != 0 || !strings.Contains(seen, "Hello.") {
				t.Errorf("asked %v, exit code %d:\n%s", asked, code, seen)
			}
			if c.asked && (!strings.Contains(seen, "profiles/helper.md:") || strings.Index(seen, "profiles/helper.md:") > strings.Index(seen, question)) {
				t.Errorf("the question does not say what it is about:\n%s", seen)
			}
		})
	}
	if seen, code := w.onTerminal(t, "y\n", "run", "helper", "Hi", "--non-interactive"); strings.Contains(seen, question) || code != 0 {
		t.Errorf("asked with --non-interactive, exit code %d:\n%s", code, seen)
	}
	if seen, code := w.onTerminal(t, "y\n", "--trust", "run", "helper", "Hi"); strings.Contains(seen, question) || code != 0 {
		t.Errorf("asked with --trust, exit code %d:\n%s", code, seen)
	}
	if seen, code := w.onTerminal(t, "y\n", "trust"); !strings.Contains(seen, "was: {command: ./y}") || !strings.Contains(seen, "is trusted") || code != 0 {
		t.Errorf("roster trust: exit code %d:\n%s", code, seen)
	}
	if seen, code := w.onTerminal(t, "n\n", "trust"); strings.Contains(seen, question) || code != 0 {
		t.Errorf("asked when there is nothing to ask: exit code %d:\n%s", code, seen)
	}
}
