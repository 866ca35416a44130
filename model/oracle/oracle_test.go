// Package oracle holds our adapters against the providers' own libraries: the
// same conversation has to give the same JSON, the same stream the same
// pieces and message. And it has them talk to servers that others wrote. It is a module of its own, so that nothing else depends
// on those libraries.
package oracle

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const key = "sk-oracle"

// exchange is what one library asked, and what it made of the answer.
type exchange struct {
	Body  any
	Texts []string // the pieces of text in their order
	Whole whole
}

// whole is a finished answer.
type whole struct {
	Text, Thinking, Signature string
	Calls                     []call
	Stop                      string
	Usage                     message.Usage
}

type call struct {
	ID, Name string
	Input    any
}

// provider streams a recorded answer and keeps what it was asked.
func provider(t *testing.T, file string) (url string, body func() any) {
	t.Helper()
	answer, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var asked []byte
	stream := wiretest.Stream(answer)
	url = wiretest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked, _ = io.ReadAll(r.Body)
		stream(w, r)
	})
	return url, func() any { return decode(t, asked) }
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	return v
}

// ours runs one of our adapters.
func ours(t *testing.T, m model.Model, r *model.Request, body func() any) exchange {
	t.Helper()
	chunks, err := wiretest.Collect(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	e := exchange{Body: body()}
	for _, c := range chunks {
		if c.Text != "" {
			e.Texts = append(e.Texts, c.Text)
		}
	}
	last := chunks[len(chunks)-1]
	e.Whole = whole{Text: last.Done.Text(), Stop: last.Stop}
	if last.Usage != nil {
		e.Whole.Usage = *last.Usage
	}
	for _, p := range last.Done.Parts {
		if p, ok := p.(message.Thinking); ok {
			e.Whole.Thinking += p.Text + p.Redacted
			e.Whole.Signature += p.Signature
		}
	}
	for _, c := range last.Done.Calls() {
		e.Whole.Calls = append(e.Whole.Calls, call{c.ID, c.Name, decode(t, c.Input)})
	}
	return e
}

func compare(t *testing.T, theirs, ours exchange) {
	t.Helper()
	if d := cmp.Diff(theirs, ours); d != "" {
		t.Errorf("the library has -, we have +:\n%s", d)
	}
}

// requests are the conversations that both send.
func requests() map[string]*model.Request {
	first := wiretest.Conversation()
	first.Messages = first.Messages[:1]
	first.Tail = ""
	quiet := wiretest.Conversation()
	quiet.Params = model.Params{ToolChoice: "none", Cache: model.CacheOff, MaxTokens: 5}
	thinking := wiretest.Conversation()
	thinking.Params = model.Params{Thinking: model.ThinkingHigh}
	answer := wiretest.Conversation()
	answer.Params = model.Params{Schema: &model.Schema{Name: "answer", JSON: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`), Strict: true}}
	phased := wiretest.Conversation()
	for i, p := range phased.Messages[2].Parts {
		if text, ok := p.(message.Text); ok {
			text.Phase = message.Commentary
			phased.Messages[2].Parts[i] = text
		}
	}
	return map[string]*model.Request{
		"phases": phased,
		"first":  first, "everything": wiretest.Conversation(), "no tools, no cache": quiet, "thinking": thinking, "an answer by schema": answer,
	}
}

func schema(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	m, ok := decode(t, raw).(map[string]any)
	if !ok {
		t.Fatalf("%s is no object", raw)
	}
	return m
}

// input is a call's arguments as both send them.
func input(c message.ToolCall) json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

// encoded is a signature as it stands in JSON.
func encoded(signature []byte) string { return base64.StdEncoding.EncodeToString(signature) }

func dataURL(i message.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

func recorded(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sse") {
			files = append(files, e.Name())
		}
	}
	return files
}
