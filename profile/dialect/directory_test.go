package dialect_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// inFolder is the main file of a directory profile with the files beside it.
func inFolder(dir string, files map[string]string) *dialect.File {
	f := &dialect.File{Name: dir + "/config.json", Path: dir + "/config.json", Data: []byte(files["config.json"]), Beside: map[string][]byte{}}
	for name, text := range files {
		if name != "config.json" {
			f.Beside[name] = []byte(text)
		}
	}
	return f
}

// fromParts makes of the parts of a written profile what the catalog would find.
func fromParts(parts []dialect.Part) *dialect.File {
	dir := path.Dir(parts[0].Path)
	f := &dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data, Beside: map[string][]byte{}}
	for _, p := range parts[1:] {
		rel, err := filepath.Rel(dir, p.Path)
		if err != nil {
			panic(err)
		}
		f.Beside[filepath.ToSlash(rel)] = p.Data
	}
	return f
}

func decodeFolder(t *testing.T, f *dialect.File) (*profile.Profile, []profile.Diagnostic) {
	t.Helper()
	d, ok := dialect.Detect(f)
	if !ok || d.Name != "directory" {
		t.Fatalf("it is found to be %q", d.Name)
	}
	ps, ds := d.Decode(f)
	if len(ps) != 1 {
		t.Fatalf("%d profiles", len(ps))
	}
	return ps[0], ds
}

func lines(ds []profile.Diagnostic, least profile.Severity) string {
	var out []string
	for i := range ds {
		if ds[i].Severity == profile.SeverityError || least != profile.SeverityError && ds[i].Severity == profile.SeverityWarning {
			out = append(out, ds[i].Error())
		}
	}
	return strings.Join(out, "\n")
}

