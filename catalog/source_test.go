package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// TestPrecedence defines one name everywhere, and takes away the winner until
// nothing is left.
func TestPrecedence(t *testing.T) {
	home, dir, more := t.TempDir(), t.TempDir(), t.TempDir()
	md := func(where string) string { return "---\nname: a\ndescription: " + where + "\n---\nprompt\n" }
	knot := func(where string) string {
		return "---\nname: a\nprovider: p\nmodel: m\ndescription: " + where + "\nsystem-prompt: s\n---\n"
	}
	toml := func(where string) string {
		return fmt.Sprintf("name = %q\ndescription = %q\ndeveloper_instructions = \"do\"\n", "a", where)
	}
	order := []struct{ root, file, text string }{
		{home, "profiles/x.md", md("user")},
		{home, "agents/x.md", md("user's agents")},
		{dir, "profiles/x.md", md("profiles")},
		{dir, "rig/profiles/x.md", knot("rig")},
		{dir, "night-rig/profiles/x.md", knot("another rig")},
		{dir, "opencode.json", `{"agent": {"a": {"description": "opencode.json", "prompt": "p"}}}`},
		{dir, "opencode.jsonc", `{"agent": {"a": {"description": "opencode.jsonc", "prompt": "p"}}} // x`},
		{dir, ".opencode/agent/x.md", md("opencode agent")},
		{dir, ".opencode/agents/x.md", md("opencode agents")},
		{dir, ".claude/agents/x.md", md("claude")},
		{dir, ".gemini/agents/x.md", md("gemini")},
		{dir, ".codex/agents/x.toml", toml("codex")},
		{dir, ".github/agents/x.agent.md", md("copilot")},
		{dir, ".github/chatmodes/x.chatmode.md", md("chatmode")},
		{dir, "agent/x.md", md("agent")},
		{dir, "agents/x.md", md("agents")},
		{dir, "team/a/config.json", `{"id": "a", "name": "a", "description": "directory"}`},
		{dir, "agent.toml", "[agent]\nsystem_prompt = \"s\"\n[agent.profile]\nname = \"a\"\ndescription = \"config\"\n[provider]\nmodel = \"m\"\n"},
		{more, "x.md", md("further")},
	}
	put(t, dir, "team/a/system_prompt.txt", "s")
	for _, o := range order {
		put(t, o.root, o.file, o.text)
	}
	c := catalog.Open(catalog.Options{Sources: catalog.Standard(home, dir, more)})
	if err := c.AddString("a", text("summary: in memory\n")); err != nil {
		t.Fatal(err)
	}
	p, err := c.Get("a")
	if err != nil || p.File != catalog.Memory {
		t.Fatalf("%+v %v", p, err)
	}
	c = catalog.Open(catalog.Options{Sources: catalog.Standard(home, dir, more)})
	for _, o := range slices.Backward(order) {
		p, err := c.Get("a")
		if err != nil {
			t.Fatalf("%s: %v", o.file, err)
		}
		real := filepath.Join(o.root, o.file)
		if f, ok := c.Snapshot().FileOf(p); !ok || f.Path != real {
			t.Errorf("%s wins, want %s", f.Path, real)
		}
		for _, d := range c.Diagnostics() {
			if d.Code == profile.CodeShadowed && !strings.Contains(d.Message, "is also defined in ") {
				t.Errorf("%s", d.Error())
			}
		}
		if err := os.Remove(real); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(c); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestOneSetByEveryPath gives the folder of agents, its parent, and both as
// further folders: the same agents have the same names and formats.
func TestOneSetByEveryPath(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/nested/deep.md", text("mode: subagent\n"), "agents/top.md", text("temperature: 0.1\n"), "agents/plain.md", text(""),
		"README.md", "# no agent\n", "docs/page.md", "---\ntitle: a page\n---\n")
	agents := filepath.Join(dir, "agents")
	const want = "nested/deep opencode, plain opencode, top opencode"
	brief := func(each func(yield func(*profile.Profile) bool)) string {
		var out []string
		for p := range each {
			out = append(out, p.Name+" "+p.Dialect)
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	open := func(where string) map[string]*catalog.Catalog {
		all := map[string]*catalog.Catalog{"--profiles": workspace(filepath.Join(dir, "docs"), where), "AddDir": catalog.Open(catalog.Options{})}
		if err := all["AddDir"].AddDir(where); err != nil {
			t.Fatal(err)
		}
		return all
	}
	check := func(name, path string) {
		t.Helper()
		r, err := catalog.Open(catalog.Options{}).Check(path)
		if err != nil {
			t.Fatal(err)
		}
		got := brief(func(yield func(*profile.Profile) bool) {
			for _, f := range r.Files {
				for _, p := range f.Profiles {
					yield(p)
				}
			}
		})
		if got != want {
			t.Errorf("check %s %s: %s", name, path, got)
		}
	}
	for _, where := range []string{dir, agents, agents + "/"} {
		for name, c := range open(where) {
			if got := brief(c.List()); got != want || codes(c) != "" {
				t.Errorf("%s %s: %s; %s", name, where, got, codes(c))
			}
		}
		check("absolute", where)
	}
	if got := brief(workspace(agents).List()); got != want {
		t.Errorf("the folder as the workspace: %s", got)
	}
	t.Chdir(dir)
	check("from the parent", ".")
	check("from the parent", "agents")
	if got := brief(workspace(".").List()); got != want {
		t.Errorf("the workspace: %s", got)
	}
	t.Chdir(agents)
	check("from inside", ".")
	check("from inside", "..")
	r, err := catalog.Open(catalog.Options{}).Check("../agents/nested")
	if err != nil || r.Summary.Loaded != 1 {
		t.Errorf("a folder below: %+v %v", r, err)
	}
}

// TestOtherFilesPass: what no format knows is passed over in silence in a
// source, and listed as ignored by check.
func TestOtherFilesPass(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/a.md", text(""), "agents/package.json", `{"name": "x"}`, "agents/broken.json", `{"a": `, "agents/ci.yml", "on: [push]\n",
		"agents/broken.yaml", "a: [\n", "agents/settings.toml", "x = 1\n", "agents/broken.toml", "= 1\n", "agents/empty.yaml", "", "agents/data.csv", "1,2\n",
		"package.json", "{}", "agent.yml", "- 1\n")
	c := workspace(dir)
	if names(c) != "a" || codes(c) != "" {
		t.Errorf("got %q and %q", names(c), codes(c))
	}
	r, err := c.Check()
	if err != nil || r.Summary != (catalog.Summary{Loaded: 1, Ignored: 9}) {
		t.Errorf("%+v %v", r.Summary, err)
	}
}

// TestOneFileInTwoSources is no duplicate.
func TestOneFileInTwoSources(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/team/a.md", text("name: a\n"))
	directory(t, dir, "agents/team/dev")
	for _, further := range []string{"agents", "agents/team", "."} {
		c := workspace(dir, further)
		if names(c) != "a dev" || codes(c) != "" {
			t.Errorf("%s: %q and %q", further, names(c), codes(c))
		}
	}
	abs := filepath.Join(dir, "agents")
	r, err := catalog.Open(catalog.Options{}).Check(abs, filepath.Join(abs, "team"), filepath.Join(abs, "team", "a.md"))
	if err != nil || r.Summary.Loaded != 2 || r.Summary.Warnings != 0 {
		t.Errorf("check: %+v %v", r, err)
	}
}

// TestPathsAreWhatToGuard: tools may write to none of these without a question.
func TestPathsAreWhatToGuard(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "night-rig/profiles/x.md", text(""))
	directory(t, dir, "team/dev")
	put(t, dir, "team/persona.txt", "Be kind.", "tools/enabled.json", "[]")
	c := workspace(dir)
	names(c)
	got := c.Paths()
	for _, want := range []string{"profiles", ".github/chatmodes", "night-rig/profiles", "team/dev", "team/persona.txt", "tools/enabled.json", "agent.toml"} {
		if !slices.Contains(got, filepath.Join(dir, want)) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if slices.Contains(got, dir) {
		t.Errorf("the whole workspace is among them")
	}
}

func TestKeepLastGood(t *testing.T) {
	dir := t.TempDir()
	open := func(keep bool) *catalog.Catalog {
		return catalog.Open(catalog.Options{Sources: catalog.Standard("", dir), KeepLastGood: keep})
	}
	file := filepath.Join(dir, "agents/a.md")
	put(t, dir, "profiles/b.md", text("model: earlier\n"), "agents/a.md", text("model: good\n"))
	kept, strict := open(true), open(false)
	state := func(want string) {
		t.Helper()
		var got []string
		for p := range kept.List() {
			got = append(got, p.Name+"="+p.Model.V)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("served %q, want %q", s, want)
		}
	}
	names(strict)
	state("a=good b=earlier")
	put(t, dir, "agents/a.md", broken)
	state("a=good b=earlier")
	if got := codes(kept); got != "agents/a.md P104\nagents/a.md P162" {
		t.Errorf("diagnostics %s", got)
	}
	p, err := kept.Get("a")
	if err != nil || !profile.Refused(kept.Snapshot().DiagnosticsOf(p)) {
		t.Errorf("the error is not told with the profile: %v", err)
	}
	if _, err := strict.Get("a"); err == nil {
		t.Error("without the option it is served too")
	}
	put(t, dir, "agents/a.md", "---\nname: b\nmode: all\nmode: all\n---\n") // claims another name
	state("a=good")
	put(t, dir, "agents/a.md", "nothing")
	state("a=good b=earlier")
	put(t, dir, "agents/a.md", text("model: better\n"))
	state("a=better b=earlier")
	if got := codes(kept); got != "" {
		t.Errorf("diagnostics %s", got)
	}
	put(t, dir, "agents/a.md", broken)
	state("a=better b=earlier")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	state("b=earlier")
	put(t, dir, "agents/a.md", broken)
	state("b=earlier")
	if names(open(true)) != "b" {
		t.Error("another process serves what it has not read")
	}
}
