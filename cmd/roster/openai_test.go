package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// complete asks for a chat completion, with tools of the client.
func (w *workspace) complete(url, messages, session string) (answer struct {
	Choices []struct {
		Message struct{ Content string }
		Finish  string `json:"finish_reason"`
	}
}) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(`{"model":"worker","messages":`+messages+
		`,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("X-Roster-Tools", "pass")
	if session != "" {
		req.Header.Set("X-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return // the server was killed
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK || len(answer.Choices) != 1 {
		w.t.Errorf("%s: %+v, %v", res.Status, answer, err)
	}
	return answer
}

// TestToolsOfAClientAfterAKill kills a server while a model is asked that a client has
// given tools: the next server asks it again, with these tools, and the client goes on
// with the calls.
func TestToolsOfAClientAfterAKill(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "providers: {fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 1000}}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "loop: true\nreplies:\n- {when: {contains: weather}, delay: 3s, tools: [{name: weather, input: {city: Bern}}]}\n- {when: {contains: 12 degrees}, text: It is cold.}\n")
	server, url := w.serve()
	const asked = `{"role":"user","content":"What is the weather?"}`
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.complete(url, "["+asked+"]", "")
	}()
	id := w.running()
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	server.Wait()
	<-gone

	_, url = w.serve()
	w.idle()
	if r := w.run(nil, "sessions", "events", id, "--json"); strings.Count(r.stdout, `"type":"loop.resumed"`) != 1 {
		t.Errorf("the run was not taken up once: %+v", r)
	}
	var shown struct {
		Messages []struct {
			Parts []struct{ Type, Call string }
		}
	}
	if r := w.run(nil, "sessions", "show", id, "--full", "--json"); json.Unmarshal([]byte(r.stdout), &shown) != nil || len(shown.Messages) != 3 || shown.Messages[1].Parts[0].Type != "tool_call" {
		t.Fatalf("%+v", r)
	}
	call := shown.Messages[1].Parts[0].Call
	answer := w.complete(url, "["+asked+`,{"role":"assistant","tool_calls":[{"id":"`+call+`","type":"function","function":{"name":"weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"`+call+`","content":"12 degrees"}]`, id)
	if c := answer.Choices; len(c) != 1 || c[0].Message.Content != "It is cold." || c[0].Finish != "stop" {
		t.Errorf("%+v", answer)
	}
}

// running waits until there is a session whose loop has begun.
func (w *workspace) running() string {
	w.t.Helper()
	for late := time.Now().Add(patience); ; {
		var list []struct{ ID string }
		out, _ := w.roster("sessions", "list", "--json")
		if err := json.Unmarshal([]byte(out), &list); err == nil && len(list) > 0 {
			if out, _ = w.roster("sessions", "events", list[0].ID, "--json"); strings.Contains(out, `"type":"loop.start"`) {
				return list[0].ID
			}
		}
		if time.Now().After(late) {
			w.t.Fatalf("nothing runs: %s", out)
		}
	}
}
