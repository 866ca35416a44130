package dialect_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const anAgent = `# a reviewer
name = "reviewer"
description = "Reviews."
model = "gpt-5.4"
model_provider = "openai"
model_reasoning_effort = "medium"
sandbox_mode = "read-only"
nickname_candidates = ["Ada", "Bo"]
since = 2026-01-02
developer_instructions = """
Review like an owner.
\tBe brief."""

[mcp_servers.docs]
url = "https://example.com/mcp"
tool_timeout_sec = 20
http_headers = { X-Team = "core" }
`

func TestDecodeCodex(t *testing.T) {
	p, ds := decode(t, ".codex/agents/r.toml", anAgent)
	if profile.Refused(ds) {
		t.Fatal(ds)
	}
	extra := map[string]string{}
	for _, x := range p.Extra {
		extra[x.Key] = string(x.YAML)
	}
	got := map[string]string{
		"dialect": p.Dialect, "name": p.Name, "model": p.Model.V, "provider": p.Provider.V, "thinking": p.Thinking.V, "body": p.Body,
		"sandbox": extra["sandbox"], "nicknames": strings.Join(strings.Fields(extra["nickname-candidates"]), " "),
		"mcp": strings.Join(strings.Fields(extra["mcp-servers"]), " "), "since": extra["since"], "at": p.BodyAt.String(),
	}
	for key, want := range map[string]string{
		"dialect": "codex", "name": "reviewer", "model": "gpt-5.4", "provider": "openai", "thinking": "medium",
		"body": "Review like an owner.\n\tBe brief.", "sandbox": " read-only", "nicknames": "- Ada - Bo", "since": ` "2026-01-02"`,
		"mcp": "docs: url: https://example.com/mcp timeout: 20s headers: X-Team: core", "at": ".codex/agents/r.toml:10:26",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
	if codes := diagnosed(ds); codes != "P112:9:1 P113:8:1 P114:7:1" {
		t.Errorf("diagnostics %s", codes)
	}
}

func TestCodexRefused(t *testing.T) {
	tests := map[string]struct{ path, text, want string }{
		"not TOML":                    {".codex/agents/x.toml", "name = \"x\"\ndescription = oops\n", "P148:2:15"},
		"a YAML line":                 {".codex/agents/x.toml", "name: x\n", "P148:1:5"},
		"a key twice":                 {".codex/agents/x.toml", "name = \"x\"\nmodel = \"a\"\nmodel = \"b\"\n  model = \"c\"\ndeveloper_instructions = \"i\"", "P104:3:1 P104:4:3"},
		"a table twice":               {".codex/agents/x.toml", "[a]\nb = 1\n[a]\nb = 2\n", "P104:4:1"},
		"an empty table twice":        {".codex/agents/x.toml", "[a]\n[b]\n[a]\n", "P148:3:2"},
		"a value that is a table too": {".codex/agents/x.toml", "a = 1\n[a.b]\nc = 2\n", "P148:2:2"},
		"a day that does not exist":   {".codex/agents/x.toml", "a = 2026-02-31\n", "P148:1:13"},
		"no instructions":             {".codex/agents/x.toml", "name = \"x\"\ndescription = \"d\"\n", "P123:1:1"},
		"not UTF-8":                   {".codex/agents/x.toml", "name = \"é\"\nb = \"\xff\"\n", "P105:2:6"},
		"a bad name":                  {".codex/agents/x.toml", "name = \"../x\"\ndescription = \"d\"\ndeveloper_instructions = \"i\"\n", "P117:1:8"},
		"an unknown level":            {".codex/agents/x.toml", "model_reasoning_effort = \"hgih\"\ndescription = \"d\"\ndeveloper_instructions = \"i\"\n", "P111:1:26"},
		"nested too deep":             {".codex/agents/x.toml", "a = " + strings.Repeat("[", 200_000), "P107:1:105"},
		"a key too deep":              {".codex/agents/x.toml", strings.Repeat("a.", 200) + "b = 1", "P107:1:401"},
		"a header too deep":           {".codex/agents/x.toml", "[" + strings.Repeat("a.", 200) + "b]", "P107:1:2"},
		"too many values":             {".codex/agents/x.toml", "a = [" + strings.Repeat("1,", 200_000) + "]", "P106:1:200003"},
		"too many lines":              {".codex/agents/x.toml", strings.Repeat("\n", 200_000), "P106:100001:1"},
		"too large":                   {".codex/agents/x.toml", strings.Repeat("#", profile.MaxFile+1), "P106:1:1"},
		"broken, and known by a key":  {"x.toml", "name = \"x\"\ndeveloper_instructions = i\n", "P148:2:26"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.text)}
			d, ok := dialect.Detect(f)
			if !ok || d.Name != "codex" {
				t.Fatalf("read as %q", d.Name)
			}
			ps, ds := d.Decode(f)
			if !profile.Refused(ds) {
				t.Fatalf("loads: %+v", ps[0])
			}
			var errs []profile.Diagnostic
			for _, d := range ds {
				if d.Severity == profile.SeverityError {
					errs = append(errs, d)
				}
			}
			if got := diagnosed(errs); got != tt.want {
				t.Errorf("%s, want %s: %v", got, tt.want, ds)
			}
			if len(ps) != 1 || ps[0].Name == "" && name != "a bad name" {
				t.Errorf("no name is claimed: %v", ps)
			}
		})
	}
}

