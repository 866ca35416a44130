package roster_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/session"
)

// keyed is a provider that takes one key, which changes.
type keyed struct {
	*httptest.Server
	mu      sync.Mutex
	key     string
	refused int
}

func newKeyed(t *testing.T, key string) *keyed {
	p := &keyed{key: key}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		p.mu.Lock()
		ok := r.Header.Get("Authorization") == "Bearer "+p.key
		if !ok {
			p.refused++
		}
		p.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *keyed) change(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.refused = key, 0
}

const firstKey, secondKey = "sk-first-planted-0123", "sk-second-planted-0123"

// TestKeyIsReadAnew: when a provider refuses a key that it has taken before, the key
// is read anew once, wherever it is from, and the call made again; the event tells.
// Many sessions at once read it no more than once.
func TestKeyIsReadAnew(t *testing.T) {
	for _, c := range []struct {
		name, declare string
		set           func(t *testing.T, app *roster.App, dir string, vars env, key string)
	}{
		{"a variable", "key-env: P_KEY", func(t *testing.T, _ *roster.App, _ string, vars env, key string) { vars["P_KEY"] = key }},
		{"a key file", "key-env: P_KEY", func(t *testing.T, app *roster.App, _ string, _ env, key string) {
			if _, _, _, err := app.SetKey("p", key); err != nil {
				t.Fatal(err)
			}
		}},
		{"a command", "key-command: [sh, -c, 'echo ran >> DIR/ran; cat DIR/key']", func(t *testing.T, _ *roster.App, dir string, _ env, key string) {
			write(t, dir, "key", key+"\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir, home, secrets := newKeyed(t, firstKey), t.TempDir(), t.TempDir(), t.TempDir()
			vars := env{"ROSTER_HOME": home}
			write(t, home, "models.yaml", fmt.Sprintf("providers: {p: {api: openai-chat, base-url: '%s', %s}}\n", p.URL, strings.ReplaceAll(c.declare, "DIR", secrets)))
			write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: p/m\nretry: {max: 0}\n---\nWork.\n")
			app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Getenv: vars.get})
			if err != nil {
				t.Fatal(err)
			}
			defer app.Close(context.Background())
			c.set(t, app, secrets, vars, firstKey)
			keys := turns(t, app, 1)
			if n := retries(t, app, keys[0]); n != 0 || p.refused != 0 {
				t.Fatalf("%d retries, %d refused", n, p.refused)
			}
			p.change(secondKey)
			c.set(t, app, secrets, vars, secondKey)
			os.Remove(filepath.Join(secrets, "ran"))
			var subs []roster.Submitted
			for range 8 {
				s, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("Hello"), Headless: true})
				if err != nil {
					t.Fatal(err)
				}
				subs = append(subs, s)
			}
			for _, s := range subs {
				wait(t, app, s)
				if n := retries(t, app, s.Key); n > 1 {
					t.Errorf("%d retries", n)
				}
			}
			if ran, _ := os.ReadFile(filepath.Join(secrets, "ran")); strings.HasPrefix(c.declare, "key-command") && string(ran) != "ran\n" {
				t.Errorf("the command ran %d times", strings.Count(string(ran), "ran"))
			}
		})
	}
}

// retries counts the calls of a session that were made again.
func retries(t *testing.T, app *roster.App, k session.Key) (n int) {
	t.Helper()
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range store.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(e.Data), "planted") {
			t.Errorf("the log has a key: %s", e.Data)
		}
		body, _ := e.Decode()
		if r, ok := body.(*session.Retry); ok && r.Code == "model.auth" {
			n++
		}
		if end, ok := body.(*session.LoopEnd); ok && end.Reason != session.ReasonDone {
			t.Errorf("the loop ended by %+v", end.Error)
		}
	}
	return n
}

// TestScriptIsReadAnew: a script that is edited under a running server answers
// the next prompt as it is now.
func TestScriptIsReadAnew(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: script:replies.yaml\n---\nWork.\n")
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Getenv: env{"ROSTER_HOME": home}.get})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	for i, says := range []string{"one", "two", "three"} {
		write(t, dir, "replies.yaml", "replies:\n  - text: "+says+"\n")
		old := time.Now().Add(time.Duration(i-10) * time.Hour) // so old that what came of it is kept
		if err := os.Chtimes(filepath.Join(dir, "replies.yaml"), old, old); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			k, _ := submitted(t, app, "worker")
			if got := texts(fold(t, app, k).Root.Messages); !strings.HasSuffix(got, says) {
				t.Errorf("%s: %q", says, got)
			}
		}
	}
}
