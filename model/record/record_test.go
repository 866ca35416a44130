package record_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/record"
	"github.com/rosterrun/roster/model/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chat is a conversation with a model, as the engine would hold it.
type chat struct {
	prefix *model.Prefix
	msgs   []*message.Message
	ids    string // what the ids begin with; they are no part of a request's digest
}

func (c *chat) add(role message.Role, parts ...message.Part) {
	c.msgs = append(c.msgs, &message.Message{ID: fmt.Sprint(c.ids, len(c.msgs)), Role: role, Parts: parts})
}

func (c *chat) say(text string) { c.add(message.User, message.Text{Text: text}) }

type answer struct {
	Chunks []model.Chunk
	Parts  []message.Part
	Usage  message.Usage
	Stop   string
	Err    string
}

func (c *chat) ask(m model.Model) answer {
	var a answer
	for ch, err := range m.Stream(context.Background(), &model.Request{Prefix: c.prefix, Messages: c.msgs}) {
		if err != nil {
			a.Err = err.Error()
			return a
		}
		if ch.Done == nil {
			a.Chunks = append(a.Chunks, ch)
			continue
		}
		a.Parts, a.Stop, a.Usage = ch.Done.Parts, ch.Stop, *ch.Usage
		c.add(message.Assistant, ch.Done.Parts...)
	}
	return a
}

// run plays a conversation of three calls and returns what was answered.
func run(m model.Model, ids string) []answer {
	c := &chat{ids: ids, prefix: &model.Prefix{System: []string{"Be brief."}}}
	c.say("What is in a.txt?")
	first := c.ask(m)
	for _, p := range first.Parts {
		if call, ok := p.(message.ToolCall); ok {
			c.add(message.Tool, message.ToolResult{Call: call.ID, Name: call.Name, Parts: []message.Part{message.Text{Text: "1\t<forty two>"}}})
		}
	}
	second := c.ask(m)
	third := c.ask(m)
	c.say("Thank you.")
	return []answer{first, second, third, c.ask(m)}
}

func scripted() model.Model {
	return script.New(
		script.Reply{Text: "Let me look.", Tools: []script.Call{{Name: "read", Input: `{"path": "a.txt"}`}, {Name: "glob", Input: `{`}}},
		script.Reply{Text: "half", Error: &script.Failure{Status: 529, RetryAfter: 2 * time.Second}},
		script.Reply{Text: "It is forty two.", Usage: &script.Usage{Input: 9, Output: 5}},
		script.Reply{Text: "Not at all."},
	).Model("script/x")
}

