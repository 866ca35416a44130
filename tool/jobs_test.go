package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// shop is a fixture in which commands can be left at work, and which notes what
// the log would.
type shop struct {
	*fixture
	jobs *Jobs
	work session.Work
}

func newShop(t *testing.T, change ...func(*Env)) *shop {
	s := &shop{jobs: NewJobs()}
	s.fixture = newFixture(t, append(change, func(e *Env) { e.Jobs = s.jobs })...)
	t.Cleanup(s.jobs.Close)
	return s
}

func (s *shop) plan(in object) (Plan, error) {
	s.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.tools["bash"].Prepare(s.t.Context(), Call{ID: "c", Session: "s", Input: input, Permit: s.permit,
		Work: func() session.Work { return s.work }})
}

// bash makes a call and gives what the model is told, with whether it failed.
func (s *shop) bash(in object) (text string, failed bool) {
	s.t.Helper()
	plan, err := s.plan(in)
	if err != nil {
		return err.Error(), true
	}
	defer plan.Close()
	r, err := plan.Run(s.t.Context(), nil)
	if err != nil {
		return err.Error(), true
	}
	if note, ok := r.Note.(*session.Job); ok {
		s.note(note)
	}
	return message.PartsText(r.Parts), r.Error
}

// note folds an event as a session does.
func (s *shop) note(b *session.Job) {
	st := session.NewState(session.Key{Tenant: "t", Stream: "s"})
	st.Root.Work = &s.work
	e := session.Event{Seq: 1, V: 1, Session: "s", Type: b.Type(), Body: b}
	if err := st.Apply(&e); err != nil {
		s.t.Fatal(err)
	}
	s.work = *st.Root.Work
}

