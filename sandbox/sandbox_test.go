package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays several parts: the tests, the helper, a parent that can
// be killed, and those of play.
func TestMain(m *testing.M) {
	if Self() != nil {
		panic("a program that has not called Main can be the helper")
	}
	Main()
	if len(os.Args) > 1 && os.Args[1] == "__parent" {
		c := Command{Helper: Self(), Argv: os.Args[2:], Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr}
		if dir := os.Getenv("BOX"); dir != "" {
			c.Dir, c.Box = dir, Box{Kind: Bubblewrap, Write: []string{dir}}
		}
		c.Run(context.Background())
		os.Exit(0)
	}
	if len(os.Args) > 1 && play(os.Args[1], os.Args[2:]) {
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func command(script string, stdout, stderr io.Writer, env ...string) *Command {
	return &Command{
		Helper: Self(),
		Argv:   []string{"bash", "--noprofile", "--norc", "-c", script},
		Env:    append([]string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, env...),
		Stdout: stdout, Stderr: stderr,
	}
}

func TestRunReportsWhatTheCommandDid(t *testing.T) {
	tests := map[string]struct {
		script         string
		code           int
		stdout, stderr string
	}{
		"success":           {"echo out", 0, "out\n", ""},
		"exit code":         {"echo bad >&2; exit 7", 7, "", "bad\n"},
		"killed by signal":  {"kill -9 $$", 128 + 9, "", ""},
		"empty input":       {"read -r x; echo \"$? [$x]\"", 0, "1 []\n", ""},
		"no extra files":    {"ls /proc/$$/fd; true", 0, "0\n1\n2\n", ""},
		"own group":         {"set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ]", 0, "", ""},
		"environment given": {"echo $MARK", 0, "yes\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code, err := command(tt.script, &stdout, &stderr, "MARK=yes").Run(t.Context())
			if err != nil || code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("got %d, %v, %q, %q; want %d, %q, %q", code, err, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestRunThatCannotStart(t *testing.T) {
	t.Run("no such command", func(t *testing.T) {
		var stderr bytes.Buffer
		c := &Command{Helper: Self(), Argv: []string{"no-such-command-here"}, Stderr: &stderr}
		code, err := c.Run(t.Context())
		if err != nil || code != NotStarted || !strings.Contains(stderr.String(), "no-such-command-here") {
			t.Errorf("got %d, %v, %q", code, err, &stderr)
		}
	})
	t.Run("no such helper", func(t *testing.T) {
		c := &Command{Helper: []string{"/no/such/helper"}, Argv: []string{"true"}}
		if _, err := c.Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := command("true", nil, nil).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("helper by hand", func(t *testing.T) {
		out, err := exec.Command(os.Args[0], helperArg, "true").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no pipe to its parent") {
			t.Errorf("got %v, %s", err, out)
		}
	})
}

// stubborn starts a family that is hard to end: one that ignores SIGTERM, one
// in a session of its own, and an orphan of both kinds, two levels deep. Each
// says its name when it runs.
const stubborn = `
trap '' TERM
setsid bash -c 'trap "" TERM; echo ready; while :; do read -r -t 1000 <> <(:); done' &
(setsid bash -c 'trap "" TERM HUP; (setsid bash -c "echo ready; exec tail -f /dev/null") & echo ready; exec tail -f /dev/null' &)
bash -c 'echo ready; exec tail -f /dev/null' &
`

const stubbornCount = 4

func TestNothingOutlivesTheCommand(t *testing.T) {
	mark := marker(t)
	out, w := io.Pipe()
	ready := countReady(out, stubbornCount)
	// The command ends by itself once all of them run.
	script := stubborn + "\nwhile [ ! -e $DONE ]; do read -r -t 0.01 <> <(:); done; exit 3"
	done := filepath.Join(t.TempDir(), "done")
	c := command(script, w, nil, mark, "DONE="+done)
	result := make(chan int, 1)
	go func() {
		code, _ := c.Run(t.Context())
		result <- code
	}()
	<-ready
	if n := len(marked(t, mark)); n < stubbornCount {
		t.Fatalf("only %d processes run", n)
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := <-result; code != 3 {
		t.Errorf("exit code %d", code)
	}
	w.Close()
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCancelEndsAllDescendants(t *testing.T) {
	best := time.Hour
	for range 3 {
		mark := marker(t)
		out, w := io.Pipe()
		ready := countReady(out, stubbornCount)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := command(stubborn+"\nwait", w, nil, mark).Run(ctx)
			result <- err
		}()
		<-ready
		start := time.Now()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		best = min(best, time.Since(start))
		w.Close()
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	t.Logf("cancel took %v", best)
	if best > 200*time.Millisecond {
		t.Errorf("cancel took %v", best)
	}
}

func TestCancelLetsTheCommandCleanUp(t *testing.T) {
	out, w := io.Pipe()
	ready := countReady(out, 1)
	file := filepath.Join(t.TempDir(), "lock")
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		c := command(`echo > $FILE; trap 'rm $FILE; exit' TERM; echo ready; while :; do read -r -t 0.01 <> <(:); done`, w, nil, "FILE="+file)
		_, err := c.Run(ctx)
		result <- err
	}()
	<-ready
	cancel()
	<-result
	w.Close()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestTimeoutIsTheContexts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := command("tail -f /dev/null", nil, nil).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestParentsDeathEndsAllDescendants(t *testing.T) {
	mark := marker(t)
	parent := exec.Command(os.Args[0], "__parent", "bash", "-c", stubborn+"\nwait")
	parent.Env = append(os.Environ(), mark)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	<-countReady(out, stubbornCount)
	parent.Process.Signal(syscall.SIGKILL)
	parent.Wait()
	waitGone(t, mark)
}

// TestCommandsThatMeddleWithTheirHelper: stopping it, or taking its pipe, keeps
// nothing alive.
func TestCommandsThatMeddleWithTheirHelper(t *testing.T) {
	for name, script := range map[string]string{
		"stops it":        "setsid sleep 3600 & kill -STOP $PPID; echo ready; wait",
		"reads from pipe": "for i in 1 2 3; do cat /proc/$PPID/fd/3 & done; setsid sleep 3600 & echo ready; wait",
		"writes no end":   "exec 9>/proc/$PPID/fd/3; setsid sleep 3600 & echo ready; wait",
	} {
		t.Run("cancelled "+name, func(t *testing.T) {
			mark := marker(t)
			r, w := io.Pipe()
			ready := countReady(r, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := command(script, w, nil, mark).Run(ctx)
				ended <- err
			}()
			<-ready
			cancel()
			<-ended
			w.Close()
			waitGone(t, mark)
		})
		t.Run("orphan "+name, func(t *testing.T) {
			mark := marker(t)
			parent := exec.Command(os.Args[0], "__parent", "bash", "-c", script)
			parent.Env = append(os.Environ(), mark)
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			<-countReady(out, 1)
			parent.Process.Signal(syscall.SIGKILL)
			parent.Wait()
			waitGone(t, mark)
		})
	}
}

func TestHoldIsKeptUntilNothingIsLeft(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stdout bytes.Buffer
	c := command(`readlink /proc/$PPID/fd/4; readlink /proc/$$/fd/4`, &stdout, nil)
	c.Hold = file
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(stdout.String()); got != file.Name() {
		t.Errorf("the helper and the command have open: %q; want only the helper to have %q", got, file.Name())
	}
}

func marker(t *testing.T) string {
	return "ROSTER_TEST_MARK=" + strings.ReplaceAll(t.Name(), "/", "-") + strconv.FormatInt(time.Now().UnixNano(), 36)
}

// marked lists the processes that have the marker in their environment.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			cmdline, _ := os.ReadFile(filepath.Dir(f) + "/cmdline")
			found = append(found, f+": "+string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func waitGone(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Second)
	for left := marked(t, mark); len(left) > 0; left = marked(t, mark) {
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %v", left)
		}
	}
}

// countReady is closed when n lines have been read; it reads on until the end.
func countReady(r io.Reader, n int) <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if n--; n == 0 {
				close(ready)
			}
		}
	}()
	return ready
}

func BenchmarkRun(b *testing.B) {
	c := command(":", nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		if code, err := c.Run(b.Context()); code != 0 || err != nil {
			b.Fatal(code, err)
		}
	}
}
