package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// completed is an answer of /v1/chat/completions.
type completed struct {
	ID, Object, Model, Error string
	Created                  int64
	Revision                 string `json:"system_fingerprint"`
	Choices                  []struct {
		Message, Delta struct {
			Role    string
			Content *string
			Calls   []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	}
	Roster struct {
		Session string `json:"session_id"`
		Reason  string `json:"stop_reason"`
	}
}

// complete asks for a whole answer.
func (s *site) complete(body string, header ...string) completed {
	s.t.Helper()
	a := s.post("/v1/chat/completions", body, header...)
	if a.status != http.StatusOK {
		s.t.Fatalf("%d %s", a.status, a.body)
	}
	var got completed
	a.into(s.t, &got)
	if len(got.Choices) != 1 || got.Choices[0].Finish == nil || got.Object != "chat.completion" {
		s.t.Fatalf("not an answer: %s", a.body)
	}
	return got
}

// text is what an answer says, and finish why it ends.
func (c completed) text() string {
	if c.Choices[0].Message.Content == nil {
		return ""
	}
	return *c.Choices[0].Message.Content
}

func (c completed) finish() string { return *c.Choices[0].Finish }

// protocolError is the body of an error.
type protocolError struct {
	Error struct {
		Message, Type, Code string
		Param               *string
		Session             string `json:"session_id"`
	}
}

func (a answer) wantProtocolError(t testing.TB, status int, kind, code string) protocolError {
	t.Helper()
	var e protocolError
	a.into(t, &e)
	if a.status != status || e.Error.Type != kind || e.Error.Code != code || e.Error.Message == "" {
		t.Fatalf("got %d %s, want %d %s %s", a.status, a.body, status, kind, code)
	}
	return e
}

// chunks streams an answer to its end: its text, its last chunk with choices, the
// data of what is not a chunk, and how many pieces of text there were.
func (s *site) chunks(body string, header ...string) (text string, last completed, rest []string, pieces int) {
	s.t.Helper()
	res := s.open(s.t.Context(), http.MethodPost, "/v1/chat/completions", body, header...)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var c completed
		if json.Unmarshal([]byte(data), &c) != nil || len(c.Choices) == 0 {
			rest = append(rest, data)
			continue
		}
		if p := c.Choices[0].Delta.Content; p != nil {
			text += *p
			pieces++
		}
		last.ID, last.Revision = c.ID, c.Revision
		last.Choices = c.Choices
	}
	if err := lines.Err(); err != nil {
		s.t.Fatal(err)
	}
	return text, last, rest, pieces
}

const hi = `{"model":"echo","messages":[{"role":"user","content":"Hi"}]}`

func TestCompletion(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Good day to you.", Usage: &script.Usage{Input: 100, Output: 7}})
	a := s.post("/v1/chat/completions", hi)
	if a.status != 200 || a.header.Get("X-Session-Id") == "" || a.header.Get("X-Roster-Ignored") != "" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	var c completed
	a.into(t, &c)
	if c.text() != "Good day to you." || c.finish() != "stop" || c.Model != "echo" || c.Choices[0].Message.Role != "assistant" || !strings.HasPrefix(c.ID, "chatcmpl-") || c.Created == 0 || c.Revision == "" {
		t.Errorf("%s", a.body)
	}
	if c.Usage.Prompt != 100 || c.Usage.Completion != 7 || c.Usage.Total != 107 {
		t.Errorf("usage: %+v", c.Usage)
	}
	if c.Roster.Session != a.header.Get("X-Session-Id") || c.Roster.Reason != "done" {
		t.Errorf("roster: %+v", c.Roster)
	}
}

// TestCompletionStream: the pieces are sent as they come, and make the same text.
func TestCompletionStream(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Good day to you.", Usage: &script.Usage{Input: 60, CacheRead: 40, Output: 7}})
	text, last, rest, pieces := s.chunks(strings.Replace(hi, `{`, `{"stream":true,"stream_options":{"include_usage":true},`, 1))
	if text != "Good day to you." || pieces < 4 || *last.Choices[0].Finish != "stop" || last.Revision == "" {
		t.Errorf("%q in %d pieces, %+v", text, pieces, last)
	}
	if len(rest) != 2 || !strings.Contains(rest[0], `"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":40}}`) || rest[1] != "[DONE]" {
		t.Errorf("at the end: %q", rest)
	}
}

