package openairesponses

import (
	"net/http"
	"strings"
	"testing"

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
		{File: "reasoning.sse", Parts: []message.Part{
			message.Thinking{Text: "Two files.\n\nRead both.", Signature: "rs_00:gAAAAABoISQ24OyVRYbkYfukdJoqdzWT-3uiErKInHDC-lgAaXeky44N", By: signer},
			message.Text{Text: "I look. "}, message.ToolCall{ID: "call_1", Name: "list", Input: []byte("{}")},
		}, Stop: "tools", Usage: &message.Usage{Input: 75, Output: 1186}},
		{File: "length.sse", Parts: []message.Part{message.Text{Text: "It goes on"}}, Stop: "length", Usage: &message.Usage{Input: 5, Output: 2}},
		{File: "truncated-call.sse", Parts: []message.Part{
			message.ToolCall{ID: "call_9", Name: "read", Input: []byte(`{"path":"a`), Invalid: true},
		}, Stop: "length", Usage: &message.Usage{Input: 5, Output: 2}},
		{File: "filtered.sse", Parts: []message.Part{message.Text{Text: "Hm"}}, Stop: "refusal", Usage: &message.Usage{Input: 5, Output: 2}},
		{File: "refusal.sse", Parts: []message.Part{message.Text{Text: "I can't do that."}}, Stop: "refusal", Usage: &message.Usage{Input: 9, Output: 4}},
		{File: "phases.sse", Parts: []message.Part{
			message.Text{Text: "I look first.", Phase: message.Commentary}, message.Text{Text: "It is four.", Phase: message.FinalAnswer},
		}, Stop: "stop", Usage: &message.Usage{Input: 76, CacheRead: 1024, CacheWrite: 1000, Output: 20}},
		{File: "raw-reasoning.sse", Parts: []message.Part{message.Thinking{Text: "Two and two.", By: signer}, message.Text{Text: "Four."}},
			Stop: "stop", Usage: &message.Usage{Input: 9, Output: 7}},
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

// TestWholeItems: a server may send items without their pieces, or only the
// whole answer.
func TestWholeItems(t *testing.T) {
	const item = `{"type":"message","content":[{"type":"output_text","text":"Four."}]}`
	const call = `{"type":"function_call","name":"read","arguments":"{}"}`
	for name, stream := range map[string]string{
		"only the items": `data: {"type":"response.output_item.done","output_index":0,"item":` + item + "}\n\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":` + call + "}\n\n" +
			`data: {"type":"response.completed","response":{}}` + "\n\n",
		"only the answer": `data: {"type":"response.completed","response":{"status":"completed","output":[` + item + `,` + call + `]}}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			chunks, err := wiretest.Collect(t.Context(), serve(t, wiretest.Stream([]byte(stream))), wiretest.Request())
			if err != nil {
				t.Fatal(err)
			}
			last := chunks[len(chunks)-1]
			calls := last.Done.Calls()
			if last.Done.Text() != "Four." || len(calls) != 1 || calls[0].ID == "" || last.Stop != "tools" {
				t.Errorf("got %+v", last.Done)
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		kind model.Kind
		said string
	}{
		{"error.sse", model.Server, "The server had an error"},
		{"failed.sse", model.RateLimit, "Rate limit reached"},
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
	m := serve(t, wiretest.Reply("application/json", []byte(`{"status":"failed","error":{"code":"server_error","message":"no memory"}}`)))
	_, err := wiretest.Collect(t.Context(), m, wiretest.Request())
	if e := model.AsError(err); e == nil || e.Kind != model.Server || e.Message != "no memory" {
		t.Errorf("got %v", err)
	}
}

func TestPath(t *testing.T) {
	var header http.Header
	var path string
	stream := wiretest.Stream(wiretest.Recorded(t, "text.sse"))
	url := wiretest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, path = r.Header, r.URL.Path
		stream(w, r)
	})
	m := New(Config{Provider: "fake", Model: "small", BaseURL: url + "/v1/", Key: planted, HTTPClient: wiretest.Client(t)})
	if _, err := wiretest.Collect(t.Context(), m, wiretest.Request()); err != nil {
		t.Fatal(err)
	}
	if path != "/v1/responses" || header.Get("Authorization") != "Bearer "+wiretest.Key {
		t.Errorf("path %s, header %v", path, header)
	}
}

func FuzzStream(f *testing.F) {
	suite(f).Fuzz(f, "text.sse", "tools.sse", "reasoning.sse", "error.sse", "refusal.sse")
}
