package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// fixture is a workspace with the tools in it.
type fixture struct {
	t      *testing.T
	root   string
	tools  map[string]Tool
	permit *permission.Engine

	mu   sync.Mutex
	seen map[string]string // as the log of a session keeps it
}

func newFixture(t *testing.T, change ...func(*Env)) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Root: root, Exec: sandbox.Self(), Environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0")}
	for _, f := range change {
		f(&env)
	}
	tools, err := Builtins(env)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, root: root, tools: map[string]Tool{}, seen: map[string]string{}}
	for _, tool := range tools {
		f.tools[tool.Def().Name] = tool
	}
	f.rules(permission.Rule{Tool: "*", Subject: "*", Effect: permission.Allow},
		permission.Rule{Tool: permission.ExternalDirectory, Subject: "*", Effect: permission.Allow})
	return f
}

// settings are for the tools, as one JSON object.
func settingsOf(text string) func(*Env) {
	return func(e *Env) {
		if err := json.Unmarshal([]byte(text), &e.Settings); err != nil {
			panic(err)
		}
	}
}

func (f *fixture) rules(rules ...permission.Rule) {
	f.t.Helper()
	var err error
	if f.permit, err = permission.Compile(permission.Layers{Rules: rules}); err != nil {
		f.t.Fatal(err)
	}
}

// file writes a file; those written later are newer, whatever the clock says.
func (f *fixture) file(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fixture) age(name string, hours int) {
	f.t.Helper()
	when := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(-hours) * time.Hour)
	if err := os.Chtimes(filepath.Join(f.root, name), when, when); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) content(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

type object map[string]any

func (f *fixture) prepare(tool string, in object) (Plan, error) {
	f.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	v, err := NewValidator(f.tools[tool].Def())
	if err != nil {
		f.t.Fatal(err)
	}
	if err := v.Validate(input); err != nil {
		return nil, err
	}
	return f.tools[tool].Prepare(f.t.Context(), Call{ID: "c", Session: "s", Input: input, Permit: f.permit, Seen: f.saw})
}

func (f *fixture) run(tool string, in object) (Result, error) {
	f.t.Helper()
	plan, err := f.prepare(tool, in)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		if err := plan.Close(); err != nil {
			f.t.Errorf("close: %v", err)
		}
	}()
	r, err := plan.Run(f.t.Context(), nil)
	if s := r.Seen; s != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen[s.Path] = s.State
	}
	return r, err
}

func (f *fixture) saw(path string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state, ok := f.seen[path]
	return state, ok
}

func (f *fixture) ok(tool string, in object) string {
	f.t.Helper()
	r, err := f.run(tool, in)
	if err != nil || r.Error {
		f.t.Fatalf("%s %v: %v %v", tool, in, err, r)
	}
	return message.PartsText(r.Parts)
}

// fails expects an error that contains text.
func (f *fixture) fails(tool string, in object, text string) {
	f.t.Helper()
	r, err := f.run(tool, in)
	if err == nil || !strings.Contains(err.Error(), text) {
		f.t.Errorf("%s %v: error %v, result %v; want an error with %q", tool, in, err, r, text)
	}
}

func (f *fixture) same(got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func (f *fixture) has(got string, want ...string) {
	f.t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			f.t.Errorf("got:\n%s\nwhich has no %q", got, w)
		}
	}
}
