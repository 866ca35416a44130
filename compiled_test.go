package roster

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rosterrun/roster/session"
)

// BenchmarkResolveWarm is what a prompt costs whose profile was resolved before:
// it is looked whether anything has changed that went into it.
func BenchmarkResolveWarm(b *testing.B) {
	dir, home := b.TempDir(), b.TempDir()
	for name, text := range map[string]string{
		"roster.yaml":   "defaults: {model: builtin/demo, temperature: 0.2}\n",
		"AGENTS.md":     "Use tabs.\n",
		"profiles/a.md": "---\ndescription: Reviews.\npermission: {bash: {'git diff*': allow}}\n---\nYou review.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		old := time.Now().Add(-time.Hour) // else a change could not be told from it
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	app, _, err := Open(dir, Options{State: b.TempDir(), Getenv: func(name string) string {
		return map[string]string{"ROSTER_HOME": home}[name]
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer app.Close(context.Background())
	time.Sleep(2100 * time.Millisecond) // from then on, stamps tell every change
	b.ReportAllocs()
	for b.Loop() {
		if _, err := app.compile(b.Context(), "a", session.Overrides{}, true); err != nil {
			b.Fatal(err)
		}
	}
}
