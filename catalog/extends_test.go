package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// child is a native profile that extends others.
func child(extends string) string { return text("extends: " + extends + "\n") }

func lineage(c *catalog.Catalog, name string) string {
	p, err := c.Get(name)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, parent := range p.Parents {
		out = append(out, parent.Name)
	}
	return strings.Join(out, " ")
}

func TestExtends(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		of    string
		want  string // the parents, the weakest first
	}{
		{"one", []string{"profiles/a.md", child("base"), "profiles/base.md", text("")}, "a", "base"},
		{"as listed", []string{"profiles/a.md", child("[y, x]"), "profiles/x.md", text(""), "profiles/y.md", text("")}, "a", "y x"},
		{"three levels", []string{"profiles/a.md", child("b"), "profiles/b.md", child("c"), "profiles/c.md", text("")}, "a", "c b"},
		{"a diamond: each once", []string{
			"profiles/a.md", child("[l, r]"), "profiles/l.md", child("base"), "profiles/r.md", child("[base, x]"),
			"profiles/base.md", text(""), "profiles/x.md", text(""),
		}, "a", "base l x r"},
		{"named twice", []string{"profiles/a.md", child("[b, b]"), "profiles/b.md", text("")}, "a", "b"},
		{"from an earlier source", []string{"agents/a.md", child("base"), "profiles/base.md", text("")}, "a", "base"},
		{"the one of an earlier source, though a later one wins", []string{
			"profiles/a.md", child("base"), "profiles/base.md", text("temperature: 0.1\n"), "agents/base.md", text("model: p/m\n"),
		}, "a", "base"},
		{"its own name in an earlier source", []string{"profiles/a.md", child("base"), "profiles/base.md", text(""), "agents/a.md", child("a")}, "a", "base a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tt.files...)
			c := workspace(dir)
			if got := lineage(c, tt.of); got != tt.want {
				t.Errorf("got %q, want %q\n%s", got, tt.want, codes(c))
			}
		})
	}
}

func TestAParentIsOfAnEarlierSource(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", child("base"), "profiles/base.md", text("temperature: 0.1\n"),
		"agents/base.md", text("temperature: 0.9\nprovider: p\nmodel: m\n"), "agents/b.md", child("base"))
	c := workspace(dir)
	for name, want := range map[string]float64{"a": 0.1, "b": 0.9} {
		p, err := c.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Parents[0].Temperature.V; got != want {
			t.Errorf("%s: got the base with %g, want %g", name, got, want)
		}
	}
}

