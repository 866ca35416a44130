package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// The crash test runs this test binary again as a worker that kills itself.
const (
	crashDir = "ROSTER_TEST_CRASH_DIR" // set: be the worker on the database in this directory
	crashAt  = "ROSTER_TEST_CRASH_AT"  // die as soon as this event is durable; 0: live
)

// TestKilledAtEachEvent kills a run once at every event of its log, lets
// another process take it up, and proves that it ends, that no answer that was
// in the log is asked for again, that no effect happens twice, that what hooks
// said of a call holds, and that the model is told where an outcome is not known.
func TestKilledAtEachEvent(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		crashWorker(t, dir)
		return
	}
	whole := crashRun(t, 0)
	last := whole[len(whole)-1]
	if last.Type != "loop.end" {
		t.Fatalf("the run that is not killed ends with %s", last.Type)
	}
	for at := int64(1); at <= last.Seq; at++ {
		t.Run(fmt.Sprintf("%02d-%s", at, whole[at-1].Type), func(t *testing.T) {
			t.Parallel()
			crashRun(t, at)
		})
	}
}

// crashRun runs the script with one death at the given event, and checks what
// is left behind.
func crashRun(t *testing.T, at int64) []session.Event {
	t.Helper()
	dir := t.TempDir()
	worker := func(at int64) error {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtEachEvent$", "-test.count=1")
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAt+"="+strconv.FormatInt(at, 10))
		out, err := cmd.CombinedOutput()
		if err != nil && at == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		return err
	}
	if at > 0 {
		err := worker(at)
		if exit, ok := err.(*exec.ExitError); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the worker was to be killed: %v", err)
		}
	}
	worker(0)
	return checkCrash(t, dir, at)
}

func checkCrash(t *testing.T, dir string, at int64) []session.Event {
	t.Helper()
	store := openCrash(t, dir)
	var events []session.Event
	answered := map[string]bool{} // by tool message or answer that was durable before the death
	outcome := map[string]session.Outcome{}
	hooked := map[string]*session.Hooked{} // by event and call
	settled := map[string]bool{}           // those that were durable before the death
	for e, err := range store.Read(t.Context(), key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Body, err = e.Decode(); err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case *session.Message:
			if b.Role == message.Assistant && e.Seq <= at {
				answered[strconv.Itoa(e.Turn)] = true
			}
		case *session.Hooked:
			if hooked[b.On+b.Call] != nil {
				t.Errorf("hooks have said of call %s twice what they think at %s", b.Call, b.On)
			}
			hooked[b.On+b.Call], settled[b.On+b.Call] = b, e.Seq <= at
		case *session.ToolBefore:
			if h := hooked["before-tool"+b.Call]; h != nil && string(h.Input) != string(b.Input) {
				t.Errorf("call %s began with %s, and the hook gave it %s", b.Call, b.Input, h.Input)
			}
		case *session.ToolAfter:
			if b.Tool == task.Switch || b.Tool == "inquire" {
				if b.Outcome != session.OK {
					t.Errorf("the call of %s ended as %s: %s", b.Tool, b.Outcome, message.PartsText(b.Parts))
				}
				break
			}
			if _, twice := outcome[b.Call]; twice {
				t.Errorf("call %s has two ends", b.Call)
			}
			outcome[b.Call] = b.Outcome
		}
		events = append(events, e)
	}
	end := end(t, events)
	if end.Reason != session.ReasonDone || end.Text != "all done, as q" {
		t.Errorf("end: %+v", end)
	}
	if n := len(find[*session.Switched](events)); n != 1 {
		t.Errorf("the profile was switched %d times", n)
	}
	asked := map[string]int{}
	for _, turn := range lines(t, dir, "asked") {
		asked[turn]++
	}
	for turn := range answered {
		if asked[turn] != 1 {
			t.Errorf("turn %s was answered before the death and asked for %d times", turn, asked[turn])
		}
	}
	effects := map[string]int{}
	for _, call := range lines(t, dir, "effects") {
		if effects[call]++; effects[call] > 1 {
			t.Errorf("the effect of call %s happened twice", call)
		}
	}
	for call, o := range outcome {
		if o == session.OK && effects[call] != 1 {
			t.Errorf("call %s is said to be done and had %d effects", call, effects[call])
		}
		if o != session.OK && o != session.NotKnown {
			t.Errorf("call %s ended as %s", call, o)
		}
	}
	heard := map[string]int{}
	for _, what := range lines(t, dir, "hooked") {
		heard[what]++
	}
	for what := range hooked {
		if n := heard[what]; n < 1 || settled[what] && n != 1 {
			t.Errorf("the hook of %s was asked %d times, though its answer was durable: %t", what, n, settled[what])
		}
	}
	for call, o := range outcome {
		if hooked["before-tool"+call] == nil || (hooked["after-tool"+call] == nil) != (o == session.NotKnown) {
			t.Errorf("the log does not have what hooks said of call %s", call)
		}
	}
	if len(outcome) != 5 {
		t.Errorf("%d calls have an end, want 5", len(outcome))
	}
	return events
}

