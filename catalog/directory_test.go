package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// directory writes a directory profile.
func directory(tb testing.TB, dir, at string) {
	tb.Helper()
	id := filepath.Base(at)
	put(tb, dir, at+"/config.json", fmt.Sprintf(`{"id": %q, "name": %q, "description": "d", "model": "m", "enabled_tools": ["todo"]}`, id, id),
		at+"/system_prompt.txt", "You are "+id+".\n")
}

func link(tb testing.TB, to, from string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink(to, from); err != nil {
		tb.Fatal(err)
	}
}

func TestDirectoryProfilesAreFound(t *testing.T) {
	tests := []struct {
		name, at, want string
	}{
		{"one level", "a", "a"},
		{"four levels", "w/x/y/a", "a"},
		{"five levels", "v/w/x/y/a", ""},
		{"five levels, in a source", "agents/w/x/y/a", "a"},
		{"in profiles", "profiles/a", "a"},
		{"in a rig", "night-rig/profiles/a", "a"},
		{"in a dot folder", ".hidden/a", ""},
		{"in a tool's folder", ".github/a", ""},
		{"ignored", "out/a", ""},
		{"ignored below", "x/tmp/a", ""},
		{"installed", "node_modules/a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, ".gitignore", "/out/\n", "x/.gitignore", "tmp\n")
			directory(t, dir, tt.at)
			c := workspace(dir)
			if got := names(c); got != tt.want {
				t.Errorf("names %q, want %q", got, tt.want)
			}
			r, err := c.Check()
			if err != nil || len(r.Files) != len(strings.Fields(tt.want)) {
				t.Errorf("check lists %+v, %v", r.Files, err)
			}
			if tt.want != "" && (r.Files[0].Path != tt.at+"/config.json" || r.Files[0].Dialect != "directory" || r.Summary.Loaded != 1) {
				t.Errorf("check says %+v", r.Files[0])
			}
		})
	}
}

func TestNoDirectoryProfile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/config.json", `{"id": "a"}`, "b/system_prompt.txt", "x", "config.json", `{"id": "c"}`, "system_prompt.txt", "x")
	if c := workspace(dir); names(c) != "" || codes(c) != "" {
		t.Errorf("got %q and %q", names(c), codes(c))
	}
}

