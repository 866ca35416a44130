package roster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// What is planted, and where a run may come upon it.
const (
	plantedEnv     = "env-planted-0123456789"     // $P_KEY, the key of provider p
	plantedName    = "name-planted-0123456789"    // $BUILD_TOKEN, whose name says it
	plantedCommand = "command-planted-0123456789" // a key-command prints it
	plantedFile    = "file-planted-0123456789"    // a kept key
	plantedHeader  = "header-planted-0123456789"  // ${TEAM_HEADER} in a header
	plantedSearch  = "search-planted-0123456789"  // $FIND_IT, the key of the search service
)

// everySecret is said by whatever may say something: a provider that refuses, a tool,
// a panic.
var everySecret = strings.Join([]string{plantedEnv, plantedName, plantedCommand, plantedFile, plantedHeader, plantedSearch}, " and ")

// lockedBuffer is what the program logs.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// panics is a model that fails in the worst way.
type panics struct{ name string }

func (m panics) Name() string { return m.name }
func (m panics) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(func(model.Chunk, error) bool) { panic(errors.New("state of the model: " + everySecret)) }
}

// TestPlantedSecrets plants secrets everywhere, has everything fail that can tell
// them, and looks for them in all that comes out: the log of events, what is stored,
// the answers over HTTP, the recording, what the program logs, and errors.
func TestPlantedSecrets(t *testing.T) {
	var quiet atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "planted") {
			t.Errorf("a model is told a secret: %s", body)
		}
		w.WriteHeader(http.StatusBadRequest)
		if quiet.Load() {
			return
		}
		fmt.Fprintf(w, `{"error":{"message":"no such deployment for %s with %v"}}`, everySecret, r.Header)
	}))
	defer server.Close()
	var searched, fetched atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search" {
			searched.Store(r.Header.Get("Authorization") == "Bearer "+plantedSearch)
			fmt.Fprintf(w, `{"results":[{"url":"https://a.example/","title":"%s"}]}`, everySecret)
			return
		}
		fetched.Store(r.Header.Get("Authorization") == "")
		fmt.Fprintf(w, "A page that says %s.", everySecret)
	}))
	defer elsewhere.Close()
	dir, home, state := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, home, "roster.yaml", fmt.Sprintf("search: {kind: searxng, url: '%s', key-env: FIND_IT}\nweb: {allow: [127.0.0.1]}\n", elsewhere.URL))
	recording := filepath.Join(t.TempDir(), "calls.ndjson")
	declare := func(name, keys string) string {
		return fmt.Sprintf("  %s: {api: openai-chat, base-url: '%s', %s}\n", name, server.URL, keys)
	}
	write(t, home, "models.yaml", "providers:\n"+
		declare("p", "key-env: P_KEY, headers: {X-Team: '${TEAM_HEADER}'}")+
		declare("c", "key-command: [echo, "+plantedCommand+"]")+
		declare("k", "key-env: K_KEY")+
		"  own: {api: script, base-url: none.yaml}\n  s: {api: script, base-url: "+filepath.Join(dir, "replies.yaml")+"}\n")
	write(t, dir, "replies.yaml", `replies:
- tools:
  - {name: read, input: {path: secrets.txt}}
  - {name: read, input: {path: nowhere}}
  - {name: websearch, input: {query: x}}
  - {name: webfetch, input: {url: '`+elsewhere.URL+`/page'}}
- text: Done.
`)
	write(t, dir, "secrets.txt", everySecret+"\n")
	write(t, dir, "AGENTS.md", "The secrets are "+everySecret+".\n")
	for name, m := range map[string]string{"env": "p/m", "command": "c/m", "file": "k/m", "panic": "own/m", "tools": "s/m"} {
		write(t, dir, "profiles/"+name+".md", "---\nname: "+name+"\ndescription: d\nmodel: "+m+"\nretry: {max: 0}\npermission: {'*': allow}\n---\nWork.\n")
	}
	vars := env{"ROSTER_HOME": home, "P_KEY": plantedEnv, "BUILD_TOKEN": plantedName, "TEAM_HEADER": plantedHeader, "FIND_IT": plantedSearch}
	t.Setenv("BUILD_TOKEN", plantedName)
	logged := &lockedBuffer{}
	app, _, err := roster.Open(dir, roster.Options{
		State: state, Getenv: vars.get, Trust: true, Record: recording, Claim: true,
		Models: map[string]model.Model{"own/m": panics{"own/m"}},
		Log:    slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	if _, _, _, err := app.SetKey("k", plantedFile); err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(app.Handler())
	defer api.Close()
	out := &bytes.Buffer{} // all that anybody is told
	fetch := func(method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, api.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		fmt.Fprintf(out, "%s %s: %v %s\n", method, path, resp.Header, answer)
	}
	defer http.DefaultClient.CloseIdleConnections()
	// A key of a provider that no run has asked yet is not known.
	quiet.Store(true)
	for _, m := range []string{"c/m", "k/m"} {
		_, err := app.TestModel(t.Context(), m)
		fmt.Fprintln(out, err)
	}
	quiet.Store(false)
	for _, profile := range []string{"command", "file", "env", "panic", "tools"} {
		sub, err := app.Submit(t.Context(), roster.Ask{
			Profile: profile, Parts: text("Is it " + plantedEnv + "?"), Headless: true, Shared: true,
			Flags: map[string]string{"description": "with " + plantedName}, Set: map[string]string{"title": plantedEnv},
		})
		if err != nil {
			fmt.Fprintln(out, err)
			t.Fatalf("%s: %v", profile, err)
		}
		end := wait(t, app, sub)
		fmt.Fprintf(out, "%+v %+v\n", end, end.Error)
		if (end.Reason == session.ReasonDone) != (profile == "tools") {
			t.Errorf("%s ended by %s: %+v", profile, end.Reason, end.Error)
		}
		fetch("POST", "/chat", `{"message":"`+plantedEnv+`","agentId":"`+profile+`","overrides":{"title":"`+plantedName+`"}}`)
		for _, rest := range []string{"", "/messages", "/events?until=idle", "/approvals"} {
			fetch("GET", "/sessions/"+sub.Key.Stream+rest, "")
		}
		if err := app.Cancel(t.Context(), sub.Key, "because of "+plantedEnv); err != nil {
			t.Error(err)
		}
		if err := app.Steer(t.Context(), sub.Key, text("also "+plantedName)); err != nil {
			t.Error(err)
		}
		_, err = app.TestModel(t.Context(), map[string]string{"env": "p/m", "command": "c/m", "file": "k/m", "panic": "p/m", "tools": "p/m"}[profile])
		fmt.Fprintln(out, err)
		fetch("GET", "/profiles/"+profile+"/prompt", "")
	}
	synced, err := app.SyncModels(t.Context())
	fmt.Fprintln(out, synced, err, app.Models().List(), app.Models().Keys(), app.Doctor(t.Context()), app.Config().Settings())
	fetch("GET", "/sessions", "")
	fetch("GET", "/profiles", "")
	if !searched.Load() || !fetched.Load() {
		t.Error("the search service was not asked with its key, or the page with one")
	}
	if err := app.Close(t.Context()); err != nil {
		t.Error(err)
	}

	look := func(where string, data []byte) {
		for i, line := range bytes.Split(data, []byte("\n")) {
			if at := bytes.Index(line, []byte("planted")); at >= 0 {
				t.Errorf("%s, line %d: …%s", where, i+1, line[max(0, at-100):min(len(line), at+60)])
			}
		}
	}
	look("what anybody is told", out.Bytes())
	look("what is logged", logged.Bytes())
	if !strings.Contains(out.String(), "state of the model") {
		t.Error("the panic of the model is not told at all")
	}
	for _, root := range []string{state, recording} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
				}
				look(path, data)
			}
			return nil
		})
	}
	if info, err := os.Stat(recording); err != nil || info.Size() == 0 {
		t.Errorf("nothing was recorded: %v", err)
	}
}
