package roster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster"
)

// TestRequest: what is rebuilt from the log is, byte for byte, what the provider
// got: over tool calls, a model that fell back to another protocol, a second
// prompt, and another program that reads the same log.
func TestRequest(t *testing.T) {
	var mu sync.Mutex
	var got []string
	answers := map[string][]string{
		"/chat/completions": {
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]},"finish_reason":"tool_calls"}]}`,
			`503`,
		},
		"/v1/messages": {
			`{"type":"message","content":[{"type":"text","text":"It says hi."}],"stop_reason":"end_turn"}`,
			`{"type":"message","content":[{"type":"text","text":"Again."}],"stop_reason":"end_turn"}`,
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		answer := answers[r.URL.Path][0]
		answers[r.URL.Path] = answers[r.URL.Path][1:]
		if answer == "503" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got = append(got, string(body))
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(answer, `{"choices"`) {
			w.Header().Set("Content-Type", "text/event-stream")
			answer = "data: " + answer + "\n\n"
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	dir, home, state := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, home, "roster.yaml", fmt.Sprintf("providers:\n  one: {api: openai-chat, base-url: %q}\n  two: {api: anthropic, base-url: %q}\n", server.URL, server.URL))
	write(t, dir, "a.txt", "hi\n")
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: one/m\nfallbacks: [two/m]\ntools: [read]\ntemperature: 0.5\nretry: {max: 0}\n---\nWork.\n")
	open := func() *roster.App {
		app, _, err := roster.Open(dir, roster.Options{State: state, Getenv: env{"ROSTER_HOME": home}.get})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { app.Close(context.Background()) })
		return app
	}
	app := open()
	k := turns(t, app, 1)[0]
	sub, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	if len(got) != 3 {
		t.Fatalf("the provider was asked %d times", len(got))
	}
	for _, app := range []*roster.App{app, open()} {
		for i, sent := range got {
			r, err := app.Request(t.Context(), k, k.Stream, i+1, "")
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Body) != sent || r.Differs != "" || r.Turn != i+1 {
				t.Errorf("turn %d: %s, rebuilt\n%s, was sent\n%s", i+1, r.Differs, r.Body, sent)
			}
		}
		last, err := app.Request(t.Context(), k, k.Stream, 0, "")
		if err != nil || last.Turn != 3 || last.Model != "two/m" || !json.Valid(last.Body) {
			t.Errorf("the last request: %+v, %v", last, err)
		}
		if _, err := app.Request(t.Context(), k, k.Stream, 4, ""); err == nil || !strings.Contains(err.Error(), "has had 3 turns") {
			t.Errorf("a request that is none: %v", err)
		}
	}
}