func TestExtendsRefused(t *testing.T) {
	tests := []struct {
		name    string
		files   []string
		want    []string // file:line:column code message
		gone    string   // names that are not served
		serving string
	}{
		{
			"a missing parent, at its place", []string{"profiles/a.md", child("\n  - base\n  - bass\n"), "profiles/base.md", text("")},
			[]string{"profiles/a.md:5:5 P166 a extends bass, and there is no such profile in its source or an earlier one; did you mean base?"}, "a", "base",
		},
		{
			"one in a later source", []string{"profiles/a.md", child("[late]"), "agents/late.md", text("provider: p\nmodel: m\n")},
			[]string{"profiles/a.md:3:11 P166 a extends late, and there is no such profile in its source or an earlier one; agents/late.md is in a later source; move it to this one or an earlier one"}, "a", "late",
		},
		{
			"itself", []string{"profiles/a.md", child("a")},
			[]string{"profiles/a.md:3:10 P167 the profile extends itself: a → a; take one of them out of extends"}, "a", "",
		},
		{
			"a cycle, on each in it", []string{"profiles/a.md", child("b"), "profiles/b.md", child("[x, c]"), "profiles/c.md", child("a"), "profiles/x.md", text("")},
			[]string{
				"profiles/a.md:3:10 P167 the profile extends itself: a → b → c → a; take one of them out of extends",
				"profiles/b.md:3:14 P167 the profile extends itself: b → c → a → b; take one of them out of extends",
				"profiles/c.md:3:10 P167 the profile extends itself: c → a → b → c; take one of them out of extends",
			}, "a b c", "x",
		},
		{
			"two cycles through one", []string{"profiles/a.md", child("[b, c]"), "profiles/b.md", child("a"), "profiles/c.md", child("a")},
			[]string{
				"profiles/a.md:3:11 P167 the profile extends itself: a → b → a; take one of them out of extends",
				"profiles/b.md:3:10 P167 the profile extends itself: b → a → b; take one of them out of extends",
				"profiles/c.md:3:10 P167 the profile extends itself: c → a → c; take one of them out of extends",
			}, "a b c", "",
		},
		{
			"a parent that does not load", []string{"profiles/a.md", child("base"), "profiles/base.md", text("temperature: 9\n")},
			[]string{
				"profiles/a.md:3:10 P168 a extends base, which does not load: profiles/base.md:3:14: temperature is 9; it takes 0 to 2; repair profiles/base.md",
				"profiles/base.md:3:14 P111 temperature is 9; it takes 0 to 2; ",
			}, "a base", "",
		},
		{
			"a parent in a cycle", []string{"profiles/a.md", child("b"), "profiles/b.md", child("b")},
			[]string{
				"profiles/a.md:3:10 P168 a extends b, which does not load: profiles/b.md:3:10: the profile extends itself: b → b; repair profiles/b.md",
				"profiles/b.md:3:10 P167 the profile extends itself: b → b; take one of them out of extends",
			}, "a b", "",
		},
		{
			"no name", []string{"profiles/a.md", child("[../b]")},
			[]string{`profiles/a.md:3:11 P117 "../b" is not a name of a profile; names are letters, digits, '.', '_', '-', in segments joined by '/'`}, "a", "",
		},
		{
			"what it was to take the place of does not run instead", []string{"profiles/a.md", text(""), "agents/a.md", child("none")},
			[]string{
				"profiles/a.md:0:0 P131 a is also defined in agents/a.md, which wins; rename one of them",
				"agents/a.md:3:10 P166 a extends none, and there is no such profile in its source or an earlier one; name a profile, or take it out",
			}, "a", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tt.files...)
			c := workspace(dir)
			var got []string
			for _, d := range c.Diagnostics() {
				if d.Severity != profile.SeverityNote {
					got = append(got, fmt.Sprintf("%s:%d:%d %s %s; %s", d.File, d.Line, d.Column, d.Code, d.Message, d.Hint))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if names(c) != tt.serving {
				t.Errorf("serving %q, want %q", names(c), tt.serving)
			}
			for name := range strings.FieldsSeq(tt.gone) {
				var le *profile.LoadError
				if _, err := c.Get(name); !errors.As(err, &le) {
					t.Errorf("Get(%s): %v, want a LoadError", name, err)
				}
			}
			report, err := c.Check()
			if err != nil || report.Summary.Refused != len(strings.Fields(tt.gone)) {
				t.Errorf("check: %+v, %v", report.Summary, err)
			}
		})
	}
}

