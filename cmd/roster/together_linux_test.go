package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

const (
	// How many sessions two servers share, and how many prompts each gets.
	sharedSessions = 50
	sharedPrompts  = 4

	// slowAnswer is how long a model takes that a server still waits for when it
	// is stopped, and that has answered when it wakes up.
	slowAnswer = 40 * time.Second
)

// TestTwoServersOnOneDatabase has users go to two servers of one workspace with
// prompts for the same sessions. In the middle one server is stopped for longer
// than its lease and then wakes up: the other has gone on with its sessions, and
// it must write nothing more to them. Every prompt is answered once, every line
// is written once at most, and nobody is told that a database is busy.
func TestTwoServersOnOneDatabase(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	var script strings.Builder
	for i := range 2 * sharedPrompts {
		fmt.Fprintf(&script, "  - {delay: 20ms, tools: [{name: bash, input: {command: \"echo line-%d >> FILE.lines; sleep 0.05\"}}]}\n  - {delay: 5ms, text: done}\n", i)
	}
	first := w.command("serve", "--addr", "127.0.0.1:0", "--json")
	said := &strings.Builder{}
	first.Stderr = said
	_, a := w.served(first)
	_, b := w.serve()
	ids := make([]string, sharedSessions)
	var users sync.WaitGroup
	for i := range ids {
		slow := 20 * time.Millisecond
		if i%10 == 0 {
			slow = slowAnswer
		}
		w.shared(i, script.String(), slow)
		users.Go(func() {
			ids[i] = w.begin([]string{a, b}[i%2], i)
			if slow == slowAnswer { // is at work in the first server until that is stopped
				w.begun(a, ids[i])
			}
			w.ask([]string{b, a}[i%2], ids[i], i, 1)
		})
	}
	users.Wait()
	w.sleep(first.Process)
	for i := 0; i < len(ids); i += 10 { // whoever goes on with these need not wait
		w.shared(i, script.String(), 20*time.Millisecond)
	}
	answered := time.After(slowAnswer)
	for i, id := range ids {
		users.Go(func() {
			for n := 2; n < sharedPrompts; n++ {
				w.ask(b, id, i, n)
			}
		})
	}
	for i := range 4 { // and a few who use the program itself
		users.Go(func() {
			out, err := w.command("run", "worker", "Go", "--model", "script:s0.yaml", "--quiet").CombinedOutput()
			if err != nil || string(out) != "done\n" {
				t.Errorf("run %d: %v, %q", i, err, out)
			}
		})
	}
	users.Wait()
	w.allIdle(b, 4*session.LeaseTime)
	<-answered
	first.Process.Signal(syscall.SIGCONT)
	w.ask(a, ids[0], 0, sharedPrompts)
	w.allIdle(a, patience)
	first.Process.Signal(os.Interrupt)
	if code := exitCode(t, first); code != exitDone {
		t.Errorf("the server that slept: exit code %d", code)
	}
	if !strings.Contains(said.String(), "another worker took the session over") {
		t.Errorf("the server that slept was not refused: it says %q", said)
	}
	if all := said.String(); strings.Contains(all, "locked") {
		t.Errorf("a server says %q", all)
	}
	w.checkShared(ids)
}

// shared writes the i-th script, whose first answer takes a while.
func (w *workspace) shared(i int, replies string, first time.Duration) {
	replies = strings.ReplaceAll(replies, "FILE", fmt.Sprint("s", i))
	w.write(fmt.Sprintf("s%d.yaml", i), "replies:\n"+strings.Replace(replies, "20ms", first.String(), 1))
}

// begin makes a session with its first prompt, with the i-th script.
func (w *workspace) begin(url string, i int) string {
	return w.beginWith(url, fmt.Sprintf("s%d.yaml", i))
}

func (w *workspace) beginWith(url, script string) string {
	body := fmt.Sprintf(`{"message": "prompt 0", "agentId": "worker", "model": "script:%s"}`, script)
	resp, err := http.Post(url+"/stream", "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Errorf("a session could not be begun: %s", resp.Status)
	}
	return resp.Header.Get("X-Session-Id")
}

// begun waits until the first loop of a session stands in its log.
func (w *workspace) begun(url, id string) {
	late := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st := struct{ Waiting int }{-1}
		if status := call("GET", url+"/sessions/"+id, nil, &st); status == http.StatusOK && st.Waiting == 0 {
			return
		}
		select {
		case <-look.C:
		case <-late:
			w.t.Errorf("%s was not begun: %+v", id, st)
			return
		}
	}
}

