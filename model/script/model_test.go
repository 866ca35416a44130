package script_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// chat is a conversation with a model, as the engine would hold it.
type chat struct {
	model model.Model
	msgs  []*message.Message
	ids   int
}

func (c *chat) add(role message.Role, parts ...message.Part) {
	c.ids++
	c.msgs = append(c.msgs, &message.Message{ID: fmt.Sprintf("m%d", c.ids), Role: role, Parts: parts})
}

func (c *chat) say(text string) { c.add(message.User, message.Text{Text: text}) }

// ask calls the model once. An answer becomes part of the conversation.
func (c *chat) ask() (string, error) {
	text := ""
	for ch, err := range c.model.Stream(context.Background(), &model.Request{Messages: c.msgs}) {
		if err != nil {
			return text, err
		}
		text += ch.Text
		if ch.Done != nil {
			c.ids++
			ch.Done.ID = fmt.Sprintf("m%d", c.ids)
			c.msgs = append(c.msgs, ch.Done)
		}
	}
	return text, nil
}

func (c *chat) mustAsk(t *testing.T, want string) {
	t.Helper()
	got, err := c.ask()
	if err != nil || got != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

func (c *chat) mustFail(t *testing.T, want model.Kind) *model.Error {
	t.Helper()
	_, err := c.ask()
	e := model.AsError(err)
	if e == nil || e.Kind != want {
		t.Fatalf("got %v; want kind %s", err, want)
	}
	return e
}

func texts(s ...string) []script.Reply {
	out := make([]script.Reply, len(s))
	for i, t := range s {
		out[i].Text = t
	}
	return out
}

func TestRepliesComeInOrderAcrossPromptsAndProcesses(t *testing.T) {
	s := script.New(texts("one", "two", "three")...)
	c := &chat{model: s.Model("script/x")}
	c.say("a")
	c.mustAsk(t, "one")
	c.say("b")
	c.model = s.Model("script/x") // a new process
	c.mustAsk(t, "two")
	c.mustAsk(t, "three")
	e := c.mustFail(t, model.Exhausted)
	if !strings.Contains(e.Error(), "answer 4") || !strings.Contains(e.Error(), "loop: true") {
		t.Errorf("unhelpful: %v", e)
	}
	if e.Retryable() {
		t.Error("running out must not be tried again")
	}
}

func TestLoopStartsOver(t *testing.T) {
	c := &chat{model: (&script.Script{Loop: true, Replies: texts("a", "b")}).Model("script/x")}
	for range 3 {
		c.mustAsk(t, "a")
		c.mustAsk(t, "b")
	}
}

func TestOtherConversationsDoNotDisturb(t *testing.T) {
	m := script.New(texts("one", "two")...).Model("script/x")
	a, b := &chat{model: m}, &chat{model: m}
	a.mustAsk(t, "one")
	b.mustAsk(t, "one")
	a.mustAsk(t, "two")
	b.mustAsk(t, "two")
}

func TestConditions(t *testing.T) {
	replies := []script.Reply{
		{When: script.When{Contains: "42"}, Text: "found"},
		{Text: "first"},
		{When: script.When{Contains: "boom"}, Error: &script.Failure{Status: 500}},
		{Text: "second"},
	}
	result := func(s string) message.ToolResult {
		return message.ToolResult{Parts: []message.Part{message.Text{Text: s}}}
	}
	t.Run("in order without a match", func(t *testing.T) {
		c := &chat{model: script.New(replies...).Model("script/x")}
		c.say("hello")
		c.mustAsk(t, "first")
		c.mustAsk(t, "second")
		c.mustFail(t, model.Exhausted)
	})
	t.Run("a tool's result matches", func(t *testing.T) {
		c := &chat{model: script.New(replies...).Model("script/x")}
		c.say("hello")
		c.mustAsk(t, "first")
		c.add(message.Tool, result("the answer is 42"), result("other"))
		c.say("a steering message")
		c.mustAsk(t, "found")
		c.say("42 again")
		c.mustAsk(t, "second")
	})
	t.Run("what was said before the last answer does not match", func(t *testing.T) {
		c := &chat{model: script.New(replies[1], replies[0]).Model("script/x")}
		c.say("42")
		c.mustAsk(t, "first")
		c.say("no")
		e := c.mustFail(t, model.Exhausted)
		if !strings.Contains(e.Message, "holds for what was said last") {
			t.Error(e)
		}
	})
	t.Run("a conditional failure comes once", func(t *testing.T) {
		c := &chat{model: script.New(replies...).Model("script/x")}
		c.mustAsk(t, "first")
		c.say("boom")
		c.mustFail(t, model.Server)
		c.mustAsk(t, "second")
	})
	t.Run("loop", func(t *testing.T) {
		c := &chat{model: (&script.Script{Loop: true, Replies: replies[:2]}).Model("script/x")}
		c.say("42")
		c.mustAsk(t, "found")
		c.say("x")
		c.mustAsk(t, "first")
		c.say("42")
		c.mustAsk(t, "found")
	})
}

func TestFailuresComeOncePerAttempt(t *testing.T) {
	busy := script.Reply{Error: &script.Failure{Status: 529, RetryAfter: time.Second}}
	cut := script.Reply{Text: "half of ", Error: &script.Failure{Kind: model.Cut}}
	c := &chat{model: script.New(script.Reply{Text: "one"}, busy, cut, script.Reply{Text: "two"}, busy).Model("script/x")}
	c.say("hi")
	c.mustAsk(t, "one")
	if e := c.mustFail(t, model.Overloaded); e.RetryAfter != time.Second || e.Status != 529 || !e.Retryable() {
		t.Errorf("got %+v", e)
	}
	if text, err := c.ask(); text != "half of " || model.AsError(err).Kind != model.Cut {
		t.Errorf("got %q, %v", text, err)
	}
	c.mustAsk(t, "two")
	c.mustFail(t, model.Overloaded)
	c.mustFail(t, model.Exhausted)
}

func TestOnlyFailuresInALoopFailForever(t *testing.T) {
	c := &chat{model: (&script.Script{Loop: true, Replies: []script.Reply{
		{Error: &script.Failure{Status: 429}}, {Error: &script.Failure{Status: 500}},
	}}).Model("script/x")}
	for range 3 {
		c.mustFail(t, model.RateLimit)
		c.mustFail(t, model.Server)
	}
}

func TestStatusKinds(t *testing.T) {
	for status, kind := range map[int]model.Kind{
		400: model.BadRequest, 401: model.Auth, 403: model.Auth, 404: model.NotFound, 408: model.Timeout,
		422: model.BadRequest, 429: model.RateLimit, 500: model.Server, 502: model.Server, 503: model.Overloaded, 529: model.Overloaded,
	} {
		c := &chat{model: script.New(script.Reply{Error: &script.Failure{Status: status}}).Model("script/x")}
		c.mustFail(t, kind)
	}
}

func TestStreamOfAReplyWithTools(t *testing.T) {
	m := script.New(script.Reply{
		Text:  "Let me look.",
		Tools: []script.Call{{Name: "read", Input: `{"path":"a"}`}, {Name: "glob"}, {Name: "bad", Input: `{`}},
	}).Model("script/x")
	req := &model.Request{Messages: []*message.Message{{ID: "m1", Role: message.User, Parts: []message.Part{message.Text{Text: "12345678"}}}}}
	var pieces, ids []string
	var done model.Chunk
	for c, err := range m.Stream(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.Done != nil:
			done = c
		case c.CallID != "":
			ids = append(ids, c.CallID)
		default:
			pieces = append(pieces, c.Text)
		}
	}
	if d := cmp.Diff([]string{"Let ", "me ", "look."}, pieces); d != "" {
		t.Error(d)
	}
	want := []message.Part{
		message.Text{Text: "Let me look."},
		message.ToolCall{ID: ids[0], Name: "read", Input: []byte(`{"path":"a"}`)},
		message.ToolCall{ID: ids[1], Name: "glob", Input: []byte(`{}`)},
		message.ToolCall{ID: ids[2], Name: "bad", Input: []byte(`{`), Invalid: true},
	}
	if d := cmp.Diff(want, done.Done.Parts); d != "" {
		t.Error(d)
	}
	if done.Stop != "tools" || done.Done.Role != message.Assistant || ids[0] == ids[1] {
		t.Errorf("stop %q, role %q, ids %v", done.Stop, done.Done.Role, ids)
	}
	if u := *done.Usage; u != (message.Usage{Input: 2, Output: 9, Estimated: true}) {
		t.Errorf("usage %+v", u)
	}
}