func TestDirectoryReadsEveryField(t *testing.T) {
	p, ds := decodeFolder(t, inFolder("navi/profiles/ops", map[string]string{
		"config.json": `{
  "id": "ops",
  "name": "Server Administrator",
  "description": "Keeps servers well.",
  "short_description": "Servers.",
  "full_description": {"specialization": "Linux", "when_to_use": "When it is down", "key_tools": ["terminal"]},
  "llm_backend": "openai",
  "model": "m/1",
  "temperature": 0.2,
  "max_iterations": 30,
  "planning_enabled": true,
  "goal_anchoring_interval": 3,
  "anti_stall_enabled": false,
  "think_enabled": false,
  "planning_mandatory": true,
  "planning_phase2_enabled": false,
  "subagent_tools": ["todo", "filesystem"],
  "subagent_planning_enabled": true,
  "enabled_tools": ["terminal", "web_search", "deploy"],
  "context_providers": ["clock"]
}`,
		"system_prompt.txt":          "You run servers.\r\nCarefully.\r\n",
		"subagent_system_prompt.txt": "You help.\n",
		"../persona.txt":             "Be kind.\n",
		"../../tools/enabled.json":   `{"uptime": true, "off": false}`,
		"../../tools/uptime.yaml":    "description: How long\ninput_schema: {type: object}\ncommand: uptime\n",
	}))
	if bad := lines(ds, profile.SeverityWarning); bad != `navi/profiles/ops/config.json:19:47: warning [P116]: "deploy" is not a built-in tool; it is kept` {
		t.Errorf("diagnostics: %s", bad)
	}
	got := map[string]any{
		"name": p.Name, "title": p.Title.V, "description": p.Description.V, "summary": p.Summary.V, "details": p.Details.V,
		"model": p.Provider.V + " " + p.Model.V, "temperature": p.Temperature.V, "turns": p.Limits.Turns.V, "prompt": p.Body,
		"persona": p.Persona.V, "tools": p.Tools.V.Names, "subagents.tools": p.SubagentTools.V,
	}
	want := map[string]any{
		"name": "ops", "title": "Server Administrator", "description": "Keeps servers well.", "summary": "Servers.",
		"details": profile.Details{Specialization: "Linux", WhenToUse: "When it is down", KeyTools: []string{"terminal"}},
		"model":   "openai m/1", "temperature": 0.2, "turns": 30, "prompt": "You run servers.\nCarefully.\n", "persona": "Be kind.\n",
		"tools":           []string{"bash", "websearch", "deploy", "uptime", "todo", "scratchpad", "memory", "skill", "ask_user", "switch_profile", "task"},
		"subagents.tools": []string{"todo", "read", "write", "edit", "glob", "grep"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var rules []string
	for _, r := range p.Permission {
		rules = append(rules, r.Tool+" "+r.Effect.String()+" "+r.At.String())
	}
	at := "navi/profiles/ops/config.json:19:"
	if diff := cmp.Diff([]string{"bash allow " + at + "21", "websearch allow " + at + "33", "deploy allow " + at + "47", "uptime allow navi/tools/enabled.json:1:2"}, rules); diff != "" {
		t.Errorf("rules: %s", diff)
	}
	extra := map[string]string{}
	for _, x := range p.Extra {
		extra[x.Key] = string(x.YAML)
	}
	wantExtra := map[string]string{
		"habits": "\n  planning: true\n  planning-reflect: false\n  iteration-budget: true\n  goal-anchoring:\n    interval: 3\n  anti-stall: false\n" +
			"  step-validation: false\n  adaptive-replan: false\n  think: false",
		"planning": "\n  enabled: true\n  mandatory: true\n  review: false", "subagents.planning": " true", "subagents.prompt": " |\n  You help.",
		"context_providers": ` ["clock"]`,
		"user-tools":        "\n  uptime:\n    description: How long\n    input-schema: {type: object}\n    command: uptime",
	}
	if diff := cmp.Diff(wantExtra, extra); diff != "" {
		t.Errorf("extra: %s", diff)
	}
}

func TestDirectoryDefaults(t *testing.T) {
	p, ds := decodeFolder(t, inFolder("profiles/a", map[string]string{
		"config.json": `{"id": "a", "name": "A", "description": "d", "enabled_tools": []}`, "system_prompt.txt": "x",
	}))
	if bad := lines(ds, profile.SeverityWarning); bad != "" {
		t.Error(bad)
	}
	if p.Provider.V != "ollama" || p.Model.V != "gemma4:31b-cloud" || p.Temperature.V != 0.7 || p.Limits.Turns.V != 10 || p.SubagentTools.V == nil {
		t.Errorf("%v %v %v %v %v", p.Provider, p.Model, p.Temperature, p.Limits.Turns, p.SubagentTools)
	}
	if at := p.Temperature.At; at != (source.Origin{Layer: source.Profile, File: "profiles/a/config.json"}) {
		t.Errorf("a default is from %+v", at)
	}
	if p.Persona.Set || p.Summary.Set || p.Details.Set || len(p.Permission) > 0 {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(string(p.Extra[0].YAML), "goal-anchoring:\n    interval: 5\n  anti-stall:\n    threshold: 8\n") {
		t.Errorf("habits: %s", p.Extra[0].YAML)
	}
}

func TestDirectoryReports(t *testing.T) {
	with := func(extra string) string { return "{\n\"id\": \"a\", \"description\": \"d\"" + extra + "\n}" }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // of warnings and errors, the first line's beginning
		code  string
	}{
		{"another folder", map[string]string{"config.json": `{"id": "b", "description": "d"}`}, `profiles/a/config.json:1:8: error [P155]: the folder is "a" and the id is "b"`, "P155"},
		{"a path as id", map[string]string{"config.json": `{"id": "../b", "description": "d"}`}, "profiles/a/config.json:1:8", "P117"},
		{"broken JSON", map[string]string{"config.json": "{\n\"id\": \"a\",\n}"}, "profiles/a/config.json:3:1", "P103"},
		{"a list", map[string]string{"config.json": "[]"}, "profiles/a/config.json:1:1", "P109"},
		{"a wrong type", map[string]string{"config.json": with(",\n \"temperature\": \"warm\"")}, "profiles/a/config.json:3:17", "P110"},
		{"a wrong habit", map[string]string{"config.json": with(",\n \"think_enabled\": 3")}, "profiles/a/config.json:3:19", "P110"},
		{"out of range", map[string]string{"config.json": with(",\n \"max_iterations\": 0")}, "profiles/a/config.json:3:20", "P111"},
		{"blank backend", map[string]string{"config.json": with(",\n \"llm_backend\": \" \"")}, "profiles/a/config.json:3:2", "P121"},
		{"twice", map[string]string{"config.json": with(",\n \"id\": \"a\"")}, "profiles/a/config.json:3:2", "P104"},
		{"an unknown key", map[string]string{"config.json": with(",\n \"temprature\": 1")}, "profiles/a/config.json:3:2", "P112"},
		{"no tools of that type", map[string]string{"config.json": with(",\n \"enabled_tools\": [3, [1]]")}, "profiles/a/config.json:3:23", "P110"},
		{"a prompt that is no text", map[string]string{"system_prompt.txt": "a\n\xff"}, "profiles/a/system_prompt.txt:2:1", "P105"},
		{"a persona that is no text", map[string]string{"../persona.txt": "\xff"}, "profiles/persona.txt:1:1", "P105"},
		{"a broken enabled.json", map[string]string{"../../tools/enabled.json": "[\"a\",\n]"}, "tools/enabled.json:2:1", "P103"},
		{"another enabled.json", map[string]string{"../../tools/enabled.json": "3"}, "tools/enabled.json:1:1", "P110"},
		{"a wrong switch", map[string]string{"../tools/enabled.json": "{\n\"read\": 1}"}, "profiles/tools/enabled.json:2:9", "P110"},
		{"a tool without a command", map[string]string{"tools/enabled.json": `["x"]`, "tools/x.yaml": "description: d"}, "profiles/a/tools/x.yaml:1:1", "P156"},
		{"a broken tool", map[string]string{"tools/enabled.json": `["x"]`, "tools/x.yaml": "a: b: c"}, "profiles/a/tools/x.yaml:1:5", "P156"},
		{"a tool that is not there", map[string]string{"tools/enabled.json": `["x"]`}, "profiles/a/tools/enabled.json:1:2", "P116"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"config.json": with(""), "system_prompt.txt": "x"}
			for k, v := range c.files {
				files[k] = v
			}
			p, ds := decodeFolder(t, inFolder("profiles/a", files))
			if p.Name == "" || !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool { return d.Code == c.code }) || !strings.HasPrefix(lines(ds, profile.SeverityWarning), c.want) {
				t.Errorf("%s claims %q, want %s at %s", lines(ds, profile.SeverityWarning), p.Name, c.code, c.want)
			}
		})
	}
}