// sleep stops a process while it does not write: one that is stopped in the
// middle of that keeps all others from the database until it wakes up.
func (w *workspace) sleep(p *os.Process) {
	db, err := sql.Open("sqlite", "file:"+w.database()+"?_txlock=immediate&_busy_timeout=100")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	again := time.NewTicker(100 * time.Millisecond) // in between it gets on
	defer again.Stop()
	for range 200 {
		p.Signal(syscall.SIGSTOP)
		w.stopped(p.Pid)
		tx, err := db.Begin()
		if err == nil {
			tx.Rollback()
			return
		}
		p.Signal(syscall.SIGCONT)
		<-again.C
	}
	w.t.Fatal("the server writes all the time")
}

// stopped waits until all threads of a process stand still.
func (w *workspace) stopped(pid int) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for range 10_000 {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(files) == 0 {
			w.t.Fatalf("process %d: %v", pid, err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			data, err := os.ReadFile(file)
			_, state, _ := strings.Cut(string(data), ") ")
			return err == nil && !strings.HasPrefix(state, "T")
		}) {
			return
		}
		<-look.C
	}
	w.t.Fatalf("process %d does not stop", pid)
}

// ask queues a prompt for a session.
func (w *workspace) ask(url, id string, i, n int) {
	var answer any
	body := map[string]any{"message": fmt.Sprint("prompt ", n), "onBusy": "queue", "model": fmt.Sprintf("script:s%d.yaml", i)}
	if status := call("POST", url+"/sessions/"+id+"/prompt", body, &answer); status != http.StatusAccepted {
		w.t.Errorf("prompt %d for %s: %d, %v", n, id, status, answer)
	}
}

// allIdle waits until no session has anything left to do.
func (w *workspace) allIdle(url string, most time.Duration) {
	late := time.After(most)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var list []struct{ ID string }
		if status := call("GET", url+"/sessions?status=running", nil, &list); status != http.StatusOK {
			w.t.Errorf("sessions: %d", status)
		}
		if len(list) == 0 {
			return
		}
		select {
		case <-look.C:
		case <-late:
			w.t.Fatalf("after %v %d sessions are still at work: %v", most, len(list), list)
		}
	}
}

// checkShared holds the logs of the sessions, and the lines that they wrote.
func (w *workspace) checkShared(ids []string) {
	store := openStore(w.t, w.database())
	defer store.Close()
	late := 0
	for i, id := range ids {
		k := session.Key{Tenant: "local", Stream: id}
		st := session.NewState(k)
		prompts, open, ends := map[string]int{}, map[string]int{}, 0
		lines := lines(w, fmt.Sprint("s", i))
		for e, err := range store.Read(w.t.Context(), k, 0) {
			if err == nil {
				err = st.Apply(&e)
			}
			if err != nil {
				w.t.Fatalf("%s: event %d: %v", id, e.Seq, err)
			}
			body, _ := e.Decode()
			switch b := body.(type) {
			case *session.LoopResumed:
				if strings.Contains(b.Why, "not heard of") {
					late++
				}
			case *session.ToolBefore:
				open[b.Call]++
			case *session.ToolAfter:
				if open[b.Call]--; b.Outcome != session.OK && b.Outcome != session.NotKnown {
					w.t.Errorf("%s: a call ended as %s: %s", id, b.Outcome, message.PartsText(b.Parts))
				}
			case *session.LoopEnd:
				if ends++; b.Reason != session.ReasonDone {
					w.t.Errorf("%s: a loop ended as %s, %+v", id, b.Reason, b.Error)
				}
			}
		}
		parent := ""
		for _, m := range st.Root.Messages {
			if m.Parent != parent {
				w.t.Errorf("%s: message %s follows %q, and stands after %q", id, m.ID, m.Parent, parent)
			}
			parent = m.ID
			if m.Role == message.User {
				prompts[m.Text()]++
			}
		}
		want := sharedPrompts
		if i == 0 {
			want++
		}
		for n := range want {
			if got := prompts[fmt.Sprint("prompt ", n)]; got != 1 {
				w.t.Errorf("%s: prompt %d was delivered %d times", id, n, got)
			}
		}
		if ends != want || len(st.Root.Inbox) > 0 {
			w.t.Errorf("%s: %d loops for %d prompts, %d left", id, ends, want, len(st.Root.Inbox))
		}
		for line, n := range lines {
			if n > 1 && i > 0 { // the program's own runs write the same
				w.t.Errorf("%s: %s was written %d times", id, line, n)
			}
		}
		for call, n := range open {
			if n != 0 {
				w.t.Errorf("%s: call %s: %+d ends are missing", id, call, n)
			}
		}
	}
	if late == 0 {
		w.t.Error("no session was at work in the server when it was stopped")
	}
	w.t.Logf("%d sessions were taken from the server that was stopped", late)
}
