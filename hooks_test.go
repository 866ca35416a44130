package roster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

const allows = `; echo '{"decision": "allow"}'`

// commands makes hooks of one event of a line that allows.
func commands(line string) string { return fmt.Sprintf("[{command: %q}]", line+allows) }

func hooksOf(t *testing.T, app *roster.App, k session.Key) (list []*session.Hooked) {
	t.Helper()
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if body, err := e.Decode(); err != nil {
			t.Fatal(err)
		} else if h, ok := body.(*session.Hooked); ok {
			list = append(list, h)
		}
	}
	return list
}

func submitted(t *testing.T, app *roster.App, profile string) (session.Key, *session.LoopEnd) {
	t.Helper()
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: profile, Parts: text("Go"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	return sub.Key, wait(t, app, sub)
}

// TestHooksOfTheHost: those of a program and of roster.yaml are asked in every
// run and in every agent below it, after those of the profile; a profile's in
// its own.
func TestHooksOfTheHost(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	told := filepath.Join(dir, "told")
	says := func(who string) string { return commands("echo " + who + " >> " + told) }
	write(t, home, "roster.yaml", "hooks: {before-loop: "+says("user")+"}\n")
	write(t, dir, "roster.yaml", "hooks: {before-loop: "+says("workspace")+"}\ndefaults: {hooks: {before-loop: "+says("defaults")+"}}\n")
	write(t, dir, "profiles/boss.md", "---\ndescription: d\nmodel: script:boss.yaml\npermission: {task: allow}\nhooks: {before-loop: "+says("boss")+"}\n---\nx\n")
	write(t, dir, "profiles/helper.md", "---\ndescription: d\nmodel: script:helper.yaml\nhooks: {before-loop: "+says("helper")+"}\n---\nx\n")
	write(t, dir, "boss.yaml", "replies: [{tools: [{name: task, input: {profile: helper, prompt: Go, description: d}}]}, {text: Done.}]\n")
	write(t, dir, "helper.yaml", "replies: [{text: Helped.}]\n")
	program := func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
		f, err := os.OpenFile(told, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return hook.Verdict{}, err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, "program")
		return hook.Verdict{Decision: hook.Allow}, err
	}
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Trust: true, Getenv: env{"ROSTER_HOME": home}.get, Hooks: []roster.Hook{{On: hook.BeforeLoop, Ask: program}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	if _, end := submitted(t, app, "boss"); end.Reason != session.ReasonDone || end.Text != "Done." {
		t.Fatalf("%+v", end)
	}
	data, err := os.ReadFile(told)
	want := "defaults boss workspace user program defaults helper workspace user program"
	if got := strings.Join(strings.Fields(string(data)), " "); err != nil || got != want {
		t.Errorf("asked in the order\n%s, want\n%s", got, want)
	}
}

// TestHooksGetNoKeys: neither a command's environment nor what an address is
// told has the keys of providers, nor what a tool prints of them.
func TestHooksGetNoKeys(t *testing.T) {
	const secret = "sk-planted-0123456789"
	t.Setenv("OPENAI_API_KEY", secret)
	var mu sync.Mutex
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, b.String())
		fmt.Fprint(w, `{"decision": "rewrite", "text": "see `+secret+`", "reason": "`+secret+`"}`)
	}))
	defer s.Close()
	dir := t.TempDir()
	write(t, dir, "key", secret)
	write(t, dir, "profiles/a.md", "---\ndescription: d\nmodel: script:a.yaml\npermission: {read: allow}\nhooks:\n  before-turn: "+commands("env > env.txt")+
		"\n  after-tool: [{url: \""+s.URL+"\", match: rea?}]\n---\nx\n")
	write(t, dir, "a.yaml", "replies: [{tools: [{name: read, input: {path: key}}]}, {text: Done.}]\n")
	home := t.TempDir()
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Trust: true, Getenv: func(name string) string {
		if name == "ROSTER_HOME" {
			return home
		}
		return os.Getenv(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	k, end := submitted(t, app, "a")
	if end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	environ, err := os.ReadFile(filepath.Join(dir, "env.txt"))
	if err != nil || strings.Contains(string(environ), secret) || !strings.Contains(string(environ), "PATH=") {
		t.Errorf("%v, the environment of a command:\n%s", err, environ)
	}
	if len(bodies) != 1 || strings.Contains(bodies[0], secret) || !strings.Contains(bodies[0], `"event":"after-tool"`) {
		t.Errorf("an address is told %q", bodies)
	}
	list := hooksOf(t, app, k)
	if len(list) != 1 || list[0].Decision != "rewrite" || !strings.HasPrefix(list[0].By, "profiles/a.md:7") || strings.Contains(fmt.Sprint(*list[0]), secret) {
		t.Errorf("noted %+v", list)
	}
}

// TestRevokedHooksDeny: a run that waits goes on after its trust was revoked
// without what its hooks would be asked about, and nothing is started.
func TestRevokedHooksDeny(t *testing.T) {
	c := newCloned(t, map[string]string{
		"profiles/worker.md": "---\ndescription: d\nmodel: script:a.yaml\npermission: {read: ask}\nhooks: {after-tool: " + commands("touch ran") + "}\n---\nx\n",
		"a.yaml":             "replies: [{tools: [{name: read, input: {path: a.yaml}}]}, {text: Done.}]\n",
	})
	c.trust(t)
	store, state := memory.New(memory.Options{}), t.TempDir()
	app, _, err := roster.Open(c.dir, roster.Options{State: state, Backend: store, Getenv: env{"ROSTER_HOME": c.home}.get})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	k, approval, seq := askOnce(t, app)
	if err := os.Remove(filepath.Join(c.dir, "ran")); err == nil {
		t.Fatal("the hook was asked before the call")
	}
	if _, err := app.RevokeTrust(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, c.dir, "a.yaml", "replies: [{text: Done.}]\n") // what the model has said stands in the log
	answer(t, app, k, approval.ID, roster.Answer{Answer: session.AnswerOnce})
	if outcomes, waits := rests(t, app, k, seq); waits || len(outcomes) != 1 || outcomes[0] != session.OK {
		t.Fatalf("%v, waits %t", outcomes, waits)
	}
	list := hooksOf(t, app, k)
	if len(list) != 1 || list[0].Decision != "deny" || !list[0].Failed || !strings.Contains(list[0].Reason, "nobody has trusted") {
		t.Errorf("noted %+v", list)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "ran")); err == nil {
		t.Error("the hook was started")
	}
}