func lines(t *testing.T, dir, name string) []string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

func openCrash(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "roster.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// note appends a word to a file, as an effect that outlives the process.
func note(t *testing.T, dir, name, word string) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(word + "\n"); err != nil {
		t.Fatal(err)
	}
}

// crashWorker posts the prompt if it is not there, and runs the stream.
func crashWorker(t *testing.T, dir string) {
	store := openCrash(t, dir)
	effect := newProbe("effect", func(_ context.Context, c tool.Call) (tool.Result, error) {
		note(t, dir, "effects", c.ID)
		return tool.Text("done"), nil
	})
	m := asking{script.New(
		script.Reply{Text: "first", Tools: []script.Call{{Name: "effect", Input: `{"n":1}`}}},
		script.Reply{Tools: []script.Call{{Name: "effect", Input: `{"n":2}`}, {Name: "effect", Input: `{"n":3}`}}},
		script.Reply{Tools: []script.Call{{Name: "risky", Input: `{"n":4}`}, {Name: "effect", Input: `{"n":5}`}}},
		script.Reply{Tools: []script.Call{{Name: task.Switch, Input: `{"profile":"q"}`}, {Name: "inquire"}}},
		script.Reply{Text: "all done, as p"},
	).Model("script/crash"), func(turn int) { note(t, dir, "asked", strconv.Itoa(turn)) }}
	b := newBench(t, m, effect, newProbe("risky", effect.run), task.NewSwitch([]task.Target{{Name: "q"}}, nil),
		&inquirer{newProbe("inquire", func(_ context.Context, c tool.Call) (tool.Result, error) {
			if c.Reply == nil || c.Reply.Text != "yes" {
				return tool.Result{}, errors.New("it runs without its answer")
			}
			return tool.Text("asked"), nil
		})})
	b.asks = true
	b.hooks = crashHooks(t, dir)
	b.spec.Rules = append(b.spec.Rules, ask("risky"))
	q := newBench(t, asking{script.New(
		script.Reply{}, script.Reply{}, script.Reply{}, script.Reply{}, script.Reply{Text: "all done, as q"},
	).Model("script/crash2"), m.asked})
	q.spec.Name = "q"
	lease := crashLease(t, store)
	st := session.NewState(key)
	for e, err := range store.Read(t.Context(), key, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at, _ := strconv.ParseInt(os.Getenv(crashAt), 10, 64)
	deadly := oneByOne{store, at}
	deadly.die(st.Last)
	deps := engine.Deps{Store: deadly, Blobs: store, Switch: func(context.Context, engine.Switch) (*engine.Blueprint, error) {
		return q.blueprint(), nil
	}}
	for {
		as := b.blueprint()
		if l := st.Root.Loop; l != nil && l.Start.Profile == "q" {
			as = q.blueprint()
		}
		for _, err := range engine.Run(t.Context(), deps, as, st, lease) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if st.Root.Loop == nil {
			return
		}
		lease = crashAnswer(t, store, deadly, st)
	}
}

// crashHooks give each call another input in each process, and each result
// another text.
func crashHooks(t *testing.T, dir string) (list []hook.Hook) {
	for _, on := range []hook.Event{hook.BeforeTool, hook.AfterTool} {
		for _, name := range []string{"effect", "risky"} {
			list = append(list, hook.Hook{On: on, Match: name, Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
				note(t, dir, "hooked", string(m.Event)+m.Call)
				v := hook.Verdict{Decision: hook.Rewrite, Input: fmt.Appendf(nil, `{"n":%d}`, os.Getpid())}
				if on == hook.AfterTool {
					v.Input, v.Text = nil, "seen"
				}
				return v, nil
			}})
		}
	}
	return list
}

