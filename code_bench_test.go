package roster

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/session"
	stored "github.com/rosterrun/roster/store/memory"
)

// openKinds opens a workspace with the same profile in a file, in code, and in code with
// a prompt and an agent for each request.
func openKinds(tb testing.TB) *App {
	const text = "You review."
	prompt := func(context.Context, ProfileContext) (string, error) { return text, nil }
	create := func(context.Context, ProfileContext) (*Agent, error) { return DefineAgent(AgentDef{System: text}), nil }
	define := func(id string, s Static, create func(context.Context, ProfileContext) (*Agent, error)) *Profile {
		return DefineProfile(Definition{
			ID: id, Name: "Reviewer", Description: "Reviews.", Agent: s, Create: create,
			Keys: map[string]string{"permission": "{bash: {'git diff*': allow}}"},
		})
	}
	dir, home := tb.TempDir(), tb.TempDir()
	for name, text := range map[string]string{
		"roster.yaml":      "defaults: {model: builtin/demo, temperature: 0.2}\n",
		"profiles/file.md": "---\ntitle: Reviewer\ndescription: Reviews.\npermission: {bash: {'git diff*': allow}}\n---\nYou review.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		old := time.Now().Add(-time.Hour) // else a change could not be told from it
		if err := os.Chtimes(path, old, old); err != nil {
			tb.Fatal(err)
		}
	}
	app, _, err := Open(dir, Options{
		State: tb.TempDir(), Trust: true, Backend: stored.New(stored.Options{}),
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": home}[name] },
		ResolveProfile: StaticResolver(
			define("static", Static{System: text}, nil), define("prompted", Static{Prompt: prompt}, nil), define("created", Static{}, create),
		),
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// compiledFor compiles a profile for a new request.
func compiledFor(tb testing.TB, a *App, name string) *engine.Blueprint {
	c := clock.From(tb.Context())
	k := session.Key{Tenant: LocalTenant, Stream: c.ID()}
	b, err := a.compileIn(tb.Context(), compiling{name: name, of: request{key: k, session: k.Stream, chain: c.ID()}, headless: true})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestStaticIsCompiledOnce: as a file that does not change. So is what a function makes
// that makes the same.
func TestStaticIsCompiledOnce(t *testing.T) {
	app := openKinds(t)
	for _, name := range []string{"file", "static", "prompted", "created"} {
		if a, b := compiledFor(t, app, name), compiledFor(t, app, name); a != b {
			t.Errorf("%s is compiled twice", name)
		}
	}
}

// BenchmarkCompile is what a prompt costs, by how its profile is defined, before
// anything is stored or run.
func BenchmarkCompile(b *testing.B) {
	app := openKinds(b)
	for _, name := range []string{"file", "static", "prompted", "created"} {
		compiledFor(b, app, name)
	}
	time.Sleep(2100 * time.Millisecond) // from then on, stamps tell every change
	for _, name := range []string{"file", "static", "prompted", "created"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compiledFor(b, app, name)
			}
		})
	}
}
