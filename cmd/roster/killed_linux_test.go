package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rosterrun/roster/sandbox"
)

// marked lists the processes that have a marker in their environment.
func marked(t *testing.T, mark string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			cmdline, _ := os.ReadFile(filepath.Dir(f) + "/cmdline")
			found = append(found, f+": "+string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// TestNothingOutlivesAKilledRoster: commands, jobs and hooks that are hard to end
// are gone when roster itself is killed, in every kind of box.
func TestNothingOutlivesAKilledRoster(t *testing.T) {
	const (
		command = `, {name: bash, input: {command: bash hard.sh}}`
		hook    = "hooks: {after-tool: [{command: bash hard.sh > /dev/null, timeout: 10m}]}\n"
	)
	for _, k := range []sandbox.Kind{sandbox.None, sandbox.Landlock, sandbox.Bubblewrap} {
		if sandbox.Probe(k) == nil {
			t.Run(string(k)+" with a command", func(t *testing.T) { killRoster(t, k, command, "") })
			t.Run(string(k)+" with a hook", func(t *testing.T) { killRoster(t, k, "", hook) })
		}
	}
}

// hardScript starts a family that is hard to end, each of which says that it runs.
// When all do, it writes 1 GiB, and another one without end.
const hardScript = `trap '' TERM HUP INT
say() { echo "$1" >> ready; }
setsid bash -c 'echo session >> ready; exec tail -f /dev/null' &
(setsid bash -c '(setsid bash -c "echo daemon >> ready; exec tail -f /dev/null" &) ; echo writer >> ready; exec cat /dev/zero' &)
say itself
head -c 1073741824 /dev/zero
exec tail -f /dev/null
`

// killRoster kills a run at which a job is at work and something else.
func killRoster(t *testing.T, k sandbox.Kind, more, keys string) {
	w := newWorkspace(t)
	w.write("roster.yaml", fmt.Sprintf("sandbox: {kind: %s}\n", k))
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: [bash]\npermission: {bash: allow, write: allow}\n"+keys+"---\nWork.\n")
	w.write("hard.sh", hardScript)
	w.write("replies.yaml", "replies:\n  - tools: [{name: bash, input: {command: bash hard.sh, background: true}}"+more+"]\n")
	mark := fmt.Sprintf("ROSTER_TEST_MARK=%d-%s", time.Now().UnixNano(), k)
	cmd := w.command("run", "worker", "Work", "--model", "script:replies.yaml", "--json")
	cmd.Env = append(cmd.Env, mark)
	w.launch(cmd)
	const all = 2 * 4
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(patience); ; {
		ready, err := os.ReadFile(filepath.Join(w.dir, "ready"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Count(ready, []byte("\n")) >= all {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("what runs is:\n%s", ready)
		}
		<-look.C
	}
	if n := len(marked(t, mark)); n <= all {
		t.Errorf("only %d processes run", n)
	}
	start := time.Now()
	cmd.Process.Kill()
	for left := marked(t, mark); len(left) > 0; left = marked(t, mark) {
		if time.Since(start) > 5*time.Second {
			t.Fatalf("left behind: %v", left)
		}
	}
	t.Logf("all were gone after %v", time.Since(start))
}
