package gemini

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const signature = "EjQKMgG+Pvb7K0vMZc0uVn3qRk2l9TtQ1jPpGm8xTq4bWk7fXUeY1oZr5sHdC2nLgA=="

func TestStream(t *testing.T) {
	read := func(id, input string) message.Part {
		return message.ToolCall{ID: id, Name: "read", Input: []byte(input)}
	}
	signed := message.Thinking{Signature: signature, By: signer}
	for _, a := range []wiretest.Answer{
		{File: "text.sse", Parts: []message.Part{message.Text{Text: "The file holds “naïve” text 🙂."}}, Stop: "stop", Usage: &message.Usage{Input: 93, CacheRead: 1024, Output: 46}},
		{File: "tools.sse", Parts: []message.Part{
			signed, read("fc-1", `{"path": "a.txt"}`),
			message.ToolCall{ID: "fc-2", Name: "glob", Input: []byte(`{"pattern": "*.go"}`)},
		}, Stop: "tools", Usage: &message.Usage{Input: 82, Output: 34}},
		{File: "signed-text.sse", Parts: []message.Part{message.Text{Text: "Four."}, signed}, Stop: "stop", Usage: &message.Usage{Input: 7, Output: 7}},
		{File: "length.sse", Parts: []message.Part{message.Text{Text: "It goes on"}}, Stop: "length", Usage: &message.Usage{Input: 5, Output: 2}},
		{File: "safety.sse", Parts: []message.Part{message.Text{Text: "Hm"}}, Stop: "refusal", Usage: &message.Usage{Input: 5, Output: 1}},
		{File: "blocked.sse", Stop: "refusal", Usage: &message.Usage{Input: 9}},
		{File: "document.json", Parts: []message.Part{
			message.Text{Text: "Both."}, read("t1", `{"path":"a"}`), read("t2", `{"path":"b"}`),
		}, Stop: "tools", Usage: &message.Usage{Input: 12, Output: 8}},
	} {
		t.Run(a.File, func(t *testing.T) {
			h := wiretest.Stream(wiretest.Recorded(t, a.File))
			if strings.HasSuffix(a.File, ".json") {
				h = wiretest.Reply("application/json; charset=UTF-8", wiretest.Recorded(t, a.File))
			}
			a.Check(t, serve(t, h))
		})
	}
}

// TestThoughts: thoughts are shown, the call gets an id, and the signature
// stands before it.
func TestThoughts(t *testing.T) {
	chunks, err := wiretest.Collect(t.Context(), serve(t, wiretest.Stream(wiretest.Recorded(t, "thoughts.sse"))), wiretest.Request())
	if err != nil {
		t.Fatal(err)
	}
	last := chunks[len(chunks)-1]
	calls := last.Done.Calls()
	if len(calls) != 1 || calls[0].ID == "" || calls[0].Name != "list" || last.Stop != "tools" {
		t.Fatalf("got %+v", last.Done)
	}
	want := []message.Part{
		message.Thinking{Text: "**Two files**\n\nRead both.", By: signer},
		message.Text{Text: "I look. At both."},
		message.Thinking{Signature: signature, By: signer},
	}
	for i, p := range want {
		if last.Done.Parts[i] != p {
			t.Errorf("part %d is %+v, want %+v", i, last.Done.Parts[i], p)
		}
	}
	if *last.Usage != (message.Usage{Input: 75, Output: 104}) {
		t.Errorf("usage %+v", last.Usage)
	}
}

func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		kind model.Kind
		said string
	}{
		{"error.sse", model.Overloaded, "overloaded"},
		{"malformed.sse", model.Protocol, "print(read"},
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

func TestAddress(t *testing.T) {
	var got *http.Request
	stream := wiretest.Stream(wiretest.Recorded(t, "text.sse"))
	url := wiretest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(r.Context())
		stream(w, r)
	})
	for id, path := range map[string]string{
		"gemini-3-flash": "/v1beta/models/gemini-3-flash:streamGenerateContent",
		"../x?y/z":       "/v1beta/models/..%2Fx%3Fy%2Fz:streamGenerateContent",
	} {
		m := New(Config{Provider: "fake", Model: id, BaseURL: url + "/v1beta", Key: planted, HTTPClient: wiretest.Client(t)})
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Request()); err != nil {
			t.Fatal(err)
		}
		if got.URL.EscapedPath() != path || got.URL.RawQuery != "alt=sse" || got.Header.Get("x-goog-api-key") != wiretest.Key {
			t.Errorf("%s, %v", got.URL, got.Header)
		}
	}
}

func FuzzStream(f *testing.F) {
	suite(f).Fuzz(f, "text.sse", "tools.sse", "thoughts.sse", "signed-text.sse", "error.sse", "blocked.sse")
}
