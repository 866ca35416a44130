package anthropic

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func TestStream(t *testing.T) {
	read := func(id, input string) message.Part {
		return message.ToolCall{ID: id, Name: "read", Input: []byte(input)}
	}
	for _, a := range []wiretest.Answer{
		{File: "text.sse", Parts: []message.Part{message.Text{Text: "The file holds “naïve” 🙂."}}, Stop: "stop",
			Usage: &message.Usage{Input: 25, CacheRead: 2048, CacheWrite: 512, Output: 15}},
		{File: "tools.sse", Parts: []message.Part{
			message.Text{Text: "I look."}, read("toolu_01T1x1fJ34qAmk2tNTrN7Up6", `{"path": "a.txt"}`),
			message.ToolCall{ID: "toolu_01Lp9cQ", Name: "list", Input: []byte("{}")},
		}, Stop: "tools", Usage: &message.Usage{Input: 472, Output: 89}},
		{File: "thinking.sse", Parts: []message.Part{
			message.Thinking{Text: "Two and two.", Signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h", By: signer},
			message.Thinking{Redacted: "EmwKAhgBEgy3va3pzix", By: signer}, message.Text{Text: "Four."},
		}, Stop: "stop", Usage: &message.Usage{Input: 40, Output: 20}},
		{File: "length.sse", Parts: []message.Part{message.Text{Text: "It goes on"}}, Stop: "length", Usage: &message.Usage{Input: 25, Output: 2}},
		{File: "refusal.sse", Parts: []message.Part{message.Text{Text: "No"}}, Stop: "refusal", Usage: &message.Usage{Input: 25, Output: 1}},
		{File: "truncated-call.sse", Parts: []message.Part{
			message.ToolCall{ID: "toolu_1", Name: "read", Input: []byte(`{"path": "a`), Invalid: true},
		}, Stop: "length", Usage: &message.Usage{Input: 25, Output: 5}},
		{File: "document.json", Parts: []message.Part{message.Text{Text: "Both."}, read("t1", `{"path": "a"}`)}, Stop: "tools",
			Usage: &message.Usage{Input: 12, Output: 8}},
	} {
		t.Run(a.File, func(t *testing.T) {
			h := wiretest.Stream(wiretest.Recorded(t, a.File))
			if strings.HasSuffix(a.File, ".json") {
				h = wiretest.Reply("application/json; charset=utf-8", wiretest.Recorded(t, a.File))
			}
			a.Check(t, serve(t, h))
		})
	}
}

func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		kind model.Kind
		said string
	}{
		{"error.sse", model.Overloaded, "Overloaded"},
		{"cut.sse", model.Cut, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			chunks, err := wiretest.Collect(t.Context(), serve(t, wiretest.Stream(wiretest.Recorded(t, c.file))), wiretest.Request())
			if e := model.AsError(err); e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.said) {
				t.Errorf("got %v, want kind %s and %q", err, c.kind, c.said)
			}
			if len(chunks) == 0 || !strings.HasPrefix(chunks[0].Text, "Half") {
				t.Errorf("got %+v, want what came before", chunks)
			}
		})
	}
}

func TestErrorAsDocument(t *testing.T) {
	m := serve(t, wiretest.Reply("application/json", []byte(`{"type":"error","error":{"type":"api_error","message":"no memory"}}`)))
	_, err := wiretest.Collect(t.Context(), m, wiretest.Request())
	if e := model.AsError(err); e == nil || e.Kind != model.Server || e.Message != "no memory" {
		t.Errorf("got %v", err)
	}
}

// TestBrokenAfterTheEnd: once the reason to stop has come, nothing can be
// missing.
func TestBrokenAfterTheEnd(t *testing.T) {
	raw := wiretest.Recorded(t, "text.sse")
	end := bytes.Index(raw, []byte("event: message_stop"))
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		wiretest.Stream(raw[:end])(w, r)
		panic(http.ErrAbortHandler)
	})
	chunks, err := wiretest.Collect(t.Context(), m, wiretest.Request())
	if err != nil || chunks[len(chunks)-1].Done == nil {
		t.Errorf("got %v, want the message", err)
	}
}

func TestHeaders(t *testing.T) {
	for _, base := range []string{"", "/v1", "/v1/"} {
		t.Run("base URL"+base, func(t *testing.T) { testHeaders(t, base) })
	}
}

func testHeaders(t *testing.T, base string) {
	for _, c := range []struct {
		name string
		cfg  Config
		want map[string]string
	}{
		{"a key", Config{Key: planted}, map[string]string{"X-Api-Key": wiretest.Key, "Anthropic-Version": "2023-06-01", "Authorization": ""}},
		{"no key", Config{}, map[string]string{"X-Api-Key": ""}},
		{"headers of the user", Config{Headers: map[string]string{"X-Team": "blue", "anthropic-version": "2024-01-01"}}, map[string]string{"X-Team": "blue", "Anthropic-Version": "2024-01-01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got http.Header
			var path string
			stream := wiretest.Stream(wiretest.Recorded(t, "text.sse"))
			c.cfg.BaseURL = wiretest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				got, path = r.Header, r.URL.Path
				stream(w, r)
			}) + base
			c.cfg.HTTPClient = wiretest.Client(t)
			if _, err := wiretest.Collect(t.Context(), New(c.cfg), wiretest.Request()); err != nil {
				t.Fatal(err)
			}
			for name, value := range c.want {
				if got.Get(name) != value {
					t.Errorf("%s is %q, want %q", name, got.Get(name), value)
				}
			}
			if path != "/v1/messages" {
				t.Errorf("the path is %s", path)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	suite(f).Fuzz(f, "text.sse", "tools.sse", "thinking.sse", "error.sse", "truncated-call.sse")
}

// TestRepeatedEvents decodes each event of a stream once by itself and once
// after the others.
func TestRepeatedEvents(t *testing.T) {
	var events [][]byte
	for _, s := range []string{"one", "two", `a \"quote\"`, "", "three\\n", "naïve", "last"} {
		for _, index := range []string{"0", "1", "0"} {
			events = append(events, []byte(`{"type":"content_block_delta","index":`+index+`,"delta":{"type":"text_delta","text":"`+s+`"}}`))
		}
	}
	begun := func() *decoder {
		return &decoder{blocks: []*block{{index: 0, start: content{Type: "text"}}, {index: 1, start: content{Type: "thinking"}}}}
	}
	collect := func(d *decoder, raw []byte) (got []string) {
		d.yield = func(c model.Chunk) bool { got = append(got, c.Text); return true }
		if err := d.event(raw); err != nil {
			t.Fatal(err)
		}
		return got
	}
	kept := begun()
	for _, raw := range events {
		if d := cmp.Diff(collect(begun(), raw), collect(kept, raw)); d != "" {
			t.Errorf("%s: %s", raw, d)
		}
	}
	if text := kept.blocks[1].text.String(); text != "" {
		t.Errorf("text in a block of thinking: %q", text)
	}
}
