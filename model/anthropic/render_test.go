package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func TestRenderGolden(t *testing.T) {
	m := New(Config{Provider: "anthropic", Model: "claude-sonnet-4-5", MaxOutput: 64000})
	conversation := wiretest.Conversation()
	uncached := wiretest.Conversation()
	uncached.Params.Cache = model.CacheOff
	uncached.Params.ToolChoice = "none"
	manual := wiretest.Conversation()
	manual.Params.Cache = "tools,messages"
	for _, c := range []struct {
		file string
		r    *model.Request
	}{
		{"conversation.golden.json", conversation},
		{"uncached.golden.json", uncached},
		{"manual.golden.json", manual},
		{"smallest.golden.json", &model.Request{Messages: []*message.Message{wiretest.Text(message.User, "hi")}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := m.Render(c.r)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.Golden(t, c.file, b)
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name, said string
		r          *model.Request
	}{
		{"a schema that is none", "tool read", &model.Request{Prefix: &model.Prefix{Tools: []*model.ToolDef{{Name: "read", Schema: []byte("{")}}}}},
		{"not a number", "top_p", &model.Request{Params: model.Params{TopP: &nan}}},
		{"an image that was not loaded", "sha256-1", wiretest.Request(wiretest.Say(message.User, message.Image{Blob: "sha256-1"}))},
		{"a call of the user", "m1", wiretest.Request(wiretest.Say(message.User, message.ToolCall{}))},
		{"text of a tool", "m1", wiretest.Request(wiretest.Text(message.Tool, "x"))},
		{"an unknown role", "system", wiretest.Request(wiretest.Text("system", "x"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := wiretest.Collect(t.Context(), New(Config{Provider: "fake", Model: "small"}), c.r)
			if e := model.AsError(err); e == nil || e.Kind != model.BadRequest || !strings.Contains(e.Message, c.said) {
				t.Errorf("got %v, want a refusal that says %q", err, c.said)
			}
		})
	}
}

// rendered is a body as the API reads it.
type rendered struct {
	MaxTokens int            `json:"max_tokens"`
	System    []sentBlock    `json:"system"`
	Tools     []sentBlock    `json:"tools"`
	Messages  []sentMessage  `json:"messages"`
	Choice    map[string]any `json:"tool_choice"`
}

type sentMessage struct {
	Role    string      `json:"role"`
	Content []sentBlock `json:"content"`
}

type sentBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Call  string          `json:"tool_use_id"`
	Input json.RawMessage `json:"input"`
	Cache *struct{}       `json:"cache_control"`

	Content []any `json:"content"`
	IsError bool  `json:"is_error"`
}

func read(t rapid.TB, m *Model, r *model.Request) rendered {
	t.Helper()
	b, err := m.Render(r)
	if err != nil {
		t.Fatal(err)
	}
	var body rendered
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return body
}

func TestMaxTokens(t *testing.T) {
	for _, c := range []struct {
		name                 string
		asked, output, wants int
	}{
		{"asked for", 100, 64000, 100},
		{"the model's limit", 0, 64000, 64000},
		{"unknown", 0, 0, 8192},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wiretest.Request(wiretest.Text(message.User, "hi"))
			r.Params.MaxTokens = c.asked
			if got := read(t, New(Config{MaxOutput: c.output}), r).MaxTokens; got != c.wants {
				t.Errorf("got %d, want %d", got, c.wants)
			}
		})
	}
}

func TestBreakpoints(t *testing.T) {
	user, answer := wiretest.Text(message.User, "u"), wiretest.Text(message.Assistant, "a")
	result := wiretest.Say(message.Tool, message.ToolResult{Call: "c"})
	for _, c := range []struct {
		name     string
		messages []*message.Message
		tail     string
		want     string // the text of marked blocks, or their type
	}{
		{"nothing", nil, "", ""},
		{"the first prompt", []*message.Message{user}, "", ""},
		{"the first prompt with a tail", []*message.Message{user}, "t", ""},
		{"the last but one", []*message.Message{user, answer, wiretest.Text(message.User, "v")}, "t", "a"},
		{"inside a joined message", []*message.Message{user, answer, result, wiretest.Text(message.User, "steer")}, "", "tool_result"},
		{"what is not sent does not count", []*message.Message{user, answer, {Role: message.Extension}, wiretest.Text(message.User, "v"), wiretest.Text(message.Assistant, " ")}, "", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wiretest.Request(c.messages...)
			r.Tail = c.tail
			body := read(t, New(Config{}), r)
			var marked []string
			for _, m := range body.Messages {
				for _, b := range m.Content {
					if b.Cache != nil {
						marked = append(marked, cmp.Or(b.Text, b.Type))
					}
				}
			}
			if got := strings.Join(marked, " "); got != c.want {
				t.Errorf("marked %q, want %q", got, c.want)
			}
			if body.System[0].Cache != nil || body.System[1].Cache == nil || body.Tools[0].Cache != nil || body.Tools[1].Cache == nil {
				t.Errorf("the last system block and tool, and no others, are to be marked: %+v", body)
			}
		})
	}
}

