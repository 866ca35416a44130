package roster_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool"
)

// TestNamesOfToolsAreKnown: what the workspace's servers and services and the
// program's capabilities are called is no mistake where tools are listed.
func TestNamesOfToolsAreKnown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "openapi: {api: {spec: a.json}}\nmcp-servers: {notes: {command: x}}\n")
	write(t, dir, "profiles/p.md", "---\ndescription: d\nmodel: builtin/demo\ntools: [read, api, api_get, notes, notes_add, stock, stock_count, reed]\n---\nx\n")
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Trust: true, Capabilities: []roster.Capability{{
		Name: "stock", Summary: "look into the stock", Tools: []tool.Tool{thing("stock_count", `{"type":"object"}`)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	for name, paths := range map[string][]string{"the workspace": nil, "a path": {filepath.Join(dir, "profiles/p.md")}} {
		report, err := app.Catalog().Check(paths...)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, f := range report.Files {
			for _, d := range f.Diagnostics {
				if d.Code == profile.CodeUnknownTool {
					told = append(told, d.Message)
				}
			}
		}
		if len(told) != 1 || !strings.HasPrefix(told[0], `"reed" is`) {
			t.Errorf("%s: %q", name, told)
		}
	}
}