func TestUsageIsTheScriptsOwn(t *testing.T) {
	m := script.New(script.Reply{Text: "x", Usage: &script.Usage{Input: 7, CacheRead: 2, Output: 3}}).Model("script/x")
	for c := range m.Stream(context.Background(), &model.Request{}) {
		if c.Done != nil && *c.Usage != (message.Usage{Input: 7, CacheRead: 2, Output: 3}) {
			t.Errorf("usage %+v", *c.Usage)
		}
	}
}

func TestDelayAndGapPassAndYieldToCancel(t *testing.T) {
	reply := script.Reply{Text: "a b c", Delay: time.Second, Gap: 10 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		for range script.New(reply).Model("script/x").Stream(t.Context(), &model.Request{}) {
			at = append(at, time.Since(start))
		}
		if d := cmp.Diff([]time.Duration{time.Second, 11 * time.Second, 21 * time.Second, 21 * time.Second}, at); d != "" {
			t.Error(d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var last error
		start, n := time.Now(), 0
		for _, err := range script.New(reply).Model("script/x").Stream(ctx, &model.Request{}) {
			last = err
			n++
		}
		if !errors.Is(last, context.DeadlineExceeded) || n != 2 || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %d chunks and %v", last, n, time.Since(start))
		}
	})
}

