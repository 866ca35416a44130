package catalog_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStampsTellEveryChange has the catalog trust stamps at once, and changes
// its files in every way.
func TestStampsTellEveryChange(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("model: one\n"), "profiles/deep/d.md", text(""), "profiles/.gitignore", "x*.md\n")
	c := workspace(dir)
	c.SetNow(func() time.Time { return time.Now().Add(time.Hour) })
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
		{"nothing", func() {}, "a deep/d"},
		{"add", func() { put(t, dir, "profiles/b.md", text("")) }, "a b deep/d"},
		{"add below", func() { put(t, dir, "profiles/deep/e.md", text("")) }, "a b deep/d deep/e"},
		{"rename", func() { must(os.Rename(in("profiles/b.md"), in("profiles/c.md"))) }, "a c deep/d deep/e"},
		{"break", func() { put(t, dir, "profiles/c.md", broken) }, "a deep/d deep/e"},
		{"mend", func() { put(t, dir, "profiles/c.md", text("model: three\n")) }, "a c deep/d deep/e"},
		{"rename inside the file", func() { put(t, dir, "profiles/c.md", text("name: other\n")) }, "a deep/d deep/e other"},
		{"ignore", func() { put(t, dir, "profiles/.gitignore", "a*.md\nx*.md\n") }, "deep/d deep/e other"},
		{"ignore no more", func() { must(os.Remove(in("profiles/.gitignore"))) }, "a deep/d deep/e other"},
		{"ignore from above", func() { put(t, dir, ".gitignore", "profiles/deep/\n") }, "a other"},
		{"a source comes", func() { put(t, dir, "agents/z.md", text("")) }, "a other z"},
		{"a folder goes", func() { must(os.RemoveAll(in("profiles"))) }, "z"},
		{"a folder becomes another", func() {
			put(t, dir, "elsewhere/y.md", text(""))
			must(os.RemoveAll(in("agents")))
			must(os.Rename(in("elsewhere"), in("agents")))
		}, "y"},
	} {
		t.Run(step.name, func(t *testing.T) {
			settle(t, dir)
			names(c) // walks, for the stamps are others now
			if !c.Telling() {
				t.Fatal("the catalog does not trust the stamps")
			}
			step.change()
			if got := names(c); got != step.want {
				t.Errorf("got %q, want %q", got, step.want)
			}
		})
	}
}

// settle makes everything an hour old, so that the next change shows in the
// times whatever the clock's tick is.
func settle(t *testing.T, dir string) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLinksAreAlwaysLookedAt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text(""), "real/b.md", text(""))
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "profiles/link")); err != nil {
		t.Fatal(err)
	}
	c := workspace(dir)
	c.SetNow(func() time.Time { return time.Now().Add(time.Hour) })
	if got := names(c); got != "a link/b" || c.Telling() {
		t.Errorf("got %q, by stamps only: %v", got, c.Telling())
	}
}

// TestComesBelowWhatIsNotThere: folders of profiles are seen that come with the
// folders above them, or in another one's place, when only those above are looked at.
func TestComesBelowWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "notes.txt", "x", "other/profiles/o.md", text(""))
	c := workspace(filepath.Join(dir, "deep", "ws"))
	c.SetNow(func() time.Time { return time.Now().Add(time.Hour) })
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"nothing is there", func() {}, ""},
		{"the folder above comes", func() { put(t, dir, "deep/x.txt", "") }, ""},
		{"the workspace comes, with all", func() { put(t, dir, "deep/ws/.claude/agents/a.md", text("name: a\n")) }, "a"},
		{"a file in a folder's place", func() { put(t, dir, "deep/ws/agents", "x") }, "a"},
		{"and the folder", func() {
			if err := os.Remove(filepath.Join(dir, "deep/ws/agents")); err != nil {
				t.Fatal(err)
			}
			put(t, dir, "deep/ws/agents/b.md", text(""))
		}, "a b"},
		{"another workspace in its place", func() {
			for _, m := range [][2]string{{"deep/ws", "gone"}, {"other", "deep/ws"}} {
				if err := os.Rename(filepath.Join(dir, m[0]), filepath.Join(dir, m[1])); err != nil {
					t.Fatal(err)
				}
			}
		}, "o"},
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