func TestAProfileHasSoManyParents(t *testing.T) {
	dir := t.TempDir()
	for i := range profile.MaxParents + 2 {
		put(t, dir, fmt.Sprintf("profiles/p%d.md", i), child(fmt.Sprintf("p%d", i+1)))
	}
	put(t, dir, fmt.Sprintf("profiles/p%d.md", profile.MaxParents+2), text(""))
	c := workspace(dir)
	if p, err := c.Get("p2"); err != nil || len(p.Parents) != profile.MaxParents {
		t.Errorf("p2: %v", err)
	}
	for name, code := range map[string]string{"p1": "has 65 parents with theirs", "p0": "which does not load"} {
		if _, err := c.Get(name); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestALongChainIsToldByItsEnd holds what is said about a chain of many to what
// one can read.
func TestALongChainIsToldByItsEnd(t *testing.T) {
	dir := t.TempDir()
	const many = 3000
	for i := range many {
		put(t, dir, fmt.Sprintf("profiles/p%d.md", i), child(fmt.Sprintf("p%d", i+1)))
	}
	put(t, dir, fmt.Sprintf("profiles/p%d.md", many), text("temperature: 9\n"))
	_, err := workspace(dir).Get("p0")
	if err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "temperature is 9") {
		t.Errorf("%.500v", err)
	}
}

// TestLongCycleIsCut holds the cost of a cycle of many to what one can read.
func TestLongCycleIsCut(t *testing.T) {
	dir := t.TempDir()
	const many = 3000
	for i := range many {
		put(t, dir, fmt.Sprintf("profiles/p%d.md", i), child(fmt.Sprintf("p%d", (i+1)%many)))
	}
	if _, err := workspace(dir).Get("p7"); err == nil || !strings.Contains(err.Error(), "itself: p7 → … → p7") {
		t.Errorf("got %v", err)
	}
}

func TestAChangedParentIsAChangedChild(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", child("b"), "profiles/b.md", child("c"), "profiles/c.md", text(""), "profiles/x.md", text(""))
	age(t, dir)
	c := workspace(dir)
	get := func(name string) *profile.Profile {
		p, err := c.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, x := get("a"), get("x")
	if get("a") != a {
		t.Error("linked again without a change")
	}
	put(t, dir, "profiles/c.md", text("temperature: 1\n"))
	if now := get("a"); now.Revision() == a.Revision() || now.Parents[0].Temperature.V != 1 {
		t.Errorf("the child has revision %s as before", now.Revision())
	}
	if get("x").Revision() != x.Revision() {
		t.Error("a profile without parents changed")
	}
	if err := os.Remove(filepath.Join(dir, "profiles/c.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get("a"); err == nil {
		t.Error("the child serves without its parent")
	}
	put(t, dir, "profiles/c.md", text(""))
	if now := get("a"); now.Revision() != a.Revision() {
		t.Errorf("revision %s, want %s again", now.Revision(), a.Revision())
	}
}

func TestCheckOfOneFileKnowsItsParents(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", child("base"), "profiles/base.md", text(""), "profiles/late.md", child("later"),
		"agents/later.md", text("provider: p\nmodel: m\n"), "elsewhere/x.md", child("a"), "elsewhere/y.md", child("none"))
	c := workspace(dir)
	for file, want := range map[string]string{
		"profiles/a.md": catalog.Loaded, "profiles/late.md": catalog.Refused, "elsewhere/x.md": catalog.Loaded, "elsewhere/y.md": catalog.Refused,
	} {
		r, err := c.Check(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if r.Files[0].Status != want {
			t.Errorf("%s: %s, want %s\n%v", file, r.Files[0].Status, want, r.Files[0].Diagnostics)
		}
		for _, d := range r.Files[0].Diagnostics {
			if d.File != filepath.Join(dir, file) {
				t.Errorf("%s: a diagnostic of %s", file, d.File)
			}
		}
	}
}

func TestCheckNotesShadowedDenies(t *testing.T) {
	dir := t.TempDir()
	put(t, dir,
		"profiles/a.md", text("permission:\n  bash:\n    rm *: deny\n    \"*\": ask\n"),
		"profiles/base.md", text("permission: {bash: {rm *: deny}, edit: deny}\n"),
		"profiles/child.md", text("extends: base\npermission: {bash: allow}\n"),
		"profiles/good.md", text("permission: {bash: {\"*\": ask, rm *: deny}}\n"),
	)
	c := workspace(dir)
	r, err := c.Check()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Files {
		for _, d := range f.Diagnostics {
			if d.Code == profile.CodeShadowedDeny {
				got = append(got, fmt.Sprintf("%s:%d:%d %s: %s", d.File, d.Line, d.Column, d.Severity, d.Message))
			}
		}
	}
	want := []string{
		`profiles/a.md:5:5 note: bash "rm *" deny never decides: bash "*" ask in profiles/a.md:6:5 comes later and covers all that it names`,
		`profiles/child.md:4:14 note: bash "*" allow covers all that bash "rm *" deny in profiles/base.md:3:21 names, so that the deny of the parent never decides`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, d := range c.Diagnostics() {
		if d.Code == profile.CodeShadowedDeny {
			t.Errorf("found outside of a check: %v", &d)
		}
	}
}

func TestSaveOfAChild(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", child("base"), "profiles/base.md", text("temperature: 0.4\n"))
	c := workspace(dir)
	p, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	changed := *p
	changed.Model = profile.Value[string]{V: "fake/one", Set: true}
	saved, err := c.Save(t.Context(), &changed, catalog.SaveOptions{IfMatch: p.Revision()})
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Get("a")
	if err != nil || now.Model.V != "fake/one" || now.Temperature.Set || len(now.Parents) != 1 {
		t.Errorf("%+v, %v", now, err)
	}
	if saved.Revision() != now.Revision() || saved.Revision() == p.Revision() {
		t.Errorf("saved as %s, served as %s", saved.Revision(), now.Revision())
	}
	data, err := os.ReadFile(filepath.Join(dir, "profiles/a.md"))
	if err != nil || string(data) != "---\ndescription: d\nextends: base\nmodel: fake/one\n---\nprompt\n" {
		t.Errorf("%q, %v", data, err)
	}
}
