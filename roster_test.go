package roster_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

func text(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

// loopStart returns the start of a session's newest loop.
func loopStart(t *testing.T, app *roster.App, k session.Key) *session.LoopStart {
	t.Helper()
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var start *session.LoopStart
	for e, err := range store.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := e.Decode(); body != nil {
			if s, ok := body.(*session.LoopStart); ok {
				start = s
			}
		}
	}
	return start
}

// TestEveryFrontDoorBuildsTheSameAgent asks through the library and over HTTP,
// and compares the specs that were run.
func TestEveryFrontDoorBuildsTheSameAgent(t *testing.T) {
	app := openBench(t)
	library := turns(t, app, 1)[0]
	server := httptest.NewServer(app.Handler())
	defer server.Close()
	resp, err := http.Post(server.URL+"/chat", "application/json", strings.NewReader(`{"message":"Hello","agentId":"worker"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	var chat struct{ SessionID, Text string }
	if err := json.NewDecoder(resp.Body).Decode(&chat); err != nil {
		t.Fatal(err)
	}
	a, b := loopStart(t, app, library), loopStart(t, app, session.Key{Tenant: roster.LocalTenant, Stream: chat.SessionID})
	if a == nil || b == nil || a.Spec == "" || a.Spec != b.Spec || a.Prefix != b.Prefix {
		t.Errorf("the library ran %+v, HTTP %+v", a, b)
	}
}

// TestSubmitRefusesBeforeItStores proves that what cannot run leaves no session.
func TestSubmitRefusesBeforeItStores(t *testing.T) {
	app := openBench(t)
	write(t, app.Dir(), "profiles/keyless.md", "---\nname: keyless\ndescription: x\nmodel: anthropic/claude-sonnet-4-6\n---\nx\n")
	write(t, app.Dir(), "profiles/none.md", "---\nname: none\ndescription: x\n---\nx\n")
	for _, c := range []struct {
		name string
		ask  roster.Ask
		is   error
		code string
	}{
		{"profile", roster.Ask{Profile: "nobody"}, profile.ProfileNotFound, "ProfileNotFound"},
		{"no model", roster.Ask{Profile: "none"}, modelcatalog.ErrMissing, "MissingEffectiveModel"},
		{"model", roster.Ask{Profile: "worker", Set: map[string]string{"model": "anthropic/claude"}}, modelcatalog.ErrUnknownModel, "UnknownModel"},
		{"workspace", roster.Ask{Profile: "worker", Set: map[string]string{"workspace": "../.."}}, profile.SchemaValidation, "SchemaValidation"},
		{"prompt file", roster.Ask{Profile: "worker", Set: map[string]string{"system-prompt": "file:../x"}}, profile.MissingSystemPrompt, "MissingSystemPrompt"},
		{"key", roster.Ask{Profile: "keyless"}, modelcatalog.ErrMissingKey, "MissingKey"},
		{"session", roster.Ask{Key: session.Key{Stream: "nope"}}, session.ErrNoStream, "SessionNotFound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ask.Parts = text("hi")
			_, err := app.Submit(t.Context(), c.ask)
			if !errors.Is(err, c.is) || roster.Code(err) != c.code {
				t.Errorf("got %v (%s), want %v", err, roster.Code(err), c.is)
			}
		})
	}
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for s := range store.List(t.Context(), roster.LocalTenant, session.Query{}) {
		t.Errorf("session %s was stored", s.Key)
	}
}

// TestProfileThatBreaksFailsItsRun edits a profile between two prompts: the
// first edit counts for the next run, the second, which does not load, is said
// and nothing stale is run.
func TestProfileEditsCountAtOnce(t *testing.T) {
	app := openBench(t)
	k := turns(t, app, 1)[0]
	first := loopStart(t, app, k)
	write(t, app.Dir(), "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\n---\nWork harder.\n")
	s, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, s)
	if second := loopStart(t, app, k); second.Revision == first.Revision || second.Number != 2 {
		t.Errorf("the edit does not count: %+v then %+v", first, second)
	}
	for turn, said := range []string{"Work.", "Work harder."} { // the log says what each ran by
		if r, err := app.Request(t.Context(), k, k.Stream, turn+1, ""); err != nil || !strings.Contains(string(r.Body), said) {
			t.Errorf("turn %d was not asked to %q: %v", turn+1, said, err)
		}
	}
	write(t, app.Dir(), "profiles/worker.md", "---\nname: [\n---\n")
	if _, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true}); !errors.Is(err, profile.InvalidYAML) {
		t.Errorf("a broken profile: %v", err)
	}
}

func TestOpenStartsNothing(t *testing.T) {
	app := openBench(t)
	for p := range app.Catalog().List() {
		if _, _, err := app.Resolve(t.Context(), p.Name, session.Overrides{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := app.Catalog().Check(); err != nil {
		t.Fatal(err)
	}
	if names := listed(t, app.StateDir()); len(names) > 0 {
		t.Errorf("looking made %v", names)
	}
}

func TestIdempotentSubmit(t *testing.T) {
	app := openBench(t)
	ask := roster.Ask{Profile: "worker", Parts: text("hi"), Headless: true, Idem: "k1"}
	first, err := app.Submit(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, first)
	second, err := app.Submit(t.Context(), ask)
	if err != nil || !second.Duplicate || second.Key != first.Key || second.Post != first.Post {
		t.Errorf("%+v then %+v, %v", first, second, err)
	}
	ask.Parts = text("something else")
	if _, err := app.Submit(t.Context(), ask); roster.Code(err) != "IdempotencyConflict" {
		t.Errorf("another body: %v", err)
	}
}

// TestPromptOfAnyBytes proves that what is stored of a prompt is text: a title
// that is not would break every list that it stands in.
func TestPromptOfAnyBytes(t *testing.T) {
	app := openBench(t)
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("a\xff\xfeb"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := store.Summary(t.Context(), sub.Key)
	if want := "a\uFFFDb"; err != nil || sum.Title != want {
		t.Errorf("title %q, %v; want %q", sum.Title, err, want)
	}
}

// TestSteerBeginsALoopLikeTheLast gives an idle session a steering message: it
// is a prompt, with what the session's last prompt had set.
func TestSteerBeginsALoopLikeTheLast(t *testing.T) {
	app := openBench(t)
	write(t, app.Dir(), "profiles/none.md", "---\nname: none\ndescription: x\n---\nx\n")
	s, err := app.Submit(t.Context(), roster.Ask{
		Profile: "none", Parts: text("hi"), Shared: true, Headless: true, Set: map[string]string{"model": "bench/text"},
	})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, s)
	if err := app.Steer(t.Context(), s.Key, text("and now?")); err != nil {
		t.Fatal(err)
	}
	if err := app.Resume(t.Context(), s.Key); err != nil {
		t.Fatal(err)
	}
	for batch, err := range app.Follow(t.Context(), s.Key, s.Post) {
		if err != nil {
			t.Fatal(err)
		}
		e := batch[len(batch)-1]
		if body, _ := e.Decode(); e.Type == "loop.end" && loopStart(t, app, s.Key).Number == 2 {
			if end := body.(*session.LoopEnd); end.Reason != session.ReasonDone {
				t.Errorf("end: %+v", end.Error)
			}
			return
		}
	}
}

// TestScriptsOfRequestsAreInTheWorkspace lets only a user's own flags name a
// script elsewhere.
func TestScriptsOfRequestsAreInTheWorkspace(t *testing.T) {
	app := openBench(t)
	elsewhere := t.TempDir() + "/replies.yaml"
	write(t, filepath.Dir(elsewhere), "replies.yaml", "replies: [{text: hi}]\n")
	write(t, app.Dir(), "inside.yaml", "replies: [{text: hi}]\n")
	if err := os.Symlink(elsewhere, filepath.Join(app.Dir(), "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		over session.Overrides
		ok   bool
	}{
		{"request, inside", session.Overrides{Set: map[string]string{"model": "script:inside.yaml"}}, true},
		{"request, inside by its whole path", session.Overrides{Set: map[string]string{"model": "script:" + filepath.Join(app.Dir(), "inside.yaml")}}, true},
		{"request, elsewhere", session.Overrides{Set: map[string]string{"model": "script:" + elsewhere}}, false},
		{"request, by a link", session.Overrides{Set: map[string]string{"model": "script:link.yaml"}}, false},
		{"flag, elsewhere", session.Overrides{Flags: map[string]string{"model": "script:" + elsewhere}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := app.Resolve(t.Context(), "worker", c.over); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestInstructionsCountAtOnce edits, adds and removes the workspace's
// instructions between prompts of one session.
func TestInstructionsCountAtOnce(t *testing.T) {
	app := openBench(t)
	k := turns(t, app, 1)[0]
	changed := time.Now().Add(-time.Hour) // long enough ago for what was compiled to be kept
	spec := func() string {
		s, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, app, s)
		return loopStart(t, app, k).Spec
	}
	file := filepath.Join(app.Dir(), "AGENTS.md")
	seen := map[string]string{}
	for _, step := range []struct{ name, content string }{
		{"none", ""}, {"added", "Be brief."}, {"edited", "Be exact."}, {"again", "Be exact."}, {"removed", ""},
	} {
		os.Remove(file)
		if step.content != "" {
			write(t, app.Dir(), "AGENTS.md", step.content)
			if err := os.Chtimes(file, changed, changed); err != nil {
				t.Fatal(err)
			}
			changed = changed.Add(time.Minute)
		}
		got := spec()
		if again := spec(); again != got {
			t.Errorf("%s: %s, then %s without a change", step.name, got, again)
		}
		if was, ok := seen[step.content]; ok && was != got {
			t.Errorf("%s: another spec than with the same content before", step.name)
		}
		for content, was := range seen {
			if content != step.content && was == got {
				t.Errorf("%s: the spec is still that of %q", step.name, content)
			}
		}
		seen[step.content] = got
	}
}

// TestRecordingsHoldNoKey says a provider's key in a prompt that is recorded.
func TestRecordingsHoldNoKey(t *testing.T) {
	const key = "sk-planted-0123456789"
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "calls.jsonl")
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: x\nmodel: script:replies.yaml\n---\nx\n")
	write(t, dir, "replies.yaml", "replies: [{text: hi}]\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Record: file,
		Getenv: env{"ROSTER_HOME": t.TempDir(), "ANTHROPIC_API_KEY": key}.get,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("my key is " + key), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, s)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		t.Fatalf("nothing was recorded: %v", err)
	}
	if strings.Contains(string(data), key) || !strings.Contains(string(data), "[secret]") {
		t.Errorf("the recording holds the key, or not that there was one:\n%s", data)
	}
}