func TestDirectoryWithoutPrompt(t *testing.T) {
	p, ds := decodeFolder(t, inFolder("profiles/a", map[string]string{"config.json": `{"id": "a", "enabled_tools": []}`}))
	if got := lines(ds, profile.SeverityError); p.Name != "a" || !strings.HasPrefix(got, "profiles/a/system_prompt.txt:1:1: error [P123]") {
		t.Error(got)
	}
}

// TestDirectoryNearestTools: of several tools folders the nearest counts.
func TestDirectoryNearestTools(t *testing.T) {
	p, _ := decodeFolder(t, inFolder("profiles/a", map[string]string{
		"config.json": `{"id": "a", "description": "d", "enabled_tools": []}`, "system_prompt.txt": "x",
		"../../tools/enabled.json": `["bash"]`, "../tools/enabled.json": `["read"]`,
	}))
	if p.Tools.V.Names[0] != "read" || slices.Contains(p.Tools.V.Names, "bash") {
		t.Errorf("%v", p.Tools.V.Names)
	}
}

// TestDirectoryToolNamesAreNoPaths: a name never leads to a file that is not a
// tool's.
func TestDirectoryToolNamesAreNoPaths(t *testing.T) {
	p, _ := decodeFolder(t, inFolder("profiles/a", map[string]string{
		"config.json": `{"id": "a", "description": "d", "enabled_tools": ["../x"]}`, "system_prompt.txt": "x",
		"tools/../x.yaml": "description: d\ncommand: c",
	}))
	for _, x := range p.Extra {
		if x.Key == "user-tools" {
			t.Errorf("%s", x.YAML)
		}
	}
}

