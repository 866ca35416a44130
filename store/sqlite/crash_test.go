package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// The test binary runs itself as another process that uses the same database.
const (
	childVar = "ROSTER_TEST_CHILD" // "append", "post" or "work"
	fileVar  = "ROSTER_TEST_FILE"
	nameVar  = "ROSTER_TEST_NAME"
)

func TestMain(m *testing.M) {
	var run func(context.Context, *sqlite.Store) error
	switch os.Getenv(childVar) {
	case "append":
		run = childAppends
	case "post":
		run = childPosts
	case "work":
		run = childWorks
	default:
		goleak.VerifyTestMain(m)
		return
	}
	ctx := context.Background()
	s, err := sqlite.Open(ctx, os.Getenv(fileVar), sqlite.Options{})
	if err == nil {
		err = errors.Join(run(ctx, s), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, what, path, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childVar+"="+what, fileVar+"="+path, nameVar+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// childAppends appends to three streams at once, without end, and prints the
// number of each event after the store has acknowledged it.
func childAppends(ctx context.Context, s *sqlite.Store) error {
	errs := make(chan error)
	for i := range 3 {
		go func() {
			k := key(fmt.Sprintf("%s-%d", os.Getenv(nameVar), i))
			prompt := event(&session.Prompt{Profile: "p", Parts: []message.Part{message.Text{Text: "hello"}}})
			done, err := s.Post(ctx, k, session.Post{Events: []session.Event{prompt}, Worker: "w"})
			last := done.Last
			for err == nil {
				fmt.Printf("%s %d\n", k.Stream, last)
				last, err = s.Append(ctx, k, *done.Lease, last, []session.Event{note(), note(), note()})
			}
			errs <- err
		}()
	}
	return <-errs
}

// TestKilled kills a process that appends, at random moments, and looks whether
// all that it was told is stored is there.
func TestKilled(t *testing.T) {
	path := file(t)
	acknowledged := map[string]int64{}
	for round := range 20 {
		cmd := child(t, "append", path, fmt.Sprint("round", round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + rand.IntN(60); lines.Scan(); left-- {
			var stream string
			var last int64
			if _, err := fmt.Sscan(lines.Text(), &stream, &last); err == nil {
				acknowledged[stream] = last
			}
			if left == 0 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		verify(t, path, acknowledged)
	}
	if len(acknowledged) < 20 {
		t.Errorf("only %d streams were written", len(acknowledged))
	}
}

func verify(t *testing.T, path string, acknowledged map[string]int64) {
	t.Helper()
	s := open(t, path, sqlite.Options{})
	defer s.Close()
	for stream, last := range acknowledged {
		evs := read(t, s, key(stream))
		if int64(len(evs)) < last {
			t.Fatalf("%s: event %d was acknowledged, the last that is there is %d", stream, last, len(evs))
		}
		sum, err := s.Summary(t.Context(), key(stream))
		if err != nil || sum.Last != int64(len(evs)) {
			t.Fatalf("%s: the summary says %d, %v, there are %d events", stream, sum.Last, err, len(evs))
		}
	}
	if ok, err := s.Text(t.Context(), "PRAGMA integrity_check"); err != nil || ok != "ok" {
		t.Fatalf("integrity_check: %s, %v", ok, err)
	}
}

const childPostCount = 40

func childPosts(ctx context.Context, s *sqlite.Store) error {
	for range childPostCount {
		if _, err := s.Post(ctx, key("shared"), session.Post{Events: []session.Event{steer()}}); err != nil {
			return err
		}
	}
	return nil
}

// TestTwoProcesses has an owner append while other processes post.
func TestTwoProcesses(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	l := start(t, s, key("shared"))
	var posters sync.WaitGroup
	for range 2 {
		cmd := child(t, "post", path, "")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		posters.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	ended := make(chan struct{})
	go func() { posters.Wait(); close(ended) }()
	last, appended := int64(1), 0
	for going := true; going; {
		select {
		case <-ended:
			going = false
		default:
		}
		n, err := s.Append(t.Context(), key("shared"), l, last, []session.Event{note()})
		if behind, ok := errors.AsType[*session.Behind](err); ok {
			last += int64(len(behind.Events))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		last = n
		appended++
	}
	if got, want := len(read(t, s, key("shared"))), 1+2*childPostCount+appended; got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}
