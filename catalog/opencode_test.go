package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// TestOpencodeConfig finds the agents in OpenCode's configuration, follows what
// becomes of it, and never writes it.
func TestOpencodeConfig(t *testing.T) {
	dir := t.TempDir()
	const one = `{"mcp": {}, "agent": {"helper": {"description": "d", "prompt": "p"}}}`
	put(t, dir, ".opencode/agent/build.md", text("mode: all\n"))
	c := writable(dir, "", "")
	if got := names(c); got != "build" {
		t.Fatalf("got %s", got)
	}
	put(t, dir, "opencode.json", `{"agent": {"build": {"prompt": "p"}, "plan": {"prompt": "p", "permission": {"edit": "deny"}}}}`)
	if got := names(c); got != "build plan" {
		t.Errorf("got %s", got)
	}
	if p, err := c.Get("build"); err != nil || p.File != ".opencode/agent/build.md" {
		t.Errorf("%+v %v", p, err)
	}
	put(t, dir, "opencode.json", `{"agent": {"plan": {"mode": "x"}}}`)
	if _, err := c.Get("plan"); !errors.Is(err, profile.SchemaValidation) {
		t.Errorf("got %v", err)
	}
	put(t, dir, "opencode.json", one)
	p, err := c.Get("helper")
	if err != nil || p.Dialect != "opencode" || p.NameAt.String() != "opencode.json:1:23" {
		t.Fatalf("%+v %v", p, err)
	}
	changed := *p
	changed.Body = "other"
	_, saved := c.Save(t.Context(), &changed, catalog.SaveOptions{})
	for name, err := range map[string]error{"save": saved, "delete": c.Delete(t.Context(), "helper", "")} {
		if !errors.Is(err, profile.ReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "opencode.json")); err != nil || string(data) != one {
		t.Errorf("%s %v", data, err)
	}
	if err := os.Remove(filepath.Join(dir, "opencode.json")); err != nil {
		t.Fatal(err)
	}
	if got := names(c); got != "build" {
		t.Errorf("got %s", got)
	}
}
