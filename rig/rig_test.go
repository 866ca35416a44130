package rig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
)

const good = "---\nagent-profile-ref: fast\nstrand-dir: docs\n---\nReview."

// workspace makes the files of a workspace; a value "-> X" is a link to X.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, file)
		} else {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, dir string) *Rig {
	t.Helper()
	r, err := Load(t.Context(), dir, "rig", Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(r *Rig) (ids []string) {
	for _, k := range r.Knots() {
		ids = append(ids, k.ID())
	}
	return ids
}

func TestFind(t *testing.T) {
	out := workspace(t, map[string]string{"x/y": ""})
	dir := workspace(t, map[string]string{
		"z-rig/a-loom/a.md": good, "rig/profiles/a.md": "", "a-rig/x": "", "rigs/x": "", "b-rig": "a file",
		"sub/rig/a-loom/a.md": good, "link-rig": "-> " + out, "inner-rig": "-> rig", ".x-rig/a": "",
	})
	got, err := Find(dir)
	if want := []string{"a-rig", "rig", "z-rig"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := Find(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
	for _, name := range []string{"link-rig", "b-rig", "../rig", "rigs", "sub/rig", "no-rig"} {
		if r, err := Load(t.Context(), dir, name, Policy{}); err == nil {
			t.Errorf("%s is loaded: %+v", name, r)
		}
	}
}

// TestLoad reads what is a knot, in order, and nothing else.
func TestLoad(t *testing.T) {
	dir := workspace(t, map[string]string{
		"rig/b-loom/z.md": good, "rig/b-loom/a.md": strings.Replace(good, "---\n", "---\nname: zz\n", 1), "rig/a-loom/k.md": good,
		"rig/a-loom/deep/k.md": good, "rig/a-loom/k.txt": good, "rig/a-loom/.k.md": good, "rig/a-loom/dir.md/x": "",
		"rig/profiles/fast.md": "", "rig/tie-offs/a-loom/tie-off-k.md": "", "rig/other/k.md": good, "rig/x-loom": "a file", "rig/state.json": "{}",
		"rig/c-loom/bad.md": "no frontmatter", "rig/c-loom/a.md": "-> ../a-loom/k.md",
	})
	r := load(t, dir)
	if diff := cmp.Diff([]string{"a-loom/k", "b-loom/z", "b-loom/zz", "c-loom/a"}, ids(r)); diff != "" {
		t.Error(diff)
	}
	ds := r.Diagnostics()
	if len(ds) != 1 || ds[0].File != "rig/c-loom/bad.md" || ds[0].Name != "InvalidFormat" {
		t.Error(ds)
	}
	c := r.Looms[2]
	if len(c.Files) != 2 || c.Files[1].Name != "bad" || c.Files[1].Knot != nil {
		t.Errorf("%+v", c)
	}
}

// TestLoadRefuses what leads out of the workspace, and names that are no names.
func TestLoadRefuses(t *testing.T) {
	out := workspace(t, map[string]string{"k.md": good})
	dir := workspace(t, map[string]string{
		"rig/out-loom": "-> " + out, "rig/in-loom": "-> real-loom", "rig/real-loom/k.md": good,
		"rig/bad name-loom/k.md": good, "rig/-loom/k.md": good,
		"rig/l-loom/secret.md": "-> " + filepath.Join(out, "k.md"), "rig/l-loom/gone.md": "-> nothing.md", "rig/l-loom/up.md": "-> ../../../k.md",
	})
	r := load(t, dir)
	if diff := cmp.Diff([]string{"real-loom/k"}, ids(r)); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, d := range r.Diagnostics() {
		if d.Severity != profile.SeverityError {
			t.Errorf("no error: %+v", d)
		}
		got = append(got, d.Code+" "+d.File)
	}
	want := []string{
		"P255 rig/-loom", "P255 rig/bad name-loom", "P255 rig/in-loom", "P255 rig/out-loom",
		"P255 rig/l-loom/gone.md", "P255 rig/l-loom/secret.md", "P255 rig/l-loom/up.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTwice refuses both knots of one name, and names both places.
func TestTwice(t *testing.T) {
	named := func(name string) string { return strings.Replace(good, "---\n", "---\nname: "+name+"\n", 1) }
	dir := workspace(t, map[string]string{
		"rig/a-loom/one.md": named("same"), "rig/a-loom/two.md": named("Same"), "rig/a-loom/three.md": good, "rig/b-loom/same.md": good,
	})
	r := load(t, dir)
	if diff := cmp.Diff([]string{"a-loom/three", "b-loom/same"}, ids(r)); diff != "" {
		t.Error(diff)
	}
	ds := r.Diagnostics()
	if len(ds) != 2 || ds[0].Code != profile.CodeKnotTwice || ds[1].Code != profile.CodeKnotTwice {
		t.Fatal(ds)
	}
	for i, other := range []string{"rig/a-loom/two.md:2:1", "rig/a-loom/one.md:2:1"} {
		if ds[i].Line != 2 || !strings.Contains(ds[i].Message, other) {
			t.Errorf("%+v does not name %s", ds[i], other)
		}
	}
}

// TestEvents finds who waits for whose events, by each way to name a producer.
func TestEvents(t *testing.T) {
	waits := func(producer, id, when string) string {
		return fmt.Sprintf("---\nagent-profile-ref: fast\nstrand-dir: event:%s:%s\nevent-description: %s\n---\nDo.", producer, id, when)
	}
	dir := workspace(t, map[string]string{
		"rig/a-loom/make.md": good, "rig/b-loom/make.md": good, "rig/a-loom/other.md": good,
		"rig/c-loom/name.md": waits("make", "Made", "it is made"), "rig/c-loom/id.md": waits("a-loom/make", "Made", "it is made"),
		"rig/c-loom/loom.md": waits("a-loom", "Made", "any is made"), "rig/c-loom/more.md": waits("a-loom", "Left", "it is left"),
		"rig/c-loom/none.md": waits("mkae", "Made", "never"),
	})
	r := load(t, dir)
	for _, c := range []struct {
		loom, name, id string
		want           []string
	}{
		{"a-loom", "make", "Made", []string{"c-loom/id", "c-loom/loom", "c-loom/name"}},
		{"b-loom", "make", "Made", []string{"c-loom/name"}},
		{"a-loom", "other", "Made", []string{"c-loom/loom"}},
		{"a-loom", "make", "None", nil},
		{"c-loom", "name", "Made", nil},
	} {
		var got []string
		for _, k := range r.Consumers(c.loom, c.name, c.id) {
			got = append(got, k.ID())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s/%s %s: %v", c.loom, c.name, c.id, got)
		}
	}
	k, err := r.Knot("a-loom/make")
	if err != nil {
		t.Fatal(err)
	}
	want := []Awaited{{"Left", []string{"it is left"}}, {"Made", []string{"it is made", "any is made"}}}
	if diff := cmp.Diff(want, r.Awaits(k)); diff != "" {
		t.Error(diff)
	}
	own, _ := parse("agent-profile-ref: fast\nstrand-dir: event:review-loom:Made", "Do.")
	self, _ := parse("agent-profile-ref: fast\nstrand-dir: event:review-loom:Made\nself: true", "Do.")
	named, _ := parse("agent-profile-ref: fast\nstrand-dir: event:my-knot:Made", "Do.")
	if own.Takes("review-loom", "my-knot", "Made") || !own.Takes("review-loom", "other", "Made") || !self.Takes("review-loom", "my-knot", "Made") || !named.Takes("review-loom", "my-knot", "Made") {
		t.Error("a knot of a loom takes its own events with self alone, or by its name")
	}
	ds := r.Diagnostics()
	if len(ds) != 1 || ds[0].Code != profile.CodeNoProducer || ds[0].Line != 3 || !strings.Contains(ds[0].Hint, `"make"`) {
		t.Error(ds)
	}
}

// TestKnotByName finds a knot by its name where only one has it.
func TestKnotByName(t *testing.T) {
	r := load(t, workspace(t, map[string]string{"rig/a-loom/one.md": good, "rig/b-loom/one.md": good, "rig/b-loom/two.md": good}))
	for name, want := range map[string]string{"two": "b-loom/two", "b-loom/one": "b-loom/one"} {
		if k, err := r.Knot(name); err != nil || k.ID() != want {
			t.Errorf("%s: %v %v", name, k, err)
		}
	}
	var e *NotFoundError
	if _, err := r.Knot("one"); !errors.As(err, &e) || !slices.Equal(e.Several, []string{"a-loom/one", "b-loom/one"}) {
		t.Errorf("one is two: %v", err)
	}
	if _, err := r.Knot("b-loom/twoo"); !errors.As(err, &e) || !slices.Contains(e.Nearest, "b-loom/two") {
		t.Errorf("twoo: %v", err)
	}
}