func TestRoundTripDirectory(t *testing.T) {
	d, _ := dialect.ByName("directory")
	rapid.Check(t, func(t *rapid.T) {
		a := anyProfile(t)
		a.Details.V.AddKeyTools = false
		text := rapid.Map(anyText, func(s string) string { return strings.ReplaceAll(s, "\r", "") })
		p := &profile.Profile{
			Name: strings.ReplaceAll(a.Name, "/", "_"), Body: a.Body, Dialect: "directory", Title: a.Title, Description: a.Description,
			Summary: a.Summary, Details: a.Details,
			Provider:      profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, "provider"), Set: true},
			Model:         profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, "model"), Set: true},
			Temperature:   profile.Value[float64]{V: rapid.Float64Range(0, 2).Draw(t, "temperature"), Set: true},
			Limits:        profile.Limits{Turns: profile.Value[int]{V: rapid.IntRange(1, 1e6).Draw(t, "turns"), Set: true}},
			Persona:       maybe(t, "persona", text.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })),
			SubagentTools: profile.Value[[]string]{V: rapid.SampledFrom([][]string{{}, {"read", "x"}, {"*"}}).Draw(t, "subagents"), Set: true},
		}
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read", "bash", "my-tool", "x_y", "task"}), 0, 4, rapid.ID).Draw(t, "tools") {
			p.Tools.V.Names = append(p.Tools.V.Names, n)
			p.Permission = append(p.Permission, permission.Rule{Tool: n, Subject: "*", Effect: permission.Allow})
		}
		p.Tools.Set = true
		for _, n := range []string{"todo", "scratchpad", "memory", "skill", "ask_user", "switch_profile", "task"} {
			if !slices.Contains(p.Tools.V.Names, n) {
				p.Tools.V.Names = append(p.Tools.V.Names, n)
			}
		}
		on := func(label string) string { return rapid.SampledFrom([]string{"true", "false"}).Draw(t, label) }
		planning := on("planning")
		p.Extra = []profile.Extra{
			{Key: "habits", Known: true, YAML: []byte("\n  planning: " + planning + "\n  planning-reflect: false\n  iteration-budget: " + on("b") +
				"\n  goal-anchoring:\n    interval: 7\n  anti-stall:\n    enabled: false\n    threshold: 3\n  step-validation: false\n  adaptive-replan: false\n  think: " + on("t"))},
			{Key: "subagents.planning", Known: true, YAML: []byte(" " + on("s"))},
		}
		if rapid.Bool().Draw(t, "more") {
			p.Extra = append(p.Extra, profile.Extra{Key: "planning", Known: true, YAML: []byte("\n  enabled: " + planning + "\n  mandatory: true\n  plan: " + on("plan"))},
				profile.Extra{Key: "mine", YAML: []byte(` {"a": [1, 2.50, null], "b": "x: y"}`)},
				profile.Extra{Key: "subagents.prompt", Known: true, YAML: []byte(" |-\n  Help.\n\n  Well.")})
		}
		parts, lost := d.Encode(p)
		if len(lost) > 0 {
			t.Fatalf("lost %v", lost)
		}
		ps, ds := d.Decode(fromParts(parts))
		if profile.Refused(ds) {
			t.Fatalf("refused %v\n%s", ds, parts[0].Data)
		}
		if diff := same(p, ps[0]); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, parts[0].Data)
		}
	})
}