func recorder(t *testing.T, m model.Model, path string, redact func(string) string) *record.Recorder {
	t.Helper()
	r, err := record.New(m, path, redact)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replay(t *testing.T, path string) *record.Replayer {
	t.Helper()
	r, err := record.Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closeIt(t *testing.T, r *record.Recorder) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func recorded(t *testing.T) (path string, answers []answer) {
	path = filepath.Join(t.TempDir(), "run.jsonl")
	r := recorder(t, scripted(), path, nil)
	answers = run(r, "a")
	closeIt(t, r)
	return path, answers
}

func TestReplayAnswersAsRecorded(t *testing.T) {
	path, want := recorded(t)
	if d := cmp.Diff(run(scripted(), "a"), want); d != "" {
		t.Errorf("recording changes the answers: %s", d)
	}
	if got := want[1].Err; !strings.Contains(got, "529") {
		t.Errorf("the second call should fail: %q", got)
	}
	r := replay(t, path)
	if r.Name() != "script/x" || len(r.Notes()) != 0 {
		t.Errorf("%s %v", r.Name(), r.Notes())
	}
	want[0].Parts[1] = message.ToolCall{ID: want[0].Chunks[3].CallID, Name: "read", Input: []byte(`{"path":"a.txt"}`)}
	if d := cmp.Diff(want, run(r, "b")); d != "" {
		t.Error(d)
	}
}

// TestSeveralModels: those of one run, such as a fallback or a child's, are recorded
// to one file.
func TestSeveralModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	first := recorder(t, script.New(script.Reply{Text: "one"}).Model("script/a"), path, nil)
	second := first.With(script.New(script.Reply{Text: "two"}).Model("script/b"))
	ask := func(m model.Model, ids string) string {
		c := &chat{ids: ids, prefix: &model.Prefix{}}
		c.say("Who are " + ids + "?")
		got := c.ask(m)
		return m.Name() + " " + got.Err + fmt.Sprint(got.Parts)
	}
	want := []string{ask(first, "a"), ask(second, "b")}
	closeIt(t, first)
	r := replay(t, path)
	for i, ids := range []string{"a", "b"} {
		_, said, _ := strings.Cut(want[i], " ")
		if _, got, _ := strings.Cut(ask(r, ids), " "); got != said || !strings.Contains(said, []string{"one", "two"}[i]) {
			t.Errorf("%s: %q, want %q", ids, got, said)
		}
	}
}

func TestReplayGoesOnInANewProcess(t *testing.T) {
	path, want := recorded(t)
	c := &chat{ids: "x", prefix: &model.Prefix{System: []string{"Be brief."}}}
	c.say("What is in a.txt?")
	c.add(message.Assistant, want[0].Parts...)
	c.add(message.Tool, message.ToolResult{Call: want[0].Parts[1].(message.ToolCall).ID, Name: "read", Parts: []message.Part{message.Text{Text: "1\t<forty two>"}}})
	c.add(message.Tool, message.ToolResult{Call: want[0].Parts[2].(message.ToolCall).ID, Name: "glob", Parts: []message.Part{message.Text{Text: "1\t<forty two>"}}})
	r := replay(t, path)
	if d := cmp.Diff(want[1:3], []answer{c.ask(r), c.ask(r)}); d != "" {
		t.Error(d)
	}
}

func TestTheSameConversationUnderAnotherPrompt(t *testing.T) {
	path, want := recorded(t)
	c := &chat{prefix: &model.Prefix{System: []string{"Today is another day."}}}
	c.say("What is in a.txt?")
	if d := cmp.Diff(want[0].Chunks, c.ask(replay(t, path)).Chunks); d != "" {
		t.Error(d)
	}
}

func TestDifferencesAreSaid(t *testing.T) {
	path, want := recorded(t)
	for name, tt := range map[string]struct {
		msgs func(*chat)
		want string
		kind model.Kind
	}{
		"another prompt": {func(c *chat) { c.say("What is in b.txt?") },
			"message 1 differs: it is user `…rts\":[{\"type\":\"text\",\"text\":\"What is in b.txt?\"}]}`, and " + path + ":1 has", model.BadRequest},
		"another result": {func(c *chat) {
			c.say("What is in a.txt?")
			c.add(message.Assistant, want[0].Parts...)
			c.add(message.Tool, message.ToolResult{Call: want[0].Parts[1].(message.ToolCall).ID, Name: "read", Parts: []message.Part{message.Text{Text: "1\t<forty three>"}}})
		}, "message 3 differs: it is tool", model.BadRequest},
		"goes on": {func(c *chat) {
			c.say("What is in a.txt?")
			c.say("And in b.txt?")
		}, "message 2 differs", model.BadRequest},
		"nothing said": {func(*chat) {}, "asks the model only at message 1, and this conversation asks at message 0", model.BadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chat{}
			tt.msgs(c)
			var last error
			for _, err := range replay(t, path).Stream(t.Context(), &model.Request{Messages: c.msgs}) {
				last = err
			}
			e := model.AsError(last)
			if e == nil || e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || e.Remedy == "" {
				t.Errorf("got %v; want %s: %s", last, tt.kind, tt.want)
			}
		})
	}
	t.Run("past the end", func(t *testing.T) {
		r := replay(t, path)
		c := &chat{prefix: &model.Prefix{System: []string{"Be brief."}}}
		c.say("What is in a.txt?")
		c.ask(r)
		c.add(message.Tool, message.ToolResult{Call: want[0].Parts[1].(message.ToolCall).ID, Name: "read", Parts: []message.Part{message.Text{Text: "1\t<forty two>"}}})
		c.add(message.Tool, message.ToolResult{Call: want[0].Parts[2].(message.ToolCall).ID, Name: "glob", Parts: []message.Part{message.Text{Text: "1\t<forty two>"}}})
		c.ask(r)
		c.ask(r)
		c.say("Thank you.")
		c.ask(r)
		c.say("One more.")
		if a := c.ask(r); !strings.Contains(a.Err, "exhausted") || !strings.Contains(a.Err, "ends with the answer to message 6, and this conversation goes on to message 8: user") {
			t.Error(a.Err)
		}
	})
}

