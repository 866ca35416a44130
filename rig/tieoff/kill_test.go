package tieoff_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/tieoff"
)

// killable makes this process one that adds sections until it is killed, or one that
// may only write small files, if it was started to be that.
func killable() {
	dir := os.Getenv("TEST_TIEOFF")
	if dir == "" {
		return
	}
	if err := child(dir, os.Getenv("TEST_NAME"), os.Getenv("TEST_FULL") != ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const killJobs = 100

func child(dir, who string, full bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if full {
		return fullDisk(root)
	}
	for i := range killJobs {
		job := fmt.Sprintf("%s-%d", who, i)
		if err := once(root, filepath.Join(dir, job+".ledger"), job); err != nil {
			return err
		}
	}
	return nil
}

// once does one job, which has a ledger on the disk.
func once(root *os.Root, path, job string) error {
	s := tieoff.Section{Job: job, Knot: "k", Event: "created", Answer: strings.Repeat("A line of "+job+"\n", 10_000)}
	text, err := s.Render()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	writing, offset := false, int64(0)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if lines.Text() == "done" {
			return nil
		}
		if _, err := fmt.Sscanf(lines.Text(), "writing %d end", &offset); err == nil {
			writing = true
		}
	}
	if writing {
		return tieoff.Recover(context.Background(), root, name, job, offset, text, paper{f})
	}
	return tieoff.Append(context.Background(), root, name, text, paper{f})
}

// paper is a ledger on the disk.
type paper struct{ *os.File }

func (p paper) note(line string) error {
	_, err := p.File.WriteString("\n" + line + "\n") // after one that was torn
	return errors.Join(err, p.Sync())
}

func (p paper) Write(offset int64, _ func() (string, error)) error {
	return p.note(fmt.Sprintf("writing %d end", offset))
}
func (p paper) Done() error { return p.note("done") }

func start(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append([]string{"TEST_TIEOFF=" + dir}, env...)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	return cmd
}

// TestKilledAtRandom kills processes at random moments while they add sections to one
// file, and takes up what they left: each section is there once, and whole.
func TestKilledAtRandom(t *testing.T) {
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d processes", procs), func(t *testing.T) {
			dir := t.TempDir()
			killed := 0
			for range 50 / procs {
				var all []*exec.Cmd
				for p := range procs {
					all = append(all, start(t, dir, fmt.Sprintf("TEST_NAME=p%d", p)))
				}
				for _, cmd := range all {
					kill := time.AfterFunc(15*time.Millisecond+time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
					if err := cmd.Wait(); err != nil {
						killed++
					}
					kill.Stop()
				}
			}
			for p := range procs {
				must(t, start(t, dir, fmt.Sprintf("TEST_NAME=p%d", p)).Wait())
			}
			t.Logf("killed %d times", killed)
			whole(t, read(t, filepath.Join(dir, name)), procs)
		})
	}
}

// whole holds a file against what has to be in it. With several processes, one may
// have added its section behind the torn one of another: only then is a part left.
func whole(t *testing.T, file string, procs int) {
	t.Helper()
	all, problems := tieoff.Parse([]byte(file))
	times := map[string]int{}
	for _, s := range all {
		if s.Edited {
			continue
		}
		times[s.Job]++
		if want := strings.Repeat("A line of "+s.Job+"\n", 10_000); s.Answer != want {
			t.Errorf("%s has another answer", s.Job)
		}
	}
	for p := range procs {
		for i := range killJobs {
			if job := fmt.Sprintf("p%d-%d", p, i); times[job] != 1 {
				t.Errorf("%s is there %d times", job, times[job])
			}
		}
	}
	if n := strings.Count(file, "<!-- roster job="); n != procs*killJobs {
		t.Errorf("%d markers", n)
	}
	if procs == 1 && len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	t.Logf("%d sections, %d torn ones left", len(all), len(problems))
}

// TestFullDisk: what cannot be written whole is taken out again, unless a person has
// written behind it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, name), "a note\n")
	if err := start(t, dir, "TEST_FULL=1").Wait(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, name)); got != "a note\n" {
		t.Errorf("%d bytes are left: %.100q", len(got), got)
	}
}

// fullDisk adds a section that is larger than a file may be.
func fullDisk(root *os.Root) error {
	signal.Ignore(syscall.SIGXFSZ)
	const most = 100_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return err
	}
	b := &book{}
	err := tieoff.Append(context.Background(), root, name, []byte(strings.Repeat("x", 2*most)), b)
	if !errors.Is(err, syscall.EFBIG) || b.writes != 1 || b.done != 0 {
		return fmt.Errorf("%w, %+v", err, b)
	}
	return nil
}
