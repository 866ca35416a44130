package roster_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// atWork counts the processes that have a marker in their environment.
func atWork(t *testing.T, mark string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			n++
		}
	}
	return n
}

func waitGone(t *testing.T, mark string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); atWork(t, mark) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes are left", atWork(t, mark))
		}
	}
}

func bash(input string, a ...any) script.Reply {
	return script.Reply{Tools: []script.Call{{Name: "bash", Input: fmt.Sprintf(input, a...)}}}
}

// daemon leaves two processes at work that are hard to end, one of them out of
// the command's session.
const daemon = `{"command":"export %s; trap '' TERM; (setsid bash -c 'trap \"\" TERM; echo up; exec tail -f /dev/null' &); exec tail -f /dev/null","background":true}`

// jobApp opens a workspace whose profiles may run what they like, and asks for
// reading a.env.
func jobApp(t *testing.T, store session.Backend, rules string, models map[string]model.Model) *roster.App {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	for name := range models {
		name = strings.TrimPrefix(name, "bench/")
		write(t, dir, "profiles/"+name+".md", fmt.Sprintf("---\ndescription: Works.\nmodel: bench/%s\npermission: {%s}\n---\nWork.\n", name, rules))
	}
	write(t, dir, "a.env", "A=1\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: store, Models: models, Trust: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// told gives the results of a session's calls of bash.
func told(t *testing.T, app *roster.App, k session.Key, after int64) (texts []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for batch, err := range app.Follow(ctx, k, after) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			body, err := batch[i].Decode()
			if err != nil {
				t.Fatal(err)
			}
			switch b := body.(type) {
			case *session.ToolAfter:
				if b.Tool == "bash" {
					texts = append(texts, message.PartsText(b.Parts))
				}
			case *session.LoopWaiting:
				return texts
			case *session.LoopEnd:
				if batch[i].Depth == 0 {
					return texts
				}
			}
		}
	}
	return texts
}

// TestJobEndsWithItsLoop: and the next loop's model is told so.
func TestJobEndsWithItsLoop(t *testing.T) {
	mark := "ROSTER_MARK=" + t.Name()
	m := script.New(
		bash(daemon, mark), bash(`{"job":1,"timeout":0.01}`), script.Reply{Text: "done"},
		bash(`{"job":1}`), bash(`{"command":"echo x"}`), bash(daemon, mark), script.Reply{Text: "done"},
	).Model("bench/worker")
	app := jobApp(t, memory.New(memory.Options{}), "bash: allow", map[string]model.Model{"bench/worker": m})
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go"), Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	got := told(t, app, sub.Key, sub.After())
	if len(got) != 2 || !strings.HasPrefix(got[0], "up\n[job 1 is at work") || !strings.HasPrefix(got[1], "[job 1 is at work, for ") {
		t.Errorf("%q", got)
	}
	waitGone(t, mark)
	sub, err = app.Submit(t.Context(), roster.Ask{Key: sub.Key, Profile: "worker", Parts: text("go on")})
	if err != nil {
		t.Fatal(err)
	}
	got = told(t, app, sub.Key, sub.After())
	if len(got) != 3 || !strings.HasPrefix(got[0], "job: there is no job 1, there is none; jobs end with the run") ||
		!strings.HasPrefix(got[1], "[job 1 is not at work any more: ") || !strings.HasPrefix(got[2], "up\n[job 2 is at work") {
		t.Errorf("%q", got)
	}
	waitGone(t, mark)
}

func TestJobEndsOnCancel(t *testing.T) {
	mark := "ROSTER_MARK=" + t.Name()
	best := time.Hour
	for range 3 {
		m := script.New(bash(daemon, mark), bash(`{"command":"touch started; tail -f /dev/null"}`)).Model("bench/worker")
		app := jobApp(t, memory.New(memory.Options{}), "bash: allow", map[string]model.Model{"bench/worker": m})
		sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go")})
		if err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); ; {
			if _, err := os.Stat(filepath.Join(app.Dir(), "started")); err == nil {
				break
			}
			if time.Since(start) > 20*time.Second {
				t.Fatal("it does not start")
			}
		}
		if n := atWork(t, mark); n < 2 {
			t.Fatalf("%d processes", n)
		}
		start := time.Now()
		if err := app.Cancel(t.Context(), sub.Key, "enough"); err != nil {
			t.Fatal(err)
		}
		waitGone(t, mark)
		best = min(best, time.Since(start))
	}
	t.Logf("cancel took %v", best)
	if best > 200*time.Millisecond {
		t.Errorf("cancel took %v", best)
	}
}

// TestJobGoesOnWhileAPersonIsAsked: to look at it nobody is asked, and when the
// process that has it ends, so does it.
func TestJobGoesOnWhileAPersonIsAsked(t *testing.T) {
	mark := "ROSTER_MARK=" + t.Name()
	store := memory.New(memory.Options{})
	m := script.New(
		bash(daemon, mark), script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}},
		bash(`{"job":1,"timeout":0.01}`), script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}},
	).Model("bench/worker")
	app := jobApp(t, store, "bash: ask", map[string]model.Model{"bench/worker": m})
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	last := sub.After()
	for i, want := range []string{"", "up\n[job 1 is at work: ", "[job 1 is at work, for "} {
		got := told(t, app, sub.Key, last)
		if i > 0 && (len(got) != 1 || !strings.HasPrefix(got[0], want) || atWork(t, mark) < 2) {
			t.Fatalf("%q, not %q; %d processes", got, want, atWork(t, mark))
		}
		list, err := app.Approvals(t.Context(), sub.Key)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if i == 2 {
			break
		}
		b, err := app.Backend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum, err := b.Summary(t.Context(), sub.Key)
		if err != nil {
			t.Fatal(err)
		}
		last = sum.Last
		answer(t, app, sub.Key, list[0].ID, roster.Answer{Answer: session.AnswerOnce})
	}
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := atWork(t, mark); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}

// TestJobOfAChild ends with the child.
func TestJobOfAChild(t *testing.T) {
	mark := "ROSTER_MARK=" + t.Name()
	app := jobApp(t, memory.New(memory.Options{}), "bash: allow", map[string]model.Model{
		"bench/child": script.New(bash(daemon, mark), script.Reply{Text: "done"}).Model("bench/child"),
		"bench/parent": script.New(
			bash(`{"command":"echo own; exec tail -f /dev/null","background":true}`),
			script.Reply{Tools: []script.Call{{Name: "task", Input: `{"profile":"child","prompt":"go"}`}}},
			bash(`{"command":"grep -lz %s /proc/[0-9]*/environ 2>/dev/null | wc -l"}`, mark),
			bash(`{"job":1,"timeout":0.01}`), script.Reply{Text: "done"},
		).Model("bench/parent"),
	})
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "parent", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	got := told(t, app, sub.Key, sub.After())
	if len(got) != 4 || !strings.HasPrefix(got[1], "up\n[job 1 is at work") || got[2] != "0\n" || !strings.HasPrefix(got[3], "[job 1 is at work, for ") {
		t.Errorf("%q", got)
	}
}
