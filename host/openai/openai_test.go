package openai

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// FuzzDecode: whatever is sent is a request that can be run, or an error that a client
// is to blame for.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `[]`, `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},"n":1,"seed":7,"messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}`,
		`{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"auto","messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}},{"id":"d","type":"function","function":{"name":"f","arguments":""}}]},{"role":"tool","tool_call_id":"d","content":"x"},{"role":"tool","tool_call_id":"c","content":null}]}`,
		`{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}},"messages":[{"role":"user","content":"\ud800"}]}`,
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, pass bool) {
		r, err := Decode(data, pass)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Status != 400 || !json.Valid(e.JSON()) {
				t.Fatalf("%#v", err)
			}
			return
		}
		if r.Model == "" || len(r.Parts) == 0 || !pass && len(r.Tools) > 0 {
			t.Fatalf("%+v", r)
		}
		open := 0
		for _, m := range append(r.Said, session.BranchMessage{Role: session.RoleOf(r.Parts), Parts: r.Parts}) {
			for _, p := range m.Parts {
				switch p.(type) {
				case message.ToolCall:
					open++
				case message.ToolResult:
					open--
				}
			}
			if m.Role != message.Assistant && open != 0 {
				t.Fatalf("a call is without its result: %+v", r)
			}
		}
		a := Answer{Head: Head{Model: r.Model}, Text: message.PartsText(r.Parts)}
		if !json.Valid(a.JSON()) {
			t.Fatalf("%s", a.JSON())
		}
	})
}