func TestCodexLevels(t *testing.T) {
	for level, want := range map[string]string{"none": "off", "minimal": "minimal", "high": "high", "xhigh": "high"} {
		text := strings.Replace(anAgent, `"medium"`, `"`+level+`"`, 1)
		p, _ := decode(t, ".codex/agents/r.toml", text)
		if p == nil || p.Thinking.V != want {
			t.Fatalf("%s is read as %+v", level, p)
		}
		d, _ := dialect.ByName("codex")
		parts, lost := d.Encode(p)
		if len(lost) > 0 || !strings.Contains(string(parts[0].Data), `model_reasoning_effort = "`+level+`"`) {
			t.Errorf("%s is written as\n%s%v", level, parts[0].Data, lost)
		}
	}
}

func TestRoundTripCodex(t *testing.T) {
	d, _ := dialect.ByName("codex")
	rapid.Check(t, func(t *rapid.T) {
		a := anyProfile(t)
		p := &profile.Profile{
			Name: a.Name, Dialect: "codex", Description: a.Description, Provider: a.Provider, Model: a.Model,
			Thinking: maybe(t, "effort", rapid.SampledFrom([]string{"off", "minimal", "low", "high"})),
			Body:     anyText.Filter(nonBlank).Draw(t, "instructions"),
		}
		if len(a.Extra) > 0 {
			p.Extra = []profile.Extra{
				{Key: "sandbox", YAML: []byte(" workspace-write"), Known: true},
				{Key: "mcp-servers", YAML: []byte("\n  docs:\n    url: https://example.com\n    timeout: 20s"), Known: true},
				{Key: "nickname-candidates", YAML: []byte("\n  - Ada\n  - B o"), Known: true},
				{Key: "my_key", YAML: []byte("\n  a: 1\n  b: |-\n    text\n    more\n  c:\n    - d: 1.5")},
			}
		}
		check(t, d, ".codex/agents/a.toml", p)
	})
}

// TestCodexCorpus reads every agent of this kind that people published.
func TestCodexCorpus(t *testing.T) {
	n := 0
	for file, data := range published(t, "codex-agent-toml") {
		f := &dialect.File{Name: file, Path: file, Data: data}
		d, ok := dialect.Detect(f)
		if !ok || d.Name != "codex" {
			t.Errorf("%s is read as %q", file, d.Name)
			continue
		}
		ps, ds := d.Decode(f)
		if profile.Refused(ds) || len(ps) != 1 || ps[0].Name != strings.TrimSuffix(path.Base(file), ".toml") {
			t.Errorf("%s: %v", file, ds)
			continue
		}
		if _, lost := d.Encode(ps[0]); len(lost) > 0 {
			t.Errorf("%s: %v", file, lost)
		}
		roundTrip(t, d, file, ps[0])
		n++
	}
	t.Logf("%d files", n)
	if n != 172 {
		t.Errorf("%d files load, not 172", n)
	}
}

func FuzzCodex(f *testing.F) {
	fuzz(f, "codex", ".codex/agents/a.toml", anAgent, "name = 'x'\ndeveloper_instructions='''\n'' \\'''\n[[a.b]]\nc = [1, 0x1F, inf, -nan, 1e5, {d = 07:32:00}]\n[[a.b]]\n\"e.f\" = true\n",
		"developer_instructions = \"a\\u0000\\r\"\n[mcp_servers.a]\nenv = {K = '${V}'}\ntool_timeout_sec = 1\n[skills]\nconfig = [{path = 'x', enabled = false}]")
}

// BenchmarkCodex decodes the published agents, from bytes to profile.
func BenchmarkCodex(b *testing.B) {
	files := published(b, "codex-agent-toml")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for p, data := range files {
			f := &dialect.File{Name: p, Path: p, Data: data}
			d, _ := dialect.Detect(f)
			d.Decode(f)
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "profiles/s")
}

// diagnosed lists codes and places, sorted.
func diagnosed(ds []profile.Diagnostic) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s:%d:%d", d.Code, d.Line, d.Column))
	}
	return strings.Join(sorted(out), " ")
}
