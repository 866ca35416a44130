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

	"rig/graph": "rig rig/tieoff",
	"rig":       "internal/ignore profile profile/dialect resolve rig/event source",

	"identity":           "",
	"rig/ledger":         "",
	"rig/event":          "",
	"rig/runner":         "internal/gitlog message rig rig/commit rig/event rig/journal rig/ledger rig/strand rig/tieoff session",
	"rig/journal":        "rig/tieoff",
	"rig/bundle":         "profile rig",
	"rig/strand":         "internal/ignore",
	"rig/tieoff":         "message",
	"rig/commit":         "internal/git",
	"identity/key":       "identity",
	"identity/audit":     "",
	"identity/storetest": "identity identity/audit identity/key",

	"rig/ledger/ledgertest": "rig/ledger session session/storetest",

	"docs/reference": "",
	"ui":             "",

	"session":               "message",
	"session/storetest":     "message session",
	"store/internal/admit":  "session",
	"store/internal/jobs":   "rig/ledger",
	"store/internal/ledger": "session",
	"store/internal/page":   "session",
	"store/internal/recent": "",
	"store/memory":          "identity/audit identity/key rig/ledger session store/internal/admit store/internal/jobs store/internal/page",
	"store/sqlite":          "identity identity/audit identity/key message rig/ledger session store/internal/admit store/internal/jobs store/internal/ledger store/internal/page store/internal/recent",
	"store/postgres":        "identity identity/audit identity/key rig/ledger session store/internal/admit store/internal/jobs store/internal/ledger store/internal/page store/internal/recent",

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

	"telemetry": "message session",

	"engine/habit": "message session spec",

	"engine":   "engine/habit hook internal/clock internal/schema message model permission sandbox session source spec tool",
	"dispatch": "session",

	"capability/files":      "engine",
	"capability/browser":    "engine",
	"capability/knowledge":  "engine",
	"capability/skills":     "engine",
	"capability/delegation": "engine",

	"": "catalog command config dispatch engine hook hook/external host host/a2a host/acp host/auth host/limit host/mcp identity identity/audit identity/key internal/clock internal/grants internal/keep internal/keyfile internal/render internal/schema internal/secret internal/trail internal/view internal/wire internal/worktree message model model/anthropic model/catalog model/demo model/gemini " +
		"model/openaichat model/openairesponses model/record model/script permission profile prompt resolve sandbox service session source spec store/postgres store/sqlite telemetry tool tool/contract tool/history tool/openapi tool/skill tool/task tool/web tool/mcp trust " +
		"tool/browser tool/knowledge ui rig rig/bundle rig/commit rig/event rig/graph rig/ledger rig/runner rig/tieoff",
	"internal/apitest": "docs/reference",
	"internal/apidoc":  "host identity message permission",

	"host":        "dispatch docs/reference host/openai identity identity/audit identity/key internal/view message profile profile/schema rig/graph rig/ledger session trust",
	"host/auth":   "host identity identity/key",
	"host/limit":  "host identity message session",
	"host/openai": "message session",
	"client":      "internal/sse internal/view message profile session",
	"host/a2a":    "host identity internal/render internal/view message profile session",
	"host/acp":    "host internal/clock internal/jsonlines internal/render internal/view message profile session",
	"host/mcp":    "dispatch host identity internal/jsonlines internal/render internal/view message profile session",
	"cmd/roster": "catalog client command config dispatch host identity identity/audit identity/key internal/render internal/scaffold internal/view message model/catalog model/quirk " +
		"permission profile profile/dialect profile/schema resolve rig rig/bundle rig/graph rig/ledger rig/runner sandbox session source spec tool/openapi trust",

	"internal/address":       "",
	"internal/clock":         "",
	"internal/corpus":        "",
	"internal/peers":         "",
	"internal/pgtest":        "",
	"internal/gitlog":        "",
	"internal/ignore":        "",
	"internal/schema":        "",
	"internal/trail":         "",
	"internal/jsonlines":     "",
	"internal/reach":         "internal/address",
	"internal/secret":        "",
	"internal/sse":           "",
	"internal/wire":          "internal/sse message model",
	"internal/wire/wiretest": "internal/wire message model",
	"internal/view":          "hook identity/audit identity/key message model model/catalog model/quirk permission profile resolve rig rig/ledger rig/tieoff session source spec trust",
	"internal/grants":        "internal/keep permission",
	"internal/keep":          "",
	"internal/keyfile":       "internal/keep",
	"internal/render":        "internal/view message permission profile session source",
	"internal/scaffold":      "",
	"internal/seed":          "internal/clock internal/view message model model/script session",
	"internal/uitest":        "",
	"internal/git":           "sandbox",
	"internal/worktree":      "internal/git",
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
			if !strings.HasPrefix(i, module) || i == module && (name == "cmd/roster" || name == "internal/seed") {
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
// tool knows the type of an image by net/http; wiretest is for tests, and ui a handler.
var reach = map[string]string{
	"net/http": "internal/apitest examples/app client cmd/roster hook/external host host/auth host/limit host/a2a host/mcp host/openai internal/reach internal/wire internal/wire/wiretest model/anthropic model/gemini model/openaichat model/openairesponses telemetry tool tool/browser tool/mcp tool/openapi tool/web ui",
	"net":      "cmd/roster client host internal/reach internal/wire internal/wire/wiretest tool/browser tool/mcp tool/web",
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
