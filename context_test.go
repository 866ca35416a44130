package roster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// reader is a provider whose model m reads a file, piece by piece, and whose
// model cheap writes summaries.
type reader struct {
	mu    sync.Mutex
	sent  []string // to m
	cheap []string // to cheap
}

func (s *reader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct{ Model string }
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := `{"choices":[{"delta":{"content":"Read so far: nothing of note."},"finish_reason":"stop"}]}`
	if q.Model == "cheap" {
		s.cheap = append(s.cheap, string(body))
	} else if s.sent = append(s.sent, string(body)); len(s.sent) <= 20 {
		n := len(s.sent)
		answer = fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c%d","function":{"name":"read","arguments":"{\"path\":\"a.txt\",\"offset\":%d,\"limit\":60}"}}]},"finish_reason":"tool_calls"}]}`, n, n)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+answer+"\n\n")
}

// TestContext runs a session that does not fit its window through a workspace: a
// cheaper profile sums up, what a provider adds and a transform changes is sent,
// every request can be rebuilt from the log, and nothing that was said is gone.
func TestContext(t *testing.T) {
	s := &reader{}
	server := httptest.NewServer(s)
	defer server.Close()
	dir, home := t.TempDir(), t.TempDir()
	write(t, home, "roster.yaml", fmt.Sprintf("providers:\n  one: {api: openai-chat, base-url: %q}\n", server.URL))
	write(t, dir, "a.txt", strings.Repeat("a line of the file\n", 200))
	write(t, dir, "profiles/worker.md", `---
description: Works.
model: one/m
tools: [read]
limits: {turns: 60}
context: {window: 3000, reserve: 300, keep-first: 1, keep-recent: 2, summariser: sums, providers: [weather, unheard-of]}
---
Work.
`)
	write(t, dir, "profiles/sums.md", "---\ndescription: Sums up.\nmodel: one/cheap\n---\nYou sum up.\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": home}.get,
		ContextProviders: map[string]roster.ContextProvider{
			"weather": func(context.Context, roster.ContextMoment) (string, error) { return "It rains.", nil },
		},
		Transforms: []roster.Transform{func(_ context.Context, m roster.ContextMoment, r *model.Request) (*model.Request, error) {
			if m.Turn != 3 {
				return nil, nil
			}
			next := *r
			next.Tail += " And it is cold."
			return &next, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	_, ds, err := app.Resolve(t.Context(), "worker", session.Overrides{})
	if err != nil || len(ds) != 1 || ds[0].Code != profile.CodeNoProvider || ds[0].Line != 6 {
		t.Errorf("resolve: %v, %v", ds, err)
	}
	k := turns(t, app, 1)[0]
	if len(s.sent) != 21 || len(s.cheap) == 0 || !strings.Contains(s.cheap[0], "You sum up.") {
		t.Fatalf("m was asked %d times, cheap %d times", len(s.sent), len(s.cheap))
	}
	for i, sent := range s.sent {
		if len(sent)/4 > 4000 { // with the JSON around it
			t.Errorf("request %d has %d bytes", i+1, len(sent))
		}
		if !strings.Contains(sent, "It rains.") || strings.Contains(sent, "And it is cold.") != (i == 2) {
			t.Errorf("request %d: %s", i+1, sent)
		}
		r, err := app.Request(t.Context(), k, k.Stream, i+1, "")
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Body) != sent || r.Differs != "" {
			t.Errorf("turn %d is rebuilt as\n%s\nsent was\n%s\n%s", i+1, r.Body, sent, r.Differs)
		}
	}
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := view.ReadConversation(t.Context(), b, k, k.Stream, true)
	if err != nil {
		t.Fatal(err)
	}
	now, err := view.ReadConversation(t.Context(), b, k, k.Stream, false)
	if err != nil || len(now.Messages) >= 20 || len(whole.Messages) != 42 {
		t.Errorf("%d messages are sent, %d were said: %v", len(now.Messages), len(whole.Messages), err)
	}
}

func TestNoSummariser(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "profiles/a.md", "---\ndescription: x\nmodel: builtin/demo\ncontext:\n  summariser: nobody\n---\nx\n")
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = app.Resolve(t.Context(), "a", session.Overrides{})
	if err == nil || !errors.Is(err, profile.ProfileNotFound) || !strings.Contains(err.Error(), "profiles/a.md:5:") {
		t.Errorf("%v", err)
	}
}