// TestCompletionOfHistory: the conversation that a client sends is what the model is
// told, and its system message stands behind the profile's prompt.
func TestCompletionOfHistory(t *testing.T) {
	s := newSite(t, script.Reply{Text: "not this one"}, script.Reply{Text: "Blue."})
	body := `{"model":"echo","temperature":0.25,"max_tokens":99,"seed":7,"user":"u-1","frequency_penalty":0,"messages":[
		{"role":"system","content":"Answer in one word."},
		{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},
		{"role":"assistant","content":"A picture."},
		{"role":"user","content":"Its colour?"}]}`
	a := s.post("/v1/chat/completions", body)
	var c completed
	a.into(t, &c)
	if c.text() != "Blue." {
		t.Fatalf("%s", a.body)
	}
	if got := a.header.Get("X-Roster-Ignored"); got != "seed, user" {
		t.Errorf("ignored: %q", got)
	}
	sent := s.get("/sessions/" + c.Roster.Session + "/requests/1").body
	for _, want := range []string{"Be brief.", "Answer in one word.", "What is this?", "iVBORw0KGgo=", "A picture.", "Its colour?", `"temperature":0.25`, `"max_tokens":99`} {
		if !strings.Contains(sent, want) {
			t.Errorf("the model was not sent %s:\n%s", want, sent)
		}
	}
	if strings.Index(sent, "Be brief.") > strings.Index(sent, "Answer in one word.") {
		t.Errorf("the client's system message stands before the profile's prompt: %s", sent)
	}
	var messages []struct{ Role string }
	s.get("/sessions/"+c.Roster.Session+"/messages").into(t, &messages)
	if len(messages) != 4 {
		t.Errorf("the session has %d messages, want 4", len(messages))
	}
}

// TestCompletionInASession goes on with a session: what stands there already is not
// taken again.
func TestCompletionInASession(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Hello."}, script.Reply{Text: "Again."})
	first := s.complete(hi)
	second := s.complete(`{"model":"echo","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"Once"},{"role":"user","content":"more"}]}`,
		"X-Session-Id", first.Roster.Session)
	if second.text() != "Again." || second.Roster.Session != first.Roster.Session {
		t.Fatalf("%+v", second)
	}
	var messages []struct{ Role string }
	s.get("/sessions/"+first.Roster.Session+"/messages").into(t, &messages)
	if len(messages) != 5 { // Hi, Hello., Once, more, Again.
		t.Errorf("the session has %d messages, want 5", len(messages))
	}
	s.post("/v1/chat/completions", hi, "X-Session-Id", "x").wantProtocolError(t, 400, "invalid_request_error", "InvalidField")
	s.post("/v1/chat/completions", hi, "X-Session-Id", "00000000-0000-4000-8000-000000000000").wantProtocolError(t, 404, "invalid_request_error", "SessionNotFound")
}

// TestCompletionInside: the profile's tools run here, and a client sees what was said.
func TestCompletionInside(t *testing.T) {
	replies := []script.Reply{
		{Text: "Let me look.", Tools: []script.Call{{Name: "read", Input: `{"path":"roster.yaml"}`}}},
		{When: script.When{Contains: "base-url"}, Text: "It has a provider."},
	}
	s := newSite(t, replies...)
	c := s.complete(hi)
	if c.text() != "It has a provider." || c.finish() != "stop" {
		t.Errorf("%+v", c)
	}
	text, last, _, _ := s.chunks(strings.Replace(hi, `{`, `{"stream":true,`, 1))
	if text != "Let me look.\n\nIt has a provider." || *last.Choices[0].Finish != "stop" {
		t.Errorf("%q %+v", text, last)
	}
	e := s.post("/v1/chat/completions", strings.Replace(hi, `{`, `{"tools":[{"type":"function","function":{"name":"weather"}}],`, 1)).wantProtocolError(t, 400, "invalid_request_error", "InvalidField")
	if e.Error.Param == nil || *e.Error.Param != "tools" || !strings.Contains(e.Error.Message, "X-Roster-Tools: pass") {
		t.Errorf("%+v", e)
	}
}

