package tool

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/sandbox"
)

// hard starts a family that is hard to end: all ignore SIGTERM, one is in a
// session of its own, one is a daemon of two sessions, and two write without an
// end. The command itself writes $SIZE bytes, says so through a pipe, and goes on.
const hard = `
trap '' TERM HUP INT
setsid bash -c 'exec tail -f /dev/null' &
(setsid bash -c '(setsid bash -c "exec tail -f /dev/null" &) ; exec cat /dev/zero > /dev/null' &)
(setsid bash -c 'while :; do echo more; done' &)
head -c $SIZE /dev/zero
echo > written
exec tail -f /dev/null
`

const hardCount = 5

// hardPlan is a call of hard in a box, and the marker of its processes.
func hardPlan(t *testing.T, kind sandbox.Kind, timeout string, size int) (f *fixture, p Plan, mark string) {
	t.Helper()
	mark = "ROSTER_TEST_MARK=" + strings.ReplaceAll(t.Name(), "/", "-") + fmt.Sprint(time.Now().UnixNano())
	f = newFixture(t, func(e *Env) {
		e.Environ = append(e.Environ, mark, fmt.Sprint("SIZE=", size))
		if kind != sandbox.None {
			e.Box = sandbox.Box{Kind: kind, Write: []string{e.Root}, Network: true}
		}
	})
	p, err := f.prepare("bash", object{"command": hard, "timeout": timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return f, p, mark
}

// eachKind runs a test in every kind of box that can be had here.
func eachKind(t *testing.T, test func(*testing.T, sandbox.Kind)) {
	for _, k := range []sandbox.Kind{sandbox.None, sandbox.Landlock, sandbox.Bubblewrap} {
		if sandbox.Probe(k) == nil {
			t.Run(string(k), func(t *testing.T) { test(t, k) })
		}
	}
}

// TestHardCommandIsGoneAfterItsTimeout: 200 ms after it, in the best of at most three
// times.
func TestHardCommandIsGoneAfterItsTimeout(t *testing.T) {
	eachKind(t, func(t *testing.T, k sandbox.Kind) {
		best := time.Hour
		for i := 0; i < 3 && best > killBound; i++ {
			best = min(best, timeOutHard(t, k))
		}
		if best > killBound {
			t.Errorf("it took %v longer than its timeout", best)
		}
	})
}

// timeOutHard says how long after its timeout the command was gone.
func timeOutHard(t *testing.T, k sandbox.Kind) time.Duration {
	f, p, mark := hardPlan(t, k, "3s", 1<<30)
	start := time.Now()
	r, err := p.Run(t.Context(), nil)
	took := time.Since(start) - 3*time.Second
	if err != nil || !r.Error {
		t.Errorf("error %v, result %v", err, r)
	}
	text := message.PartsText(r.Parts)
	f.has(text, "[timed out after 3s; the command and all that it started were ended]")
	if len(text) > 4*(headBytes+tailBytes) { // of one byte U+FFFD makes three
		t.Errorf("%d bytes are told", len(text))
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return took
}

// killBound is how long a hard command may take to be gone.
const killBound = 200 * time.Millisecond

// TestHardCommandIsGoneAfterACancel: within 200 ms, in the best of three times, and
// what it wrote was never held.
func TestHardCommandIsGoneAfterACancel(t *testing.T) {
	eachKind(t, func(t *testing.T, k sandbox.Kind) {
		best := time.Hour
		for _, size := range []int{1 << 30, 1 << 24, 1 << 24} {
			best = min(best, cancelHard(t, k, size))
		}
		t.Logf("cancel took %v", best)
		if best > killBound {
			t.Errorf("cancel took %v", best)
		}
	})
}

func cancelHard(t *testing.T, k sandbox.Kind, size int) time.Duration {
	t.Helper()
	f, p, mark := hardPlan(t, k, "10m", size)
	written := filepath.Join(f.root, "written")
	if err := syscall.Mkfifo(written, 0o666); err != nil {
		t.Fatal(err)
	}
	resident(t)
	before := resident(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan Result, 1)
	go func() {
		r, _ := p.Run(ctx, nil)
		ended <- r
		if w, err := os.OpenFile(written, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			w.Close() // nobody else opens it any more
		}
	}()
	if _, err := os.ReadFile(written); err != nil { // waits for the writer
		t.Fatal(err)
	}
	select {
	case r := <-ended:
		t.Fatalf("it has ended: %.500s", message.PartsText(r.Parts))
	default:
	}
	if n := len(marked(t, mark)); n < hardCount {
		t.Errorf("only %d processes run", n)
	}
	start := time.Now()
	cancel()
	r := <-ended
	took := time.Since(start)
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	grown := resident(t) - before
	t.Logf("the memory grew by at most %d KiB for %d MiB", grown, size>>20)
	if grown > 32<<10 {
		t.Errorf("the memory grew by %d KiB", grown)
	}
	f.has(message.PartsText(r.Parts), " bytes cut]\n", "[cancelled; the command and all that it started were ended]")
	return took
}

// resident is the most memory, in KiB, that this process had since it was last
// asked.
func resident(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	return kib
}

// marked lists the processes that have the marker in their environment.
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