// The kept place of a conversation never changes what is answered: a model
// that saw every turn and one that sees only this one agree.
func TestPlaceIsAFunctionOfTheRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "x", "y"})
		s := &script.Script{Loop: rapid.Bool().Draw(t, "loop")}
		for i := range rapid.IntRange(1, 6).Draw(t, "replies") {
			s.Replies = append(s.Replies, script.Reply{Text: fmt.Sprint("reply ", i), When: script.When{Contains: word.Draw(t, "when")}})
		}
		c := &chat{model: s.Model("script/x")}
		for range rapid.IntRange(1, 60).Draw(t, "turns") {
			if w := rapid.SampledFrom([]string{"", "x", "y", "xy"}).Draw(t, "said"); w != "" {
				c.say(w)
			}
			fresh := &chat{model: s.Model("script/x"), msgs: c.msgs}
			want, wantErr := fresh.ask()
			got, err := c.ask()
			if got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("%q, %v from the one that saw all; %q, %v from the new one", got, err, want, wantErr)
			}
			if err != nil {
				c.add(message.Assistant, message.Text{Text: "from another model"})
			}
		}
	})
}

func TestRenderIsCanonical(t *testing.T) {
	m := script.New().Model("script/x").(model.Renderer)
	temp := 0.5
	r := &model.Request{
		Prefix: &model.Prefix{System: []string{"be \"brief\""}, Tools: []*model.ToolDef{{Name: "read", Description: "d", Schema: []byte(`{"type":"object"}`)}}},
		Params: model.Params{Temperature: &temp},
		Messages: []*message.Message{
			{ID: "1", Role: message.User, Parts: []message.Part{message.Text{Text: "hi\n"}}},
			{ID: "2", Parent: "1", Role: message.Assistant, Partial: true, Parts: []message.Part{message.ToolCall{ID: "c", Name: "read", Input: []byte(`{"path":"a"}`)}}},
		},
		Tail: "soon",
	}
	got, err := m.Render(r)
	want := `{"system":["be \"brief\""],"tools":[{"name":"read","description":"d","schema":{"type":"object"}}],` +
		`"params":{"temperature":0.5,"max_tokens":0,"cache":"","tool_choice":""},"tail":"soon",` +
		`"messages":[{"role":"user","parts":[{"type":"text","text":"hi\n"}]},` +
		`{"role":"assistant","partial":true,"parts":[{"type":"tool_call","call":"c","name":"read","input":{"path":"a"}}]}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if m.Renderer() != "script/1" {
		t.Error(m.Renderer())
	}
}

func BenchmarkScriptText(b *testing.B) {
	reply := script.New(script.Reply{Text: "Done."})
	reply.Loop = true
	for _, turns := range []int{0, 5, 500, 5000} {
		b.Run(fmt.Sprint("turn=", turns), func(b *testing.B) {
			c := &chat{model: reply.Model("script/x")}
			for range turns {
				c.say("What does the retry code do?")
				c.add(message.Assistant, message.Text{Text: "Done."})
			}
			c.say("And now?")
			r := &model.Request{Prefix: &model.Prefix{System: []string{"You are brief."}}, Messages: c.msgs}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range c.model.Stream(ctx, r) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// TestAside: what is asked aside of a conversation has replies of its own, which
// no turn gets and which are not used up.
func TestAside(t *testing.T) {
	s := script.New(
		script.Reply{When: script.When{For: "plan", Contains: "long"}, Text: "a long plan"},
		script.Reply{When: script.When{For: "plan"}, Error: &script.Failure{Status: 500}},
		script.Reply{When: script.When{For: "plan"}, Text: "a plan"},
		script.Reply{Text: "one"}, script.Reply{Text: "two"},
	)
	c := &chat{model: s.Model("script/x")}
	aside := func(what, say string) (text string) {
		t.Helper()
		for ch, err := range c.model.Stream(t.Context(), &model.Request{Messages: c.msgs, For: what, Tail: say}) {
			if err != nil {
				return model.AsError(err).Message
			}
			text += ch.Text
		}
		return text
	}
	c.say("hi")
	for i, want := range []string{"an error that the script asks for", "a plan", "a plan"} {
		if got := aside("plan", "make one"); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	c.mustAsk(t, "one")
	if got := aside("plan", "make a long one"); got != "a long plan" {
		t.Errorf("got %q", got)
	}
	if got := aside("summary", ""); got != "the script has no reply for summary" {
		t.Errorf("got %q", got)
	}
	c.say("on")
	c.mustAsk(t, "two")
}