// TestDirectoryProfileByWhateverPath loads the same profile under the same name.
func TestDirectoryProfileByWhateverPath(t *testing.T) {
	dir := t.TempDir()
	directory(t, dir, "team/dev")
	put(t, dir, "team/persona.txt", "Be kind.")
	t.Chdir(dir)
	add := func(add func(*catalog.Catalog) error) *catalog.Catalog {
		c := catalog.Open(catalog.Options{})
		if err := add(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]*catalog.Catalog{
		"the workspace":  workspace("."),
		"further":        workspace(dir, "team"),
		"further itself": workspace(dir, "team/dev"),
		"its folder":     add(func(c *catalog.Catalog) error { return c.AddDir("team") }),
		"it":             add(func(c *catalog.Catalog) error { return c.AddDir("team/dev") }),
		"its file":       add(func(c *catalog.Catalog) error { return c.AddFile("team/dev/config.json") }),
		"its file, long": add(func(c *catalog.Catalog) error { return c.AddFile(filepath.Join(dir, "team/dev/config.json")) }),
	} {
		if got := names(c); got != "dev" || codes(c) != "" {
			t.Errorf("%s: %q and %q", name, got, codes(c))
		}
	}
	for _, path := range []string{".", "team", "team/dev", "team/dev/config.json"} {
		r, err := catalog.Open(catalog.Options{}).Check(path)
		if err != nil || r.Summary != (catalog.Summary{Loaded: 1}) || r.Files[0].Name != "dev" {
			t.Errorf("check %s: %+v %v", path, r, err)
		}
	}
	p, err := workspace(dir).Get("dev")
	if err != nil || p.Persona.V != "Be kind." {
		t.Errorf("persona %q, %v", p.Persona.V, err)
	}
}

// TestDirectoryPartsAreFresh changes each part of a directory profile, when the
// catalog trusts stamps and when it does not.
func TestDirectoryPartsAreFresh(t *testing.T) {
	for name, trusts := range map[string]bool{"by stamps": true, "young files": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			directory(t, dir, "team/dev")
			c := workspace(dir)
			if trusts {
				c.SetNow(func() time.Time { return time.Now().Add(time.Hour) })
			}
			revision := ""
			for _, step := range []struct{ part, text string }{
				{"team/dev/system_prompt.txt", "Another prompt."},
				{"team/dev/subagent_system_prompt.txt", "For children."},
				{"team/persona.txt", "Be kind."},
				{"team/persona.txt", "Be mild."},
				{"tools/enabled.json", `["webfetch"]`},
				{"tools/hello.yaml", "description: says hello\ninput-schema: {type: object}\ncommand: echo hello\n"},
				{"team/dev/config.json", `{"id": "dev", "name": "Dev", "description": "e", "enabled_tools": []}`},
			} {
				if trusts {
					settle(t, dir)
				}
				before, err := c.Get("dev")
				if err != nil {
					t.Fatal(err)
				}
				if trusts && !c.Telling() {
					t.Fatal("the catalog does not trust the stamps")
				}
				put(t, dir, step.part, step.text)
				after, err := c.Get("dev")
				if err != nil || after == before {
					t.Errorf("%s: the change is not seen, %v", step.part, err)
				}
				revision = after.Revision()
			}
			if err := os.Remove(filepath.Join(dir, "team/persona.txt")); err != nil {
				t.Fatal(err)
			}
			if p, err := c.Get("dev"); err != nil || p.Persona.V != "" || p.Revision() == revision {
				t.Errorf("the persona is gone: %q %v", p.Persona.V, err)
			}
			if err := os.Remove(filepath.Join(dir, "team/dev/system_prompt.txt")); err != nil {
				t.Fatal(err)
			}
			if got := names(c); got != "" {
				t.Errorf("without its prompt: %q", got)
			}
		})
	}
}

// TestDirectoryPartsStayInside: no part is read through a link that leads out of
// the workspace, and nothing that is no regular file is opened.
func TestDirectoryPartsStayInside(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret.txt", "SECRET", "tools/enabled.json", `["bash"]`, "tools/x.yaml", "description: SECRET\n")
	secret := filepath.Join(outside, "secret.txt")
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		code string
	}{
		{"persona", func(t *testing.T, dir string) { link(t, secret, filepath.Join(dir, "team/persona.txt")) }, "team/persona.txt P132"},
		{"prompt of subagents", func(t *testing.T, dir string) {
			link(t, secret, filepath.Join(dir, "team/dev/subagent_system_prompt.txt"))
		}, "team/dev/subagent_system_prompt.txt P132"},
		{"tools, by a folder", func(t *testing.T, dir string) {
			link(t, filepath.Join(outside, "tools"), filepath.Join(dir, "team/tools"))
		},
			"team/tools P132\nteam/tools/enabled.json P132"},
		{"a pipe", func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "team/persona.txt")) }, "team/persona.txt P130"},
		{"a folder", func(t *testing.T, dir string) { put(t, dir, "team/persona.txt/x", "") }, "team/persona.txt P130"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			directory(t, dir, "team/dev")
			directory(t, dir, "team/ops")
			tt.make(t, dir)
			c := workspace(dir)
			if got := names(c); got != "dev ops" {
				t.Errorf("names %q", got)
			}
			if got := codes(c); got != tt.code {
				t.Errorf("diagnostics\n%s\nwant\n%s", got, tt.code)
			}
			for p := range c.List() {
				if strings.Contains(fmt.Sprintf("%+v", p), "SECRET") {
					t.Errorf("%s has read it", p.Name)
				}
			}
		})
	}
	t.Run("the prompt", func(t *testing.T) {
		dir := t.TempDir()
		directory(t, dir, "team/dev")
		prompt := filepath.Join(dir, "team/dev/system_prompt.txt")
		if err := os.Remove(prompt); err != nil {
			t.Fatal(err)
		}
		link(t, secret, prompt)
		c := workspace(dir)
		if _, err := c.Get("dev"); err == nil || !strings.Contains(codes(c), "team/dev/system_prompt.txt P132") {
			t.Errorf("%v, %s", err, codes(c))
		}
	})
	t.Run("a link inside is followed", func(t *testing.T) {
		dir := t.TempDir()
		directory(t, dir, "team/dev")
		put(t, dir, "shared/persona.txt", "Be kind.")
		link(t, "../shared/persona.txt", filepath.Join(dir, "team/persona.txt"))
		if p, err := workspace(dir).Get("dev"); err != nil || p.Persona.V != "Be kind." {
			t.Errorf("%+v %v", p, err)
		}
	})
}

