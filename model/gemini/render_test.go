package gemini

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func TestRenderGolden(t *testing.T) {
	m := New(Config{Provider: "google", Model: "gemini-3-pro"})
	wiretest.Golden(t, "conversation.golden.json", wiretest.Render(t, m, wiretest.Signed(signer, "EqQBCgIYAhIM")))
	r := wiretest.Conversation()
	r.Params.ToolChoice, r.Params.Thinking = "none", model.ThinkingHigh
	r.Params.Schema = &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`)}
	wiretest.Golden(t, "no-tools.golden.json", wiretest.Render(t, m, r))
	wiretest.Golden(t, "smallest.golden.json", wiretest.Render(t, m, &model.Request{
		Messages: []*message.Message{wiretest.Text(message.User, "hi")},
	}))
}

func TestThinking(t *testing.T) {
	for _, c := range []struct {
		model string
		level model.Thinking
		want  string
	}{
		{"gemini-3-pro", model.ThinkingDefault, `{"contents":[]}`},
		{"gemini-3-pro", model.ThinkingHigh, `"includeThoughts":true,"thinkingLevel":"high"`},
		{"gemini-3-flash", model.ThinkingOff, `"includeThoughts":false,"thinkingLevel":"minimal"`},
		{"gemini-3-flash", model.ThinkingMinimal, `"thinkingLevel":"minimal"`},
		{"gemini-2.5-pro", model.ThinkingLow, `"includeThoughts":true,"thinkingBudget":2048`},
		{"gemini-2.5-flash", model.ThinkingOff, `"includeThoughts":false,"thinkingBudget":0`},
		{"gemini-2.5-flash", model.ThinkingMedium, `"includeThoughts":true,"thinkingBudget":8192`},
	} {
		b := wiretest.Render(t, New(Config{Provider: "google", Model: c.model}), &model.Request{Params: model.Params{Thinking: c.level}})
		if !strings.Contains(string(b), c.want) {
			t.Errorf("%s %s: %s, want %s", c.model, c.level, b, c.want)
		}
	}
}

// TestSignatures: a signature stands at the part after it, one that ends a
// message by itself, and calls of other models have the one that says so.
func TestSignatures(t *testing.T) {
	sig := func(by string) message.Part { return message.Thinking{Signature: "sig", By: by} }
	call := message.ToolCall{ID: "c", Name: "f"}
	const called = `{"functionCall":{"id":"c","name":"f"}`
	for _, c := range []struct {
		name, model string
		parts       []message.Part
		want        string
	}{
		{"at a call", "gemini-3", []message.Part{sig(signer), call, call}, called + `,"thoughtSignature":"sig"},` + called + `}`},
		{"at text", "gemini-3", []message.Part{sig(signer), message.Text{Text: "x"}}, `{"text":"x","thoughtSignature":"sig"}`},
		{"at the end", "gemini-3", []message.Part{message.Text{Text: "x"}, sig(signer)}, `{"text":"x"},{"text":"","thoughtSignature":"sig"}`},
		{"of another", "gemini-3", []message.Part{sig("anthropic"), call, call}, called + `,"thoughtSignature":"` + unsigned + `"},` + called + `}`},
		{"none needed", "gemini-2.5-pro", []message.Part{call}, called + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := New(Config{Model: c.model}).Wire(wiretest.Say(message.Assistant, c.parts...))
			if want := openModel + c.want + "]}"; err != nil || string(w) != want {
				t.Errorf("got %s, %v, want %s", w, err, want)
			}
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
		{"an answer's schema that is none", "schema answer", &model.Request{Params: model.Params{Schema: &model.Schema{Name: "answer", JSON: []byte("[]")}}}},
		{"not a number", "temperature", &model.Request{Params: model.Params{Temperature: &nan}}},
		{"an image that was not loaded", "sha256-1", wiretest.Request(wiretest.Say(message.User, message.Image{Blob: "sha256-1"}))},
		{"a result's image that was not loaded", "sha256-1", wiretest.Request(wiretest.Say(message.Tool, message.ToolResult{Parts: []message.Part{message.Image{Blob: "sha256-1"}}}))},
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

// sent is a part as the provider reads it.
type sent struct {
	Text *string
	Call *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	Result *struct {
		ID       string
		Response map[string]string
	} `json:"functionResponse"`
	Image *struct{} `json:"inlineData"`
}

// TestRenderAny: any conversation is valid JSON in which every text, call and
// result is found again in its order, and it renders the same each time.
func TestRenderAny(t *testing.T) {
	m := New(Config{Provider: "fake", Model: "small"})
	rapid.Check(t, func(t *rapid.T) {
		r := wiretest.Requests().Draw(t, "request")
		b, err := m.Render(r)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Contents []struct{ Parts []sent }
		}
		if err := json.Unmarshal(b, &body); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		var got []sent
		for _, c := range body.Contents {
			if len(c.Parts) == 0 {
				t.Fatalf("an empty content in %s", b)
			}
			got = append(got, c.Parts...)
		}
		for _, msg := range r.Messages {
			fresh := wiretest.Say(msg.Role, msg.Parts...)
			fresh.ID = msg.ID
			kept, _ := m.Wire(msg)
			if again, _ := m.Wire(fresh); !bytes.Equal(kept, again) {
				t.Fatalf("%s and %s", kept, again)
			}
		}
		checkSent(t, r, got)
	})
}

func checkSent(t *rapid.T, r *model.Request, got []sent) {
	next := func() (p sent) {
		if len(got) == 0 {
			t.Fatal("something was not sent")
		}
		p, got = got[0], got[1:]
		return p
	}
	text := func(want string) {
		if want == "" {
			return
		}
		if p := next(); p.Text == nil || *p.Text != wiretest.Clean(want) {
			t.Fatalf("got %+v, want %q", p, want)
		}
	}
	for _, msg := range r.Messages {
		images := 0
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case message.Text:
				text(p.Text)
			case message.Image:
				if next().Image == nil {
					t.Fatal("an image was not sent")
				}
			case message.ToolCall:
				if c := next().Call; c == nil || c.ID != p.ID || c.Args != nil && !wire.IsObject(c.Args) {
					t.Fatalf("got %+v, want %+v", c, p)
				}
			case message.ToolResult:
				key := map[bool]string{true: "error", false: "output"}[p.Error]
				if c := next().Result; c == nil || c.ID != p.Call || c.Response[key] != wiretest.Clean(message.PartsText(p.Parts)) {
					t.Fatalf("got %+v, want %+v", c, p)
				}
				for _, p := range p.Parts {
					if _, ok := p.(message.Image); ok {
						images++
					}
				}
			}
		}
		for images > 0 {
			if next().Image != nil {
				images--
			}
		}
	}
	text(r.Tail)
	if len(got) > 0 {
		t.Fatalf("more was sent: %+v", got)
	}
}

func TestNames(t *testing.T) {
	m := New(Config{Provider: "google", Model: "gemini-3-flash"})
	if m.Name() != "google/gemini-3-flash" || m.Renderer() != "gemini/1" {
		t.Errorf("got %s and %s", m.Name(), m.Renderer())
	}
	if r := New(Config{Model: "gemini-2.5-pro"}).Renderer(); r == "gemini/1" {
		t.Error("the forms differ, their names do not")
	}
}

// TestSchemaInWords: models of the series 2 refuse a schema together with tools.
func TestSchemaInWords(t *testing.T) {
	ask := func(id string, tools bool) string {
		r := wiretest.Request(wiretest.Text(message.User, "hi"))
		if !tools {
			r.Prefix = nil
		}
		r.Params.Schema = &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`)}
		return string(wiretest.Render(t, New(Config{Model: id}), r))
	}
	for _, c := range []struct {
		name, model string
		tools, told bool
	}{
		{"series 2 with tools", "gemini-2.5-flash", true, false},
		{"series 2 without", "gemini-2.5-flash", false, true},
		{"series 3 with tools", "gemini-3-flash", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ask(c.model, c.tools)
			if told := strings.Contains(b, `"responseJsonSchema":{"type":"object"}`); told != c.told || strings.Contains(b, "JSON Schema:") == c.told {
				t.Errorf("got %s", b)
			}
		})
	}
}