func TestRecordingAppendsAndGrowsWithTheConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	long := strings.Repeat("word ", 1000)
	m := (&script.Script{Loop: true, Replies: []script.Reply{{Text: "ok"}}}).Model("script/x")
	c := &chat{prefix: &model.Prefix{System: []string{long}}}
	size := func() int64 {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	r := recorder(t, m, path, nil)
	var at []int64
	for range 40 {
		c.say(long)
		c.ask(r)
		at = append(at, size())
	}
	closeIt(t, r)
	if early, late := at[10]-at[5], at[39]-at[34]; late > early*11/10 {
		t.Errorf("five calls take %d bytes at first and %d later", early, late)
	}
	r = recorder(t, m, path, nil) // a later run of the same conversation
	c.say("again")
	c.ask(r)
	closeIt(t, r)
	got := replay(t, path)
	c.msgs = c.msgs[:len(c.msgs)-1]
	if a := c.ask(got); a.Err != "" || a.Stop != "stop" {
		t.Errorf("%+v", a)
	}
}

func TestACutLineIsLeftOut(t *testing.T) {
	path, want := recorded(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	r := replay(t, path)
	if n := r.Notes(); len(n) != 1 || !strings.Contains(n[0], path+":4: the last line is cut off") {
		t.Errorf("notes %q", n)
	}
	got := run(r, "b")
	if d := cmp.Diff(want[1:3], got[1:3]); d != "" || got[3].Err == "" {
		t.Errorf("%+v %s", got[3], d)
	}
	rec := recorder(t, scripted(), path, nil)
	if n := rec.Notes(); len(n) != 1 || !strings.Contains(n[0], "it was removed") {
		t.Errorf("notes %q", n)
	}
	run(rec, "a")
	closeIt(t, rec)
	if d := cmp.Diff(want[1:], run(replay(t, path), "d")[1:]); d != "" {
		t.Error(d)
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	const secret = `se"cret-1234`
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	path := filepath.Join(t.TempDir(), "run.jsonl")
	m := script.New(
		script.Reply{Text: "the key is se\"cret-1234 indeed"},
		script.Reply{Text: "x", Tools: []script.Call{{Name: "read", Input: `{"path":"se\"cret-1234"}`}}},
		script.Reply{Text: "half se\"cret-1234", Error: &script.Failure{Kind: model.Cut}},
	).Model("script/x")
	m = pieces{m, 3}
	r := recorder(t, m, path, redact)
	c := &chat{prefix: &model.Prefix{System: []string{"key: " + secret}}}
	c.say("my key is " + secret)
	for range 3 {
		c.ask(r)
	}
	closeIt(t, r)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"cret-1234", "t-1"} {
		if strings.Contains(string(data), part) {
			t.Errorf("the file has %q:\n%s", part, data)
		}
	}
	c.msgs = c.msgs[:1]
	a := c.ask(replay(t, path))
	if d := cmp.Diff([]message.Part{message.Text{Text: "the key is [redacted] indeed"}}, a.Parts); d != "" {
		t.Error(d)
	}
	if len(a.Chunks) != 1 || a.Chunks[0].Text != "the key is [redacted] indeed" {
		t.Errorf("chunks %+v", a.Chunks)
	}
}

// pieces cuts the text of another model into pieces of n bytes.
type pieces struct {
	model.Model
	n int
}

func (p pieces) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for c, err := range p.Model.Stream(ctx, r) {
			for len(c.Text) > p.n {
				if !yield(model.Chunk{Text: c.Text[:p.n]}, nil) {
					return
				}
				c.Text = c.Text[p.n:]
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func TestAnInterruptedCallIsRecordedAndNotReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r := recorder(t, script.New(script.Reply{Text: "one two three"}).Model("script/x"), path, nil)
	c := &chat{}
	c.say("hi")
	req := &model.Request{Messages: c.msgs}
	for range r.Stream(t.Context(), req) {
		break
	}
	closeIt(t, r)
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), `"interrupted":true`) || !strings.Contains(string(data), `"text":"one "`) {
		t.Errorf("%s", data)
	}
	if _, err := record.Replay(path); err == nil || !strings.Contains(err.Error(), "has no answer") {
		t.Error(err)
	}
}

func TestConcurrentCallsAreWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r := recorder(t, (&script.Script{Loop: true, Replies: []script.Reply{{Text: "a b c"}}}).Model("script/x"), path, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := &chat{ids: fmt.Sprint(i, "-")}
			for range 5 {
				c.say(fmt.Sprint("conversation ", i))
				if a := c.ask(r); a.Err != "" {
					t.Error(a.Err)
				}
			}
		})
	}
	wg.Wait()
	closeIt(t, r)
	if data, _ := os.ReadFile(path); strings.Count(string(data), "\n") != 40 {
		t.Errorf("%s", data)
	}
	replay(t, path)
}

func TestOneRecorderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r := recorder(t, scripted(), path, nil)
	defer r.Close()
	if _, err := record.New(scripted(), path, nil); err == nil || !strings.Contains(err.Error(), "another process records to it") {
		t.Error(err)
	}
}

func TestACallThatCannotBeRecordedFails(t *testing.T) {
	r := recorder(t, scripted(), filepath.Join(t.TempDir(), "run.jsonl"), nil)
	closeIt(t, r)
	c := &chat{}
	c.say("hi")
	for range 2 {
		a := c.ask(r)
		if !strings.Contains(a.Err, "could not be recorded") || a.Parts != nil {
			t.Errorf("%+v", a)
		}
	}
	if err := r.Close(); err == nil || model.AsError(err) == nil {
		t.Error(err)
	}
}

func TestTimedReplayKeepsTheRhythm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	c := &chat{}
	c.say("hi")
	req := &model.Request{Messages: c.msgs}
	synctest.Test(t, func(t *testing.T) {
		m := script.New(script.Reply{Text: "a b", Delay: time.Second, Gap: time.Minute}).Model("script/x")
		r := recorder(t, m, path, nil)
		for range r.Stream(t.Context(), req) {
		}
		closeIt(t, r)
	})
	synctest.Test(t, func(t *testing.T) {
		r := replay(t, path)
		r.Timed = true
		start := time.Now()
		var at []time.Duration
		for range r.Stream(t.Context(), req) {
			at = append(at, time.Since(start))
		}
		if d := cmp.Diff([]time.Duration{time.Second, 61 * time.Second, 61 * time.Second}, at); d != "" {
			t.Error(d)
		}
	})
}

func TestRendererIsTheRecordedModels(t *testing.T) {
	r := recorder(t, scripted(), filepath.Join(t.TempDir(), "a"), nil)
	defer r.Close()
	if r.Renderer() != "script/1" {
		t.Error(r.Renderer())
	}
	bare := recorder(t, pieces{scripted(), 1}, filepath.Join(t.TempDir(), "b"), nil)
	defer bare.Close()
	if b, err := bare.Render(&model.Request{Tail: "x"}); err != nil || bare.Renderer() != "record/1" || !strings.Contains(string(b), `"tail":"x"`) {
		t.Error(string(b), err)
	}
}

func TestBrokenFiles(t *testing.T) {
	path, _ := recorded(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, tt := range map[string]struct{ text, want string }{
		"empty":         {"", "has no answer"},
		"no recording":  {"hello\n", ":1: this is no line of a recording"},
		"broken middle": {lines[0] + "{\n" + lines[1], ":2: this is no line of a recording"},
		"removed line":  {lines[1], ":1: the line says that it is line 2"},
		"other version": {`{"v":9}` + "\n", "version 9 is not known"},
		"wild link":     {`{"v":1,"n":1,"after":1,"keep":2}` + "\n", "does not stand before it"},
		"keeps more":    {lines[0] + `{"v":1,"n":2,"after":1,"keep":2}` + "\n", "keeps 2 messages of line 1, which has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := record.Replay(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want %q", err, tt.want)
			}
			if _, ok := errors.AsType[*record.Error](err); !ok {
				t.Errorf("untyped: %v", err)
			}
		})
	}
	if _, err := record.Replay(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