// TestDirectorySaysItsDefaults: a profile of another dialect gets defaults that
// it did not have, and is told.
func TestDirectorySaysItsDefaults(t *testing.T) {
	d, _ := dialect.ByName("directory")
	p, _ := dialect.Decode("profiles/team/a.md", []byte("---\ndescription: d\nmodel: openai/gpt-5\ntools: [read]\nsystem-prompt: Hi.\n---\nAbout it.\n"))
	parts, lost := d.Encode(p)
	var got []string
	for _, l := range lost {
		got = append(got, l.Code+" "+l.Key)
	}
	want := []string{"P136 name", "P154 temperature", "P154 limits.turns", "P154 subagents.tools", "P136 tools", "P136 body"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, ds := decodeFolder(t, fromParts(parts))
	if bad := lines(ds, profile.SeverityWarning); bad != "" || again.Name != "team-a" || again.Provider.V != "openai" || again.Model.V != "gpt-5" || again.Body != "Hi." {
		t.Errorf("%s %+v", bad, again)
	}
}

func FuzzDirectory(f *testing.F) {
	for _, s := range []string{
		`{"id": "a", "description": "d", "enabled_tools": ["terminal", "Bash(git push:*)", "*"], "x": {"y": [1e5, "z"]}}`,
		`{"goal_anchoring_enabled": false, "goal_anchoring_interval": 2, "planning_phase1_enabled": true, "full_description": {"x": 1}}`,
		`{"id": "a", "subagent_tools": "read, write", "name": "\u0000\ud83d\ude00"}`, `{`,
	} {
		f.Add([]byte(s), []byte("You are A."), []byte(`["read", "mine"]`), []byte("description: d\ncommand: [ls, -l]\ninput-schema: {type: object}\n"))
	}
	f.Add([]byte(`{"id":"a"}`), []byte("\ufeffx\r\n"), []byte(`{"mine": true}`), []byte("command: c"))
	d, _ := dialect.ByName("directory")
	f.Fuzz(func(t *testing.T, config, prompt, enabled, tool []byte) {
		in := &dialect.File{Name: "profiles/a/config.json", Path: "profiles/a/config.json", Data: config, Beside: map[string][]byte{
			"system_prompt.txt": prompt, "../persona.txt": prompt, "subagent_system_prompt.txt": prompt, "tools/enabled.json": enabled, "tools/mine.yaml": tool,
		}}
		ps, ds := d.Decode(in)
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 {
				t.Errorf("bad diagnostic %+v", ds[i])
			}
		}
		if profile.Refused(ds) {
			return
		}
		p := ps[0]
		parts, lost := dialect.Encode(d, p)
		if len(lost) > 0 {
			return
		}
		again, ds := d.Decode(fromParts(parts))
		if profile.Refused(ds) {
			t.Fatalf("its own writing is refused: %v\n%s", ds, parts[0].Data)
		}
		if diff := same(p, again[0]); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, parts[0].Data)
		}
	})
}

// TestExampleDirectories reads the example workspace: four profiles under one
// persona, without a warning.
func TestExampleDirectories(t *testing.T) {
	root := filepath.Join("..", "..", "examples", "directories")
	main, required, optional := dialect.DirectoryParts()
	for id, want := range map[string]struct {
		title       string
		temperature float64
	}{
		"secretary": {"Personal Secretary", 0.7}, "server_admin": {"Server Administrator", 0.2},
		"developer": {"Developer", 0.2}, "tool_developer": {"Tool Developer", 0.2},
	} {
		dir := filepath.Join(root, "profiles", id)
		files := map[string]string{}
		for _, name := range append(append([]string{main}, required...), optional...) {
			found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				files[path.Join(path.Dir(name), filepath.Base(file))] = string(data)
			}
		}
		p, ds := decodeFolder(t, inFolder("profiles/"+id, files))
		if bad := lines(ds, profile.SeverityWarning); bad != "" {
			t.Errorf("%s: %s", id, bad)
		}
		if p.Name != id || p.Title.V != want.title || p.Temperature.V != want.temperature || p.Model.V != "gemma4:31b-cloud" ||
			!strings.Contains(string(p.Extra[0].YAML), "\n  planning: true") || !slices.Contains(p.Tools.V.Names, "disk_usage") {
			t.Errorf("%s: %+v", id, p)
		}
		for _, says := range []string{"Who you are", "CONTEXT FIRST", "Extending yourself", "Scratchpad", "Todo", "Memory", "Delegating", "Switching"} {
			if !strings.Contains(p.Persona.V, says) {
				t.Errorf("%s: the persona says nothing of %q", id, says)
			}
		}
	}
}