// TestHooksOfNow: a hook that the host has from today on is asked in a loop that
// began yesterday, and one that was the host's then too.
func TestHooksOfNow(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write(t, dir, "profiles/worker.md", "---\ndescription: d\nmodel: script:a.yaml\npermission: {read: ask}\n---\nx\n")
	write(t, dir, "a.yaml", "replies: [{tools: [{name: read, input: {path: a.yaml}}]}, {text: Done.}]\n")
	write(t, home, "roster.yaml", "hooks: {after-tool: "+commands("echo old >> told")+"}\n")
	store, state := memory.New(memory.Options{}), t.TempDir()
	open := func() *roster.App {
		app, _, err := roster.Open(dir, roster.Options{State: state, Backend: store, Trust: true, Getenv: env{"ROSTER_HOME": home}.get, Claim: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { app.Close(context.Background()) })
		return app
	}
	app := open()
	k, approval, seq := askOnce(t, app)
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, home, "roster.yaml", "hooks: {after-tool: "+commands("echo new >> told")+"}\n")
	app = open()
	write(t, dir, "a.yaml", "replies: [{text: Done.}]\n") // what the model has said stands in the log
	answer(t, app, k, approval.ID, roster.Answer{Answer: session.AnswerOnce})
	if outcomes, waits := rests(t, app, k, seq); waits || len(outcomes) != 1 {
		t.Fatalf("%v, waits %t", outcomes, waits)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "told")); err != nil || string(data) != "old\nnew\n" {
		t.Errorf("%q, %v", data, err)
	}
}