// fifo is a pipe in the workspace: a command that opens it waits for the test.
func (s *shop) fifo(name string) string {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func TestJobIsLookedAt(t *testing.T) {
	s := newShop(t)
	gate, last := s.fifo("gate"), s.fifo("last") // two, or the second read could meet the first writer
	text, failed := s.bash(object{"command": "echo up; read x < gate; echo got $x; read x < last; exit 3", "background": true})
	s.same(text, "up\n[job 1 is at work: give job to see what it writes, with stop to end it]")
	if diff := cmp.Diff(session.Work{Jobs: []int{1}, LastJob: 1}, s.work); failed || diff != "" {
		t.Errorf("failed: %v; %s", failed, diff)
	}
	if err := os.WriteFile(gate, []byte("one\n"), 0); err != nil {
		t.Fatal(err)
	}
	text, failed = s.bash(object{"job": 1})
	s.has(text, "got one\n[job 1 is at work, for ")
	if failed {
		t.Error("a job at work is no failure")
	}
	text, _ = s.bash(object{"job": 1, "timeout": 0.01})
	s.has(text, "[job 1 is at work, for ")
	if err := os.WriteFile(last, []byte("two\n"), 0); err != nil {
		t.Fatal(err)
	}
	text, failed = s.bash(object{"job": 1, "timeout": 60})
	s.has(text, "[job 1 has ended after ", "s: exit code 3]")
	if !failed || contains(text, "up") || contains(text, "got") || len(s.work.Jobs) > 0 {
		t.Errorf("%v %q, %v", failed, text, s.work)
	}
	text, failed = s.bash(object{"job": 1})
	s.same(text, "job: there is no job 1, there is none; jobs end with the run that started them, and with roster itself")
	if !failed {
		t.Error("no failure")
	}
	text, _ = s.bash(object{"command": "read x < gate", "background": true})
	s.has(text, "[job 2 is at work")
}

func TestJobIsStopped(t *testing.T) {
	s := newShop(t)
	s.bash(object{"command": "echo a; trap '' TERM; setsid tail -f /dev/null & tail -f /dev/null", "background": true})
	start := time.Now()
	text, failed := s.bash(object{"job": 1, "stop": true})
	s.has(text, "[job 1 has ended after ", "it was stopped; it and all that it started were ended]")
	if failed || time.Since(start) > 2*time.Second {
		t.Errorf("failed: %v, after %v", failed, time.Since(start))
	}
	text, _ = s.bash(object{"command": "echo x"})
	s.same(text, "x\n")
}

func TestJobThatEndsAtOnceIsNone(t *testing.T) {
	s := newShop(t)
	for command, want := range map[string]string{
		"true": "[exit code 0]", "echo a; exit 2": "a\n[exit code 2]", "kill -9 $$": "[exit code 137]",
	} {
		text, failed := s.bash(object{"command": command, "background": true})
		s.same(text, want)
		if failed != (want != "[exit code 0]") || s.work.LastJob != 0 {
			t.Errorf("%s: %v, %v", command, failed, s.work)
		}
	}
}

func TestJobTimesOut(t *testing.T) {
	s := newShop(t)
	s.bash(object{"command": "tail -f /dev/null", "background": true, "timeout": 1.2})
	text, failed := s.bash(object{"job": 1})
	s.has(text, "timed out after 1.2s; it and all that it started were ended]")
	if !failed {
		t.Error("no failure")
	}
}

// TestJobsAreBounded: eight at a time, of each session; and the output of each.
func TestJobsAreBounded(t *testing.T) {
	s := newShop(t)
	s.fifo("gate")
	for range maxJobs - 1 {
		s.bash(object{"command": "echo; read x < gate", "background": true, "timeout": "9m"})
	}
	s.bash(object{"command": "head -c 3000000 /dev/zero | tr '\\0' x; read x < gate", "background": true})
	text, failed := s.bash(object{"command": "true", "background": true})
	s.same(text, "jobs 1, 2, 3, 4, 5, 6, 7, 8 are at work, and more than 8 cannot be; stop one first, with job and stop")
	if !failed {
		t.Error("no failure")
	}
	c := s.jobs.get(owner{session: "s"}, maxJobs)
	c.mu.Lock()
	if kept := len(c.out.head) + len(c.out.tail); kept > headBytes+tailBytes {
		t.Errorf("%d bytes are kept", kept)
	}
	c.mu.Unlock()
	s.bash(object{"job": 3, "stop": true})
	text, _ = s.bash(object{"command": "read x < gate", "background": true})
	s.has(text, "[job 9 is at work")
}

// TestGoneJobs: what the log takes to be at work and is not is told, once.
func TestGoneJobs(t *testing.T) {
	s := newShop(t)
	s.work = session.Work{Jobs: []int{2, 4}, LastJob: 4}
	text, _ := s.bash(object{"job": 4})
	s.has(text, "job: there is no job 4, there is none; jobs end with the run")
	text, failed := s.bash(object{"command": "echo x"})
	s.same(text, "[jobs 2, 4 are not at work any more: jobs end with the run that started them, and with roster itself]\nx\n")
	if failed || len(s.work.Jobs) > 0 {
		t.Errorf("failed: %v, %v", failed, s.work)
	}
	text, _ = s.bash(object{"command": "tail -f /dev/null", "background": true})
	s.has(text, "[job 5 is at work")
	s.jobs.End(session.Key{}, "s")
	text, _ = s.bash(object{"command": "tail -f /dev/null", "background": true})
	s.has(text, "[job 5 is not at work any more: ", "[job 6 is at work")
}

// TestJobsEnd: with their session and stream, and with all of it.
func TestJobsEnd(t *testing.T) {
	s := newShop(t)
	mark := "ROSTER_TEST_JOB=" + strings.ReplaceAll(t.Name(), "/", "")
	hidden := object{"command": "export " + mark + "; trap '' TERM; (setsid bash -c 'trap \"\" TERM; echo up; while :; do read -r -t 1 <> <(:); done' &); tail -f /dev/null", "background": true}
	for name, end := range map[string]func(){
		"session": func() { s.jobs.End(session.Key{}, "s") },
		"stream":  func() { s.jobs.Cancel(session.Key{}, ""); s.jobs.End(session.Key{}, "") },
		"close":   s.jobs.Close,
	} {
		if name == "close" {
			defer end() // nothing can be started any more
			continue
		}
		text, _ := s.bash(hidden)
		s.has(text, "up\n")
		if n := len(marked(t, mark)); n < 2 {
			t.Errorf("%s: %d processes", name, n)
		}
		s.jobs.End(session.Key{}, "other")
		s.jobs.End(session.Key{Tenant: "x"}, "")
		if n := len(marked(t, mark)); n < 2 {
			t.Errorf("%s: the jobs of another were ended", name)
		}
		end()
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
	s.bash(hidden)
	s.jobs.Close()
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	text, failed := s.bash(hidden)
	if s.has(text, "roster is about to stop"); !failed {
		t.Error("a job was started after the end")
	}
}

func TestJobRefusals(t *testing.T) {
	s := newShop(t)
	for want, in := range map[string]object{
		"command: say what to run, or give the number of a job": {},
		"stop: it needs the number of a job":                    {"command": "true", "stop": true},
		"job: it goes with stop and timeout only":               {"command": "true", "job": 1},
		"there is no job 1, there is none":                      {"job": 1},
		"20m0s is more than the maximum":                        {"job": 1, "timeout": "20m"},
		"11m0s is more than the maximum":                        {"command": "true", "background": true, "timeout": "11m"},
	} {
		if in["job"] == 1 && in["command"] != nil {
			s.bash(object{"command": "tail -f /dev/null", "background": true})
		}
		text, failed := s.bash(in)
		if s.has(text, want); !failed {
			t.Errorf("%v: no failure", in)
		}
		s.jobs.End(session.Key{}, "s")
	}
	f := newFixture(t)
	f.fails("bash", object{"command": "true", "background": true}, "background: nothing can be left at work here")
	f.fails("bash", object{"job": 1}, "there is no job 1")
	f.fails("bash", object{"job": 0}, "job: minimum")
}

// TestJobNeeds: looking at a job needs what the command did, which was permitted.
func TestJobNeeds(t *testing.T) {
	s := newShop(t)
	s.file("sub/x", "")
	s.bash(object{"command": "tail -f /dev/null > ../y", "workdir": "sub", "background": true})
	plan, err := s.plan(object{"job": 1})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	want := []permission.Query{{Tool: "bash", Subject: "tail -f /dev/null > ../y", Dir: "sub"}}
	if diff := cmp.Diff(want, plan.Needs()); diff != "" {
		t.Error(diff)
	}
	if _, ok := plan.(Continuing); !ok {
		t.Error("it would be asked for again")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := plan.Run(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.has(message.PartsText(r.Parts), "[job 1 is at work, for ")
}