func TestDirectoryPartsAreBounded(t *testing.T) {
	dir := t.TempDir()
	directory(t, dir, "a/big")
	directory(t, dir, "b/many")
	put(t, dir, "a/persona.txt", strings.Repeat("x", profile.MaxFile))
	for i := range 300 {
		put(t, dir, fmt.Sprintf("b/many/tools/t%03d.yaml", i), "description: d\ninput-schema: {type: object}\ncommand: x\n")
	}
	c := workspace(dir)
	if got := codes(c); !strings.Contains(got, "a/big/config.json P130") || !strings.Contains(got, "b/many/tools/t256.yaml P160") {
		t.Errorf("diagnostics %s", got)
	}
	if got := names(c); got != "many" {
		t.Errorf("names %q", got)
	}
}

func TestSearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	directory(t, dir, "x1/y1/far")
	for i := range 30 {
		directory(t, dir, fmt.Sprintf("x%d/near", i))
		put(t, dir, fmt.Sprintf("x%d/near/config.json", i), fmt.Sprintf(`{"id": "near", "name": "near%d", "description": "d"}`, i))
	}
	c := workspace(dir)
	c.SetSearched(40)
	if got := names(c); got != "near" {
		t.Errorf("names %q", got)
	}
	cut := ""
	for _, d := range c.Diagnostics() {
		if d.Code == profile.CodeSearchCut {
			cut += d.File + ": " + d.Message
		}
	}
	if want := "x16/near: directory profiles are searched for in 40 folders; this one and those after it are not searched"; cut != want {
		t.Errorf("got %q, want %q", cut, want)
	}
}

// TestSearchSeesWhatChanges changes folders that a search has listed before.
func TestSearchSeesWhatChanges(t *testing.T) {
	dir := t.TempDir()
	directory(t, dir, "x/a")
	put(t, dir, "y/z/notes.txt", "n")
	settle(t, dir)
	c := workspace(dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"nothing", func() {}, "a"},
		{"another file", func() { put(t, dir, "y/more.txt", "") }, "a"},
		{"a profile", func() { directory(t, dir, "y/z/b") }, "a b"},
		{"ignored", func() { put(t, dir, "x/.gitignore", "a\n") }, "b"},
		{"ignored otherwise", func() { put(t, dir, "x/.gitignore", "b\n") }, "a b"},
		{"a folder goes", func() { must(os.RemoveAll(in("y"))) }, "a"},
		{"a folder is another", func() {
			directory(t, dir, "w/c")
			must(os.Rename(in("x"), in(".old")))
			must(os.Rename(in("w"), in("x")))
		}, "c"},
	} {
		t.Run(step.name, func(t *testing.T) {
			settle(t, dir)
			names(c)
			step.change()
			if got := names(c); got != step.want {
				t.Errorf("got %q, want %q", got, step.want)
			}
		})
	}
}
