package wiretest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

var update = flag.Bool("update", false, "write golden files anew")

// Golden compares got with a file of testdata.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.TrimSuffix(string(Recorded(t, name)), "\n")
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// Answer is what a recorded stream has to become.
type Answer struct {
	File  string
	Parts []message.Part
	Stop  string
	Usage *message.Usage
}

// Check reads the answer of m and compares it; what came in pieces has to be
// what the whole message holds.
func (a Answer) Check(t *testing.T, m model.Model) {
	t.Helper()
	chunks, err := Collect(t.Context(), m, request())
	if err != nil {
		t.Fatal(err)
	}
	last := chunks[len(chunks)-1]
	if last.Done == nil {
		t.Fatalf("the last chunk %+v has no message", last)
	}
	same := cmpopts.IgnoreUnexported(message.Message{})
	if d := cmp.Diff(&message.Message{Role: message.Assistant, Parts: a.Parts}, last.Done, same); d != "" {
		t.Error(d)
	}
	if last.Stop != a.Stop {
		t.Errorf("stop %q, want %q", last.Stop, a.Stop)
	}
	if d := cmp.Diff(a.Usage, last.Usage); d != "" {
		t.Error(d)
	}
	if want, got := outline(last.Done), pieces(chunks[:len(chunks)-1]); want != got {
		t.Errorf("the pieces are\n%s\nthe message is\n%s", got, want)
	}
}

// outline writes a message as pieces does.
func outline(m *message.Message) string {
	var thinking, text, calls string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Thinking:
			thinking += p.Text
		case message.Text:
			text += p.Text
		case message.ToolCall:
			calls += fmt.Sprintf("\n%s %s %s", p.ID, p.Name, p.Input)
		}
	}
	return thinking + "\n" + text + calls
}

func pieces(chunks []model.Chunk) string {
	var thinking, text string
	var order []string
	args := map[string]string{}
	for _, c := range chunks {
		thinking += c.Thinking
		text += c.Text
		if c.CallID != "" {
			key := c.CallID + " " + c.CallName
			if _, ok := args[key]; !ok {
				order = append(order, key)
			}
			args[key] += c.CallArgs
		}
	}
	calls := ""
	for _, key := range order {
		if args[key] == "" {
			args[key] = "{}"
		}
		calls += "\n" + key + " " + args[key]
	}
	return thinking + "\n" + text + calls
}

var pixel = []byte("\x89PNG\r\n\x1a\n")

