package roster_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
)

// lines hands each line that is logged to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestLogSaysWhereAProfileBroke watches a workspace, breaks a profile and mends
// it again.
func TestLogSaysWhereAProfileBroke(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "profiles", "a.md")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := make(lines, 100)
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Log: slog.New(slog.NewTextHandler(log, nil)),
		Getenv: func(name string) string {
			return map[string]string{"HOME": dir, "ROSTER_HOME": filepath.Join(dir, "home")}[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	write("---\ndescription: d\nmode: some\n---\nprompt\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		app.LogProfiles(ctx)
	}()
	for _, step := range []struct{ change, want string }{
		{"", `level=ERROR msg="a profile does not load" at=profiles/a.md:3:7 code=P111`},
		{"---\ndescription: d\nmode: all\n---\nprompt\n", "level=INFO msg=mended at=profiles/a.md:3:7 code=P111"},
		{"---\ndescription: d\nunheard: x\n---\nprompt\n", `level=WARN msg="a profile has a flaw" at=profiles/a.md:3:1 code=P112`},
	} {
		if step.change != "" {
			write(step.change)
		}
		for {
			select {
			case line := <-log:
				if strings.Contains(line, step.want) {
					break
				}
				continue
			case <-ctx.Done():
				t.Fatalf("not logged: %s", step.want)
			}
			break
		}
	}
	cancel()
	<-ended
}