const weather = `"tools":[{"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"strict":true}}],`

// TestCompletionPass: the client makes the calls of its own tools, in a session for
// each request or in one, and the results are what the model is told.
func TestCompletionPass(t *testing.T) {
	for _, one := range []bool{false, true} {
		t.Run(fmt.Sprintf("one session %v", one), func(t *testing.T) {
			s := newSite(t,
				script.Reply{Text: "I look.", Tools: []script.Call{{Name: "weather", Input: `{"city":"Bern"}`}, {Name: "weather", Input: `{"city":"Rome"}`}}},
				script.Reply{When: script.When{Contains: "12 degrees"}, Text: "Bern is cold."})
			first := s.complete(strings.Replace(hi, `{`, `{`+weather, 1), "X-Roster-Tools", "pass")
			calls := first.Choices[0].Message.Calls
			if first.finish() != "tool_calls" || first.text() != "I look." || len(calls) != 2 || calls[0].Function.Name != "weather" || calls[0].Function.Arguments != `{"city":"Bern"}` || calls[0].Type != "function" {
				t.Fatalf("%+v", first)
			}
			sent := s.get("/sessions/" + first.Roster.Session + "/requests/1").body
			if !strings.Contains(sent, "Tells the weather.") || strings.Contains(sent, `"read"`) {
				t.Errorf("the model was not told of the client's tools alone: %s", sent)
			}
			made, _ := json.Marshal(calls)
			body := `{"model":"echo",` + weather + `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"I look.","tool_calls":` + lower(made) + `},
				{"role":"tool","tool_call_id":"` + calls[1].ID + `","content":"30 degrees"},{"role":"tool","tool_call_id":"` + calls[0].ID + `","content":"12 degrees"}]}`
			header := []string{"X-Roster-Tools", "pass"}
			if one {
				header = append(header, "X-Session-Id", first.Roster.Session)
			}
			second := s.complete(body, header...)
			if second.text() != "Bern is cold." || second.finish() != "stop" || one != (second.Roster.Session == first.Roster.Session) {
				t.Fatalf("%+v", second)
			}
			var messages []struct {
				Role string
				Text string
			}
			a := s.get("/sessions/" + second.Roster.Session + "/messages")
			a.into(t, &messages)
			if len(messages) != 4 || messages[2].Role != "tool" || strings.Contains(a.body, "makes this call itself") || !strings.Contains(a.body, "30 degrees") {
				t.Errorf("the session has: %s", a.body)
			}
			if one { // what was answered is not waited for any more
				s.post("/v1/chat/completions", body, header...).wantProtocolError(t, 400, "invalid_request_error", "UnknownToolCall")
			}
		})
	}
}

// lower writes the members of calls as the protocol has them.
func lower(calls []byte) string {
	return strings.NewReplacer(`"ID"`, `"id"`, `"Type"`, `"type"`, `"Function"`, `"function"`, `"Name"`, `"name"`, `"Arguments"`, `"arguments"`).Replace(string(calls))
}

func TestCompletionPassStream(t *testing.T) {
	s := newSite(t, script.Reply{Tools: []script.Call{{Name: "weather", Input: `{"city":"Bern"}`}}})
	res := s.open(t.Context(), http.MethodPost, "/v1/chat/completions", strings.Replace(hi, `{`, `{"stream":true,`+weather, 1), "X-Roster-Tools", "pass")
	defer res.Body.Close()
	var all strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
	}
	for _, want := range []string{`"delta":{"tool_calls":[{"index":0,"id":"`, `"type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bern\"}"}}]}`, `"finish_reason":"tool_calls"`, "[DONE]"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %s in\n%s", want, all.String())
		}
	}
}

// TestCompletionPassDenied: a tool that the profile's rules deny is not offered for a
// client either.
func TestCompletionPassDenied(t *testing.T) {
	s := newSite(t)
	s.write("profiles/strict.md", "---\nname: strict\nmodel: fake/text\npermissions: {\"*\": deny}\n---\nx\n")
	e := s.post("/v1/chat/completions", `{"model":"strict",`+weather+`"messages":[{"role":"user","content":"Hi"}]}`, "X-Roster-Tools", "pass").wantProtocolError(t, 400, "invalid_request_error", "InvalidTool")
	if !strings.Contains(e.Error.Message, "weather") {
		t.Errorf("%+v", e)
	}
}

