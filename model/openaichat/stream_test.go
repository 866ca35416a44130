package openaichat

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
		{File: "text.sse", Parts: []message.Part{message.Text{Text: "The file holds “naïve” text 🙂."}}, Stop: "stop", Usage: &message.Usage{Input: 93, CacheRead: 1024, Output: 46}},
		{File: "tools.sse", Parts: []message.Part{
			read("call_DdmO9pD3xa9XTPNJ32zg2hcA", `{"path":"a.txt"}`),
			message.ToolCall{ID: "call_k1BsYkVqGBGPbVGyRLGDhJbR", Name: "glob", Input: []byte(`{"pattern":"*.go"}`)},
		}, Stop: "tools", Usage: &message.Usage{Input: 82, Output: 34}},
		{File: "text-and-tool.sse", Parts: []message.Part{
			message.Text{Text: "I look. "}, message.ToolCall{ID: "call_1", Name: "list", Input: []byte("{}")},
		}, Stop: "tools", Usage: &message.Usage{Input: 10, Output: 10}},
		{File: "careless.sse", Parts: []message.Part{
			read("a1", `{"path":"a"}`), read("b2", `{"path":"b"}`),
			message.ToolCall{ID: "c3", Name: "list", Input: []byte("{}")},
		}, Stop: "tools"},
		{File: "length.sse", Parts: []message.Part{message.Text{Text: "It goes on"}}, Stop: "length", Usage: &message.Usage{Input: 5, Output: 2}},
		{File: "refusal.sse", Parts: []message.Part{message.Text{Text: "I can't do that."}}, Stop: "refusal", Usage: &message.Usage{Input: 9, Output: 4}},
		{File: "filtered.sse", Parts: []message.Part{message.Text{Text: "Hm"}}, Stop: "refusal"},
		{File: "reasoning.sse", Parts: []message.Part{message.Thinking{Text: "Two and two."}, message.Text{Text: "Four."}}, Stop: "stop", Usage: &message.Usage{Input: 7, Output: 9}},
		{File: "truncated-call.sse", Parts: []message.Part{
			message.ToolCall{ID: "call_9", Name: "read", Input: []byte(`{"path":"a`), Invalid: true},
		}, Stop: "length"},
		{File: "document.json", Parts: []message.Part{
			message.Text{Text: "Both."}, read("t1", `{"path":"a"}`), read("t2", `{"path":"b"}`),
		}, Stop: "tools", Usage: &message.Usage{Input: 12, Output: 8}},
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

func TestStreamWithoutID(t *testing.T) {
	m := serve(t, wiretest.Stream([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":"{}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}]}

`)))
	chunks, err := wiretest.Collect(t.Context(), m, wiretest.Request())
	if err != nil {
		t.Fatal(err)
	}
	calls := chunks[len(chunks)-1].Done.Calls()
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID {
		t.Errorf("got %+v, want two calls with ids of their own", calls)
	}
}

func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		kind model.Kind
		said string
	}{
		{"error.sse", model.Server, "Provider returned error"},
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
	m := serve(t, wiretest.Reply("application/json", []byte(`{"error":{"message":"no memory","type":"server_error"}}`)))
	_, err := wiretest.Collect(t.Context(), m, wiretest.Request())
	if e := model.AsError(err); e == nil || e.Kind != model.Server || e.Message != "no memory" {
		t.Errorf("got %v", err)
	}
}

// TestBrokenAfterTheEnd: once the reason to stop has come, only the count of
// tokens can be missing.
func TestBrokenAfterTheEnd(t *testing.T) {
	raw := wiretest.Recorded(t, "text.sse")
	finish := bytes.Index(raw, []byte(`"finish_reason":"stop"`))
	end := finish + bytes.Index(raw[finish:], []byte("\n\n")) + 2
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
	for _, c := range []struct {
		name string
		cfg  Config
		want map[string]string
	}{
		{"a key", Config{Key: planted}, map[string]string{"Authorization": "Bearer " + wiretest.Key}},
		{"no key", Config{}, map[string]string{"Authorization": ""}},
		{"headers of the user", Config{Headers: map[string]string{"X-Team": "blue"}}, map[string]string{"X-Team": "blue"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got http.Header
			var path string
			stream := wiretest.Stream(wiretest.Recorded(t, "text.sse"))
			c.cfg.BaseURL = wiretest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				got, path = r.Header, r.URL.Path
				stream(w, r)
			}) + "/v1/"
			c.cfg.HTTPClient = wiretest.Client(t)
			if _, err := wiretest.Collect(t.Context(), New(c.cfg), wiretest.Request()); err != nil {
				t.Fatal(err)
			}
			for name, value := range c.want {
				if got.Get(name) != value {
					t.Errorf("%s is %q, want %q", name, got.Get(name), value)
				}
			}
			if path != "/v1/chat/completions" {
				t.Errorf("the path is %s", path)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	suite(f).Fuzz(f, "text.sse", "tools.sse", "careless.sse", "error.sse", "reasoning.sse")
}

// TestRepeatedEvents decodes each event of a stream once by itself and once
// after the others.
func TestRepeatedEvents(t *testing.T) {
	var events [][]byte
	for _, s := range []string{"one", "two", `a \"quote\"`, "", "three\\n", "naïve", "last"} {
		events = append(events, []byte(`{"choices":[{"index":0,"delta":{"content":"`+s+`"}}]}`))
	}
	collect := func(d *decoder, raw []byte) (got []string) {
		d.yield = func(c model.Chunk) bool { got = append(got, c.Text); return true }
		if err := d.event(raw); err != nil {
			t.Fatal(err)
		}
		return got
	}
	kept := &decoder{}
	for _, raw := range events {
		if d := cmp.Diff(collect(&decoder{}, raw), collect(kept, raw)); d != "" {
			t.Errorf("%s: %s", raw, d)
		}
	}
}