// TestBreakpointsLeaveTheFormAlone: the same messages render the same again
// when a breakpoint has been in them.
func TestBreakpointsLeaveTheFormAlone(t *testing.T) {
	m, r := New(Config{}), wiretest.Conversation()
	before, err := m.Wire(r.Messages[5])
	if err != nil {
		t.Fatal(err)
	}
	before = bytes.Clone(before)
	first, _ := m.Render(r)
	second, _ := m.Render(r)
	after, _ := m.Wire(r.Messages[5])
	if !bytes.Equal(first, second) || !bytes.Equal(before, after) {
		t.Errorf("%s\n%s\n%s\n%s", before, after, first, second)
	}
}

// TestRenderAny: any conversation is valid JSON that the API takes: roles
// alternate, no text is blank, inputs are objects; and every text, call and
// result is found again in its order.
func TestRenderAny(t *testing.T) {
	m := New(Config{Provider: "fake", Model: "small"})
	rapid.Check(t, func(t *rapid.T) {
		r := wiretest.Requests().Draw(t, "request")
		body := read(t, m, r)
		marks, role := 0, ""
		var got []string
		for _, msg := range body.Messages {
			if msg.Role == role || len(msg.Content) == 0 {
				t.Fatalf("a message of %s after one of %s: %+v", msg.Role, role, msg)
			}
			role = msg.Role
			for _, b := range msg.Content {
				if b.Cache != nil {
					marks++
				}
				if b.Type == "text" && blank(b.Text) || b.Type == "tool_use" && !wire.IsObject(b.Input) || b.IsError && len(b.Content) == 0 {
					t.Fatalf("the API refuses %+v", b)
				}
				got = append(got, msg.Role+" "+b.Type+" "+b.ID+b.Call+b.Text)
			}
			if last := msg.Content[len(msg.Content)-1]; last.Type == "thinking" {
				t.Fatalf("thinking at the end of %+v", msg)
			}
		}
		if marks > 1 || marks > 0 && !r.Params.Cache.Marks(model.CacheMessages) {
			t.Fatalf("%d breakpoints in the messages", marks)
		}
		if d := gocmp.Diff(expected(r), got); d != "" {
			t.Fatal(d)
		}
	})
}

func expected(r *model.Request) []string {
	var want []string
	for _, msg := range r.Messages {
		parts, role := msg.Parts, "user"
		if msg.Role == message.Assistant {
			parts, role = withoutLastThoughts(parts), "assistant"
		}
		for _, p := range parts {
			switch p := p.(type) {
			case message.Text:
				if !blank(p.Text) {
					want = append(want, role+" text "+p.Text)
				}
			case message.Image:
				want = append(want, role+" image ")
			case message.Thinking:
				if p.Signature != "" {
					want = append(want, role+" thinking ")
				}
			case message.ToolCall:
				want = append(want, role+" tool_use "+p.ID)
			case message.ToolResult:
				want = append(want, role+" tool_result "+p.Call)
			}
		}
	}
	if !blank(r.Tail) {
		want = append(want, "user text "+r.Tail)
	}
	return want
}

// TestForeignIDs: calls of other providers have ids that the API refuses; call
// and result have to stay together.
func TestForeignIDs(t *testing.T) {
	r := wiretest.Request(
		wiretest.Say(message.Assistant, message.ToolCall{ID: "functions.read:0", Name: "fs.read"}),
		wiretest.Say(message.Tool, message.ToolResult{Call: "functions.read:0", Name: "fs.read", Error: true}),
	)
	body := read(t, New(Config{}), r)
	if id, call := body.Messages[0].Content[0].ID, body.Messages[1].Content[0].Call; id != "functions_read_0" || call != id {
		t.Errorf("the call is %q, its result of %q", id, call)
	}
}

func TestNames(t *testing.T) {
	m := New(Config{Provider: "anthropic", Model: "claude-haiku-4-5"})
	if m.Name() != "anthropic/claude-haiku-4-5" || m.Renderer() != "anthropic/1" {
		t.Errorf("got %s and %s", m.Name(), m.Renderer())
	}
}