func TestCompletionSchema(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Yes."}, script.Reply{Text: `{"ok":true}`})
	body := `{"model":"echo","stream":true,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}}},"messages":[{"role":"user","content":"Hi"}]}`
	text, last, _, _ := s.chunks(body)
	if text != `{"ok":true}` || *last.Choices[0].Finish != "stop" {
		t.Errorf("%q %+v", text, last)
	}
}

// TestCompletionErrors: each in the form, and with the status, from which libraries
// make their own.
func TestCompletionErrors(t *testing.T) {
	s := newSite(t)
	const bad, kind = 400, "invalid_request_error"
	for name, c := range map[string]struct {
		body, header string
		status       int
		code, param  string
	}{
		"empty":            {"", "", bad, "MalformedBody", ""},
		"no object":        {"[]", "", bad, "MalformedBody", ""},
		"binary":           {"\x00\xff", "", bad, "MalformedBody", ""},
		"no model":         {`{"messages":[]}`, "", bad, "MissingField", "model"},
		"no messages":      {`{"model":"echo"}`, "", bad, "MissingField", "messages"},
		"wrong type":       {`{"model":7}`, "", bad, "InvalidField", "model"},
		"twice":            {`{"model":"echo","model":"x"}`, "", bad, "InvalidField", "model"},
		"unknown model":    {strings.Replace(hi, "echo", "nobody", 1), "", 404, "model_not_found", ""},
		"path":             {strings.Replace(hi, "echo", "../echo", 1), "", 404, "model_not_found", ""},
		"n":                {strings.Replace(hi, `{`, `{"n":2,`, 1), "", bad, "InvalidField", "n"},
		"stop":             {strings.Replace(hi, `{`, `{"stop":"x",`, 1), "", bad, "InvalidField", "stop"},
		"max_tokens":       {strings.Replace(hi, `{`, `{"max_tokens":0,`, 1), "", bad, "InvalidField", "max_tokens"},
		"temperature":      {strings.Replace(hi, `{`, `{"temperature":9,`, 1), "", bad, "SchemaValidation", ""},
		"effort":           {strings.Replace(hi, `{`, `{"reasoning_effort":"x",`, 1), "", bad, "InvalidField", "reasoning_effort"},
		"header":           {hi, "outside", bad, "InvalidField", "X-Roster-Tools"},
		"assistant last":   {`{"model":"echo","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, "", bad, "InvalidField", "messages"},
		"only a system":    {`{"model":"echo","messages":[{"role":"system","content":"a"}]}`, "", bad, "InvalidField", "messages"},
		"result of none":   {`{"model":"echo","messages":[{"role":"tool","tool_call_id":"c","content":"b"}]}`, "", bad, "InvalidField", "messages[0].tool_call_id"},
		"call without one": {`{"model":"echo","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"a"}]}`, "", bad, "InvalidField", "messages[2]"},
		"image elsewhere":  {`{"model":"echo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://localhost/x.png"}}]}]}`, "", bad, "InvalidField", "messages[0].content[0].image_url.url"},
		"role":             {`{"model":"echo","messages":[{"role":"boss","content":"a"}]}`, "", bad, "InvalidField", "messages[0].role"},
		"schema":           {strings.Replace(hi, `{`, `{"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"what"}}},`, 1), "", bad, "InvalidSchema", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			e := s.post("/v1/chat/completions", c.body, "X-Roster-Tools", c.header).wantProtocolError(t, c.status, kind, c.code)
			if got := e.Error.Param; c.param != "" && (got == nil || *got != c.param) {
				t.Errorf("param is not %s: %+v", c.param, e)
			}
		})
	}
	s.t = t
	s.get("/v1/nothing").wantProtocolError(t, 404, kind, "NoRoute")
	s.post("/v1/chat/completions", `{"model":"`+strings.Repeat("x", 9<<20)+`"}`).wantProtocolError(t, 413, kind, "BodyTooLarge")
}

// TestCompletionFails: a run that fails before it has said anything is an error, also
// where a stream was asked for; no library is to try it again by itself.
func TestCompletionFails(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		s := newSite(t, script.Reply{Error: &script.Failure{Status: 400}})
		a := s.post("/v1/chat/completions", strings.Replace(hi, `{`, `{"stream":`+stream+`,`, 1))
		e := a.wantProtocolError(t, 502, "server_error", "model.bad-request")
		if e.Error.Session == "" || a.header.Get("X-Should-Retry") != "false" {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
}

// TestCompletionBreaksOff: what a client was sent cannot be taken back, so an answer
// that the model begins anew ends with an error, and the run with it.
func TestCompletionBreaksOff(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Half of an", Error: &script.Failure{Kind: model.Cut}}, script.Reply{Text: "The whole answer."})
	text, _, rest, _ := s.chunks(strings.Replace(hi, `{`, `{"stream":true,`, 1))
	if text != "Half of an" || len(rest) != 1 || !strings.Contains(rest[0], `"code":"AnswerBrokeOff"`) {
		t.Errorf("%q, then %q", text, rest)
	}
	var sessions []struct{ ID string }
	s.get("/sessions").into(t, &sessions)
	if got := s.get("/sessions/" + sessions[0].ID + "/events?until=idle"); !strings.Contains(got.body, `"reason":"cancelled"`) {
		t.Errorf("the run was not cancelled: %s", got.body)
	}
	if c := s.complete(hi); c.text() != "The whole answer." { // who asks for one object is not told of it
		t.Errorf("%+v", c)
	}
}

// TestCompletionClientLeaves: the run goes on.
func TestCompletionClientLeaves(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Good day to you.", Gap: 20 * time.Millisecond})
	ctx, leave := context.WithCancel(t.Context())
	res := s.open(ctx, http.MethodPost, "/v1/chat/completions", strings.Replace(hi, `{`, `{"stream":true,`, 1))
	id := res.Header.Get("X-Session-Id")
	leave()
	res.Body.Close()
	if got := s.get("/sessions/" + id + "/events?until=idle"); !strings.Contains(got.body, `"reason":"done"`) {
		t.Errorf("%s", got.body)
	}
}

// TestCompletionAgain: with an Idempotency-Key the same request is run once, and
// another one refused.
func TestCompletionAgain(t *testing.T) {
	s := newSite(t, script.Reply{Text: "unused"}, script.Reply{Text: "Hello."})
	body := `{"model":"echo","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hm."},{"role":"user","content":"So?"}]}`
	a := s.complete(body, "Idempotency-Key", "k")
	b := s.complete(body, "Idempotency-Key", "k")
	if a.ID != b.ID || b.text() != "Hello." {
		t.Errorf("%+v\n%+v", a, b)
	}
	text, last, _, _ := s.chunks(strings.Replace(body, `{`, `{"stream":true,`, 1), "Idempotency-Key", "k")
	if text != "Hello." || last.ID != a.ID {
		t.Errorf("%q %+v", text, last)
	}
	s.post("/v1/chat/completions", hi, "Idempotency-Key", "k").wantProtocolError(t, 422, "invalid_request_error", "IdempotencyConflict")
}

func TestModels(t *testing.T) {
	s := newSite(t)
	var list struct {
		Object string
		Data   []struct{ ID, Object string }
	}
	s.get("/v1/models").into(t, &list)
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	if list.Object != "list" || strings.Join(names, " ") != "echo fast nomodel team/echo" {
		t.Errorf("%v", names)
	}
	written := time.Unix(1_700_000_000, 5)
	s.write("profiles/old.md", "---\nname: old\nmodel: fake/text\n---\nx\n")
	if err := os.Chtimes(filepath.Join(s.app.Dir(), "profiles/old.md"), written, written); err != nil {
		t.Fatal(err)
	}
	if a := s.get("/v1/models/old"); a.status != 200 || a.body != `{"id":"old","object":"model","created":1700000000,"owned_by":"roster"}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.get("/v1/models/team%2Fecho"); a.status != 200 || !strings.Contains(a.body, `"id":"team/echo"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, name := range []string{"nobody", "..%2Fecho", "%00"} {
		s.get("/v1/models/"+name).wantProtocolError(t, 404, "invalid_request_error", "model_not_found")
	}
}
