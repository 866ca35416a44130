package roster_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
)

// TestFilesByName: what a client may complete in a prompt is what an agent could read.
func TestFilesByName(t *testing.T) {
	w := openWorld(t)
	dir := filepath.Join(w.dir, "main")
	for _, name := range []string{"src/host/routes.go", "src/host/hours.md", "src/hoist.go", "docs/host.md", "build/host.o", ".env", "deep/.git/host", "deep/a.txt"} {
		write(t, dir, name, "x\n")
	}
	write(t, dir, ".gitignore", "build/\n")
	write(t, w.dir, "outside-host.md", "x\n")
	if err := os.Symlink("../outside-host.md", filepath.Join(dir, "link-host.md")); err != nil {
		t.Fatal(err)
	}
	ask := func(query string) host.Files {
		t.Helper()
		a := w.send(caller{owner.tenant, identity.Viewer}, call{method: "get", path: "/files" + query})
		var found host.Files
		if err := json.Unmarshal([]byte(a.Body), &found); err != nil || a.Status != 200 {
			t.Fatalf("%s: %d %s", query, a.Status, a.Body)
		}
		return found
	}
	for part, want := range map[string][]string{
		"host":      {"docs/host.md", "src/hoist.go", "src/host/hours.md", "src/host/routes.go"},
		"HOST/rts":  {"src/host/routes.go"},
		"routes":    {"src/host/routes.go"},
		"build":     {},
		"env":       {},
		"../":       {},
		"\x00":      {},
		"nosuch":    {},
		"src/hoist": {"src/hoist.go"},
	} {
		got := ask("?q=" + url.QueryEscape(part))
		sorted := slices.Sorted(slices.Values(got.Files))
		if !slices.Equal(sorted, want) && (len(sorted) > 0 || len(want) > 0) || got.More {
			t.Errorf("%q: %+v, want %v", part, got, want)
		}
	}
	if got := ask("?q=host").Files; got[0] != "docs/host.md" || got[len(got)-1] != "src/hoist.go" {
		t.Errorf("the best does not come first: %v", got)
	}
	if got := ask("?q=host&limit=2"); len(got.Files) != 2 || !got.More {
		t.Errorf("at most two: %+v", got)
	}
	if got := strings.Join(ask("").Files, " "); !strings.Contains(got, "profiles/reviewer.md") || strings.Contains(got, ".git/") || strings.Contains(got, "a.env") {
		t.Errorf("all: %s", got)
	}
	for _, query := range []string{"?limit=0", "?limit=51", "?limit=x", "?q=" + strings.Repeat("x", 201)} {
		if a := w.send(owner, call{method: "get", path: "/files" + query}); a.Status != 400 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}
