package roster_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/tool"
)

// TestGoInDocs: the Go that the docs show stands in files of tests and examples, where it
// is compiled and run.
func TestGoInDocs(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", "capability/*/*_test.go", "client/*_test.go", "examples/app/*.go"} {
		for _, file := range glob(t, pattern) {
			code.WriteString(plain(read(t, file)))
		}
	}
	blocks := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		for _, file := range glob(t, pattern) {
			_, rest, _ := strings.Cut(read(t, file), "\n```go\n")
			for rest != "" {
				block, after, whole := strings.Cut(rest, "\n```\n")
				if blocks++; !whole || !strings.Contains(code.String(), plain(block)) {
					t.Errorf("%s: nothing compiles\n%s", file, block)
				}
				_, rest, _ = strings.Cut(after, "\n```go\n")
			}
		}
	}
	if blocks < 5 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// plain is a text without the blanks at the beginnings of its lines.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSnippets are those of the docs that are of no example.
func TestSnippets(t *testing.T) {
	dir := t.TempDir()
	count := thing("stock_count", `{"type":"object"}`)
	connect := func(context.Context, string) (io.Closer, error) { return &stock{}, nil }
	today := func(context.Context, string) (string, error) { return "", nil }
	for name, snippet := range map[string]func() (*roster.App, error){
		"hooks": func() (*roster.App, error) {
			app, _, err := roster.Open(dir, roster.Options{Hooks: []roster.Hook{{
				On: hook.BeforeTool, Match: "bash", Name: "our guard",
				Ask: func(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
					if strings.Contains(string(m.Input), "rm ") {
						return hook.Verdict{Decision: hook.Deny, Reason: "nothing is removed here"}, nil
					}
					return hook.Verdict{Decision: hook.Allow}, nil
				},
			}}})
			return app, err
		},
		"context providers": func() (*roster.App, error) {
			app, _, err := roster.Open(dir, roster.Options{
				ContextProviders: map[string]roster.ContextProvider{
					"calendar": func(ctx context.Context, m roster.ContextMoment) (string, error) { return today(ctx, m.User) },
				},
			})
			return app, err
		},
		"capabilities": func() (*roster.App, error) {
			app, _, err := roster.Open(dir, roster.Options{Capabilities: []roster.Capability{{
				Name: "stock", Summary: "look into the stock",
				Tools:    []tool.Tool{count},
				Fragment: "The stock is counted every morning.",
				Open:     func(ctx context.Context, s roster.Scope) (io.Closer, error) { return connect(ctx, s.Key.Tenant) },
			}}})
			return app, err
		},
	} {
		app, err := snippet()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := app.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