// Conversation has one of everything that a conversation may hold.
func Conversation() *model.Request {
	temperature, topP := 0.2, 0.95
	user := func(parts ...message.Part) *message.Message {
		return &message.Message{Role: message.User, Parts: parts}
	}
	assistant := func(parts ...message.Part) *message.Message {
		return &message.Message{Role: message.Assistant, Parts: parts}
	}
	results := func(parts ...message.Part) *message.Message {
		return &message.Message{Role: message.Tool, Parts: parts}
	}
	text := func(s string) message.Part { return message.Text{Text: s} }
	return &model.Request{
		Prefix: Prefix(),
		Params: model.Params{Temperature: &temperature, TopP: &topP, MaxTokens: 4000},
		Messages: []*message.Message{
			user(text("What is in a.txt & b.png? “<quotes>” \U0001F642 \x01")),
			{Role: message.Extension, Parts: []message.Part{text("never sent")}},
			assistant(
				message.Thinking{Text: "Two files.", Signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"},
				message.Thinking{Redacted: "EmwKAhgBEgy3va3pzix"},
				text("I look at both."),
				message.ToolCall{ID: "toolu_1", Name: "read", Input: []byte(`{"path":"a.txt"}`)},
				message.ToolCall{ID: "toolu_2", Name: "read", Input: []byte(`{"path":"b.png"}`)},
				message.ToolCall{ID: "toolu_3", Name: "list"},
			),
			results(
				message.ToolResult{Call: "toolu_1", Name: "read", Parts: []message.Part{text("1\thello\n")}},
				message.ToolResult{Call: "toolu_2", Name: "read", Parts: []message.Part{
					text("An image:"), message.Image{MediaType: "image/png", Data: pixel},
				}},
				message.ToolResult{Call: "toolu_3", Name: "list", Parts: []message.Part{text("no such directory")}, Error: true},
			),
			user(text("Go on."), message.Image{MediaType: "image/png", Data: pixel}),
			{Role: message.Assistant, Partial: true, Parts: []message.Part{text("It holds "), message.Thinking{Text: "cut"}}},
			user(text("And?")),
		},
		Tail: "<roster-reminder>3 turns are left.</roster-reminder>",
	}
}

// Signed is Conversation with all thinking signed by one protocol.
func Signed(by, signature string) *model.Request {
	r := Conversation()
	for _, m := range r.Messages {
		for i, p := range m.Parts {
			if t, ok := p.(message.Thinking); ok && t.Signature != "" {
				t.By, t.Signature = by, signature
				m.Parts[i] = t
			}
		}
	}
	return r
}

// Prefix is that of Conversation.
func Prefix() *model.Prefix {
	return &model.Prefix{
		System: []string{"You are brief.", "The workspace is /w."},
		Tools: []*model.ToolDef{
			{Name: "read", Description: "Reads a file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "list", Schema: []byte(`{"type":"object","properties":{}}`)},
		},
	}
}

// Render is the body that a model sends.
func Render(t *testing.T, m model.Renderer, r *model.Request) []byte {
	t.Helper()
	b, err := m.Render(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Request has the head of Conversation and other messages.
func Request(messages ...*message.Message) *model.Request {
	return &model.Request{Prefix: Prefix(), Messages: messages}
}

// Say is a message with the id m1.
func Say(role message.Role, parts ...message.Part) *message.Message {
	return &message.Message{ID: "m1", Role: role, Parts: parts}
}

// Text is a message of text.
func Text(role message.Role, s string) *message.Message { return Say(role, message.Text{Text: s}) }

// Requests draws any request that an engine may make.
func Requests() *rapid.Generator[*model.Request] {
	return rapid.Custom(func(t *rapid.T) *model.Request {
		r := &model.Request{
			Prefix: &model.Prefix{System: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "system")},
			Params: model.Params{
				MaxTokens:  rapid.IntRange(0, 9).Draw(t, "max"),
				Cache:      rapid.SampledFrom([]model.Cache{model.CacheAuto, model.CacheOff, model.CacheSystem, "tools,messages"}).Draw(t, "cache"),
				ToolChoice: rapid.SampledFrom([]string{"", "none"}).Draw(t, "choice"),
			},
			Tail: rapid.String().Draw(t, "tail"),
		}
		if rapid.Bool().Draw(t, "tools") {
			r.Prefix.Tools = Prefix().Tools
		}
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			r.Messages = append(r.Messages, round(t)...)
		}
		return r
	})
}

// round draws a user's message, an answer and the results of its calls.
func round(t *rapid.T) []*message.Message {
	text := rapid.Custom(func(t *rapid.T) message.Part { return message.Text{Text: rapid.String().Draw(t, "text")} })
	image := rapid.Just[message.Part](message.Image{MediaType: "image/png", Data: pixel})
	thinking := rapid.Custom(func(t *rapid.T) message.Part {
		return message.Thinking{Text: rapid.String().Draw(t, "thinking"), Signature: rapid.SampledFrom([]string{"", "sig"}).Draw(t, "signature")}
	})
	call := rapid.Custom(func(t *rapid.T) message.Part {
		return message.ToolCall{
			ID: rapid.StringMatching(`call_[a-z0-9]{4}`).Draw(t, "id"), Name: "read",
			Input: []byte(rapid.SampledFrom([]string{`{"path":"a"}`, ``, `{"path":`, `[1]`, "\xff", `{"a":1,"a":2}`, ` {} `}).Draw(t, "input")),
		}
	})
	answer := &message.Message{Role: message.Assistant, Parts: rapid.SliceOfN(rapid.OneOf(text, thinking, call), 0, 4).Draw(t, "answer")}
	messages := []*message.Message{
		{Role: message.User, Parts: rapid.SliceOfN(rapid.OneOf(text, image), 0, 3).Draw(t, "prompt")},
		answer,
	}
	if calls := answer.Calls(); len(calls) > 0 {
		results := &message.Message{Role: message.Tool}
		for _, c := range calls {
			results.Parts = append(results.Parts, message.ToolResult{
				Call: c.ID, Name: c.Name, Error: rapid.Bool().Draw(t, "error"),
				Parts: rapid.SliceOfN(rapid.OneOf(text, image), 0, 2).Draw(t, "result"),
			})
		}
		messages = append(messages, results)
	}
	return messages
}

// Clean is s as JSON can hold it.
func Clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
