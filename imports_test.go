package roster_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/rosterrun/roster"

// imports says who may import whom: for each package, all of ours that it may
// name in its sources (tests apart). What is not listed is not allowed. The
// order is the way through the house, from the leaves to the front doors.
var imports = map[string]string{
	"source":  "",
	"message": "",

	"permission":       "permission/shell source",
	"permission/shell": "",
	"hook":             "permission source",
	"hook/external":    "hook sandbox",
	"service":          "internal/address source",
	"spec":             "hook permission profile service source",

	"profile":         "permission source",
	"profile/schema":  "tool/contract",
	"profile/dialect": "hook permission profile profile/schema service source tool/contract",
	"catalog":         "internal/gitlog internal/ignore profile profile/dialect source",

	"command": "message permission profile profile/dialect source",

	"trust": "hook internal/keep permission profile service source",

	"model":                  "message",
	"model/quirk":            "",
	"model/catalog":          "model/quirk profile source spec",
	"model/internal/offline": "message model",
	"model/script":           "message model model/internal/offline source",
	"model/record":           "message model model/internal/offline",
	"model/demo":             "message model model/internal/offline",
	"model/anthropic":        "internal/wire message model",
	"model/gemini":           "internal/wire message model",
	"model/openaichat":       "internal/wire message model model/quirk",
	"model/openairesponses":  "internal/wire message model",

	"config":  "hook internal/address model/catalog model/quirk permission profile profile/dialect prompt service source spec trust",
	"prompt":  "profile source",
	"resolve": "config hook model/catalog permission profile profile/dialect prompt service source spec tool/contract trust",

	"session":               "message",
	"session/storetest":     "message session",
	"store/internal/admit":  "session",
	"store/internal/page":   "session",
	"store/internal/recent": "",
	"store/memory":          "session store/internal/admit",
	"store/sqlite":          "message session store/internal/admit store/internal/page store/internal/recent",
	"store/postgres":        "session store/internal/admit store/internal/page store/internal/recent",

	"sandbox":              "",
	"tool":                 "internal/ignore internal/schema internal/secret message model permission permission/shell sandbox session tool/contract tool/internal/expr tool/internal/pinned",
	"tool/contract":        "",
	"tool/web":             "internal/address internal/reach message model permission tool tool/contract",
	"tool/mcp":             "internal/secret message model permission sandbox tool",
	"tool/openapi":         "internal/address internal/reach internal/secret message model permission service source tool tool/web",
	"tool/browser":         "internal/reach message model permission sandbox session tool tool/contract tool/web",
	"tool/knowledge":       "model permission tool tool/contract",
	"tool/task":            "model permission tool",
	"tool/skill":           "model permission profile profile/dialect session source tool",
	"tool/internal/expr":   "",
	"tool/internal/pinned": "",
	"tool/history":         "internal/ignore session",

	"engine/habit": "message session spec",

	"engine":   "engine/habit hook internal/clock internal/schema message model permission sandbox session source spec tool",
	"dispatch": "session",

	"": "catalog command config dispatch engine hook hook/external host host/mcp internal/clock internal/grants internal/keep internal/keyfile internal/render internal/schema internal/secret internal/view internal/wire internal/worktree message model model/anthropic model/catalog model/demo model/gemini " +
		"model/openaichat model/openairesponses model/record model/script permission profile prompt resolve sandbox service session source spec store/postgres store/sqlite tool tool/contract tool/history tool/openapi tool/skill tool/task tool/web tool/mcp trust " +
		"tool/browser tool/knowledge",
	"host":     "dispatch internal/view message profile session trust",
	"host/mcp": "dispatch host internal/render internal/view message profile session",
	"cmd/roster": "catalog command config dispatch host internal/render internal/scaffold internal/view message model/catalog model/quirk " +
		"permission profile profile/dialect profile/schema resolve sandbox session source spec tool/openapi trust",

	"internal/address":       "",
	"internal/clock":         "",
	"internal/corpus":        "",
	"internal/peers":         "",
	"internal/pgtest":        "",
	"internal/gitlog":        "",
	"internal/ignore":        "",
	"internal/schema":        "",
	"internal/reach":         "internal/address",
	"internal/secret":        "",
	"internal/sse":           "",
	"internal/wire":          "internal/sse message model",
	"internal/wire/wiretest": "internal/wire message model",
	"internal/view":          "hook message model permission profile session source spec trust",
	"internal/grants":        "internal/keep permission",
	"internal/keep":          "",
	"internal/keyfile":       "internal/keep",
	"internal/render":        "internal/view message permission profile session source",
	"internal/scaffold":      "",
	"internal/worktree":      "sandbox",
}

// TestImportsGoOneWay holds the sources against the table. The front doors,
// cmd/roster and the tools that are only run by us may import the root package.
func TestImportsGoOneWay(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Name", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Name string
			Imports          []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := short(p.ImportPath)
		seen[name] = true
		allowed, known := imports[name]
		if !known {
			if p.Name != "main" {
				t.Errorf("package %s is not in the table: say what it may import", name)
			}
			continue
		}
		list := strings.Fields(allowed)
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) || i == module && name == "cmd/roster" {
				continue
			}
			if !slices.Contains(list, short(i)) {
				t.Errorf("%s imports %s, which the table does not allow", name, short(i))
			}
		}
	}
	for name := range imports {
		if !seen[name] {
			t.Errorf("the table has %q, which is no package", name)
		}
	}
}

func short(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// reach says which packages may use what goes beyond this process. All others
// can neither open a connection nor start a program, so looking at files cannot.
// tool knows the type of an image by net/http; wiretest is for tests.
var reach = map[string]string{
	"net/http": "cmd/roster hook/external host host/mcp internal/reach internal/wire internal/wire/wiretest model/anthropic model/gemini model/openaichat model/openairesponses tool tool/browser tool/mcp tool/openapi tool/web",
	"net":      "host internal/reach internal/wire internal/wire/wiretest tool/browser tool/mcp tool/web",
	"os/exec":  "sandbox internal/corpus internal/pgtest internal/wire/wiretest",
}

func TestWhoMayReachOut(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		name := short(names[0])
		for _, i := range names[1:] {
			if allowed, ok := reach[i]; ok && name != "" && !slices.Contains(strings.Fields(allowed), name) {
				t.Errorf("%s imports %s, which the table does not allow", name, i)
			}
		}
	}
}