// crashYes says yes to the first question.
func crashYes(st *session.State) session.Body {
	for q := range st.Questions() {
		if q.Input != nil {
			return &session.InputAnswered{Ask: q.Ask, Answer: session.AnswerText, Text: "yes"}
		}
		return &session.PermissionResolved{Ask: q.Ask, Answer: session.AnswerOnce}
	}
	panic("nothing is asked")
}

// crashAnswer answers what the stream waits for.
func crashAnswer(t *testing.T, store *sqlite.Store, deadly oneByOne, st *session.State) session.Lease {
	yes := session.Event{Session: key.Stream, Chain: "c", Time: time.Now().UTC(), Body: crashYes(st)}
	posted, err := store.Post(t.Context(), key, session.Post{Worker: strconv.Itoa(os.Getpid()), Events: []session.Event{yes}})
	if err != nil || posted.Lease == nil {
		t.Fatalf("%+v, %v", posted, err)
	}
	deadly.die(posted.Last)
	yes.Seq = posted.Last
	if err := st.Apply(&yes); err != nil {
		t.Fatal(err)
	}
	return *posted.Lease
}

// crashLease posts the prompt in the first process, and takes the stream over
// from the dead one in the next.
func crashLease(t *testing.T, store *sqlite.Store) session.Lease {
	worker := strconv.Itoa(os.Getpid())
	workers, err := store.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(workers) == 0 {
		if err := store.Beat(t.Context(), worker); err != nil {
			t.Fatal(err)
		}
		p := session.Post{Worker: worker, Events: []session.Event{{
			Session: key.Stream, Chain: "c", Time: time.Now().UTC(), Body: &session.Prompt{Parts: text("go"), Profile: "p"},
		}}}
		posted, err := store.Post(t.Context(), key, p)
		if err != nil || posted.Lease == nil {
			t.Fatalf("%+v, %v", posted, err)
		}
		return *posted.Lease
	}
	for _, w := range workers {
		if err := store.Bury(t.Context(), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Beat(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	if sum, err := store.Summary(t.Context(), key); err == nil && sum.Status() == session.Waiting { // it was killed when it had begun to wait
		st, err := session.ReadState(t.Context(), store, key)
		if err != nil {
			t.Fatal(err)
		}
		yes := session.Event{Session: key.Stream, Time: time.Now().UTC(), Body: crashYes(st)}
		if _, err := store.Post(t.Context(), key, session.Post{Events: []session.Event{yes}}); err != nil {
			t.Fatal(err)
		}
	}
	_, lease, err := store.Claim(t.Context(), worker, &key)
	if err == session.ErrNoWork { // it was killed after its end
		os.Exit(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// oneByOne commits each event by itself, so that a process can die between any
// two of them, and dies when the event at is durable.
type oneByOne struct {
	*sqlite.Store
	at int64
}

func (s oneByOne) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	for i := range evs {
		last, err := s.Store.Append(ctx, k, l, after, evs[i:i+1])
		if err != nil {
			return last, err
		}
		after = last
		s.die(last)
	}
	return after, nil
}

func (s oneByOne) die(last int64) {
	if last == s.at {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// asking reports each call by its turn: the answers given so far, and one.
type asking struct {
	model.Model
	asked func(turn int)
}

func (m asking) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	turn := 1
	for _, x := range r.Messages {
		if x.Role == message.Assistant {
			turn++
		}
	}
	m.asked(turn)
	return m.Model.Stream(ctx, r)
}
