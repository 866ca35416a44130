package catalog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

func history(t *testing.T, c *catalog.Catalog, name string) []catalog.Version {
	t.Helper()
	all, ds, err := c.History(t.Context(), name)
	if err != nil || len(ds) > 0 {
		t.Fatal(err, ds)
	}
	return all
}

// told says what a history has, the newest first: source, message, and a star
// where the file is.
func told(all []catalog.Version) string {
	var out []string
	for _, v := range all {
		s := v.Source + ":" + strings.Fields(v.Message)[0]
		if v.Current {
			s += "*"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func save(t *testing.T, c *catalog.Catalog, name, title string) *profile.Profile {
	t.Helper()
	p := fast(name)
	if old, err := c.Get(name); err == nil {
		copied := *old
		p = &copied
	}
	p.Title = is(title)
	got, err := c.Save(t.Context(), p, catalog.SaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHistoryOfSaves(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"))
	c := writable(dir, "", state)
	if got, want := told(history(t, c, "a")), "file:not*"; got != want {
		t.Errorf("before a save: %q, want %q", got, want)
	}
	save(t, c, "a", "one")
	two := save(t, c, "a", "two")
	all := history(t, c, "a")
	if got, want := told(all), "saves:saved* saves:saved saves:found"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	first := all[2].Revision

	parts, err := c.Version(t.Context(), "a", first[:6])
	if err != nil || len(parts) != 1 || string(parts[0].Data) != text("name: a\n") {
		t.Errorf("the first version: %q, %v", parts, err)
	}
	d, err := c.Diff(t.Context(), "a", "", "")
	if err != nil || !strings.Contains(d, "-title: one\n+title: two\n") || strings.Contains(d, "\n-name") {
		t.Errorf("the last change: %v\n%s", err, d)
	}
	if d, err = c.Diff(t.Context(), "a", first, all[1].Revision); err != nil || !strings.Contains(d, "+title: one\n") || strings.Contains(d, "two") {
		t.Errorf("another: %v\n%s", err, d)
	}
	if d, err = c.Diff(t.Context(), "a", "", first); err != nil || !strings.Contains(d, "--- /dev/null\n") {
		t.Errorf("the first: %v\n%s", err, d)
	}

	if _, err := c.Rollback(t.Context(), "a", first, "another", nil); !errors.Is(err, profile.RevisionMismatch) {
		t.Errorf("with another revision: %v", err)
	}
	for _, revision := range []string{"ffffffff", "", first[:3]} {
		if _, err := c.Rollback(t.Context(), "a", revision, "", nil); !errors.Is(err, profile.RevisionNotFound) {
			t.Errorf("to %q: %v", revision, err)
		}
	}
	back, err := c.Rollback(t.Context(), "a", first, two.Revision(), nil)
	if err != nil || back.Title.Set || contents(t, filepath.Join(dir, "profiles/a.md")) != text("name: a\n") {
		t.Errorf("back to %+v, %v", back, err)
	}
	if got, want := told(history(t, c, "a")), "saves:rolled* saves:saved saves:saved"; got != want {
		t.Errorf("then: %q, want %q", got, want)
	}
}

func TestHistoryOfWhatIsGone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	c := writable(dir, "", state)
	if _, _, err := c.History(t.Context(), "a"); !errors.Is(err, profile.ProfileNotFound) {
		t.Errorf("of a profile that never was: %v", err)
	}
	save(t, c, "a", "one")
	before := contents(t, filepath.Join(dir, "profiles/a.md"))
	if err := c.Delete(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	all := history(t, c, "a")
	if got := told(all); got != "saves:saved" {
		t.Fatalf("%q", got)
	}
	if _, err := c.Rollback(t.Context(), "a", all[0].Revision, "", nil); err != nil {
		t.Fatal(err)
	}
	if contents(t, filepath.Join(dir, "profiles/a.md")) != before {
		t.Error("it is not what it was")
	}

	put(t, dir, "profiles/a.md", broken+"x")
	if _, err := c.Get("a"); err == nil {
		put(t, dir, "profiles/a.md", "---\nname: [\n---\n")
	}
	if _, err := c.Rollback(t.Context(), "a", all[0].Revision, "", nil); err != nil {
		t.Fatalf("a file that does not load: %v", err)
	}
	if contents(t, filepath.Join(dir, "profiles/a.md")) != before {
		t.Error("it is not what it was")
	}
	bad := ""
	for _, v := range history(t, c, "a") {
		if v.Message == "found" {
			bad = v.Revision
		}
	}
	if _, err := c.Rollback(t.Context(), "a", bad, "", nil); err == nil {
		t.Error("back to a version that does not load")
	}
}

func TestKeptVersionsAreBounded(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	c := writable(dir, "", state)
	for i := range 105 {
		save(t, c, "a", fmt.Sprint("title ", i))
	}
	all := history(t, c, "a")
	if len(all) != 100 {
		t.Errorf("%d versions", len(all))
	}
	n := 0
	err := filepath.WalkDir(state, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
			if info, _ := d.Info(); info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", p, info.Mode())
			}
		}
		return err
	})
	if err != nil || n != 101 {
		t.Errorf("%d files, %v", n, err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("git is needed: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestHistoryInGit(t *testing.T) {
	top, state := t.TempDir(), t.TempDir()
	dir := filepath.Join(top, "team") // a workspace inside of a repository
	put(t, dir, "profiles/a.md", text("name: a\n"),
		"profiles/dev/config.json", "{\"id\": \"dev\", \"name\": \"Dev\", \"description\": \"d\"}\n", "profiles/dev/system_prompt.txt", "One.\n")
	git(t, top, "init", "-q")
	git(t, top, "add", "-A")
	git(t, top, "commit", "-q", "-m", "first")
	put(t, dir, "profiles/a.md", text("name: a\ntitle: two\n"), "profiles/dev/system_prompt.txt", "Two.\n")
	git(t, top, "commit", "-q", "-a", "-m", "second")
	c := writable(dir, "", state)

	all := history(t, c, "a")
	if got, want := told(all), "git:second* git:first"; got != want || all[0].Author != "Ann <a@example.org>" {
		t.Fatalf("%q, want %q: %+v", got, want, all)
	}
	save(t, c, "a", "three")
	if got, want := told(history(t, c, "a")), "saves:saved* git:second git:first"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := c.Rollback(t.Context(), "a", all[1].Revision[:10], "", nil); err != nil {
		t.Fatal(err)
	}
	if contents(t, filepath.Join(dir, "profiles/a.md")) != text("name: a\n") {
		t.Error("it is not what it was")
	}
	if got, want := told(history(t, c, "a")), "saves:saved git:second git:first*"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	dev := history(t, c, "dev")
	if got, want := told(dev), "git:second* git:first"; got != want {
		t.Fatalf("a directory profile: %q, want %q", got, want)
	}
	if d, err := c.Diff(t.Context(), "dev", "", ""); err != nil || !strings.Contains(d, "-One.\n+Two.\n") {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := c.Rollback(t.Context(), "dev", dev[1].Revision, "", nil); err != nil {
		t.Fatal(err)
	}
	if contents(t, filepath.Join(dir, "profiles/dev/system_prompt.txt")) != "One.\n" {
		t.Error("the prompt is not what it was")
	}
}

func TestRollbackKeepsLineEnds(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"))
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	// As git checks it out where line ends are those of Windows.
	put(t, dir, "profiles/a.md", strings.ReplaceAll(text("name: a\n"), "\n", "\r\n"))
	c := writable(dir, "", "")
	all := history(t, c, "a")
	if got, want := told(all), "git:first*"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	save(t, c, "a", "two")
	if _, err := c.Rollback(t.Context(), "a", all[0].Revision, "", nil); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, filepath.Join(dir, "profiles/a.md")); got != strings.ReplaceAll(text("name: a\n"), "\n", "\r\n") {
		t.Errorf("%q", got)
	}
}

// TestHistoryThatCannotBeRead has the rest of a history, and a rollback to it,
// while a part of it is damaged.
func TestHistoryThatCannotBeRead(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"))
	c := writable(dir, "", state)
	save(t, c, "a", "one")
	save(t, c, "a", "two")
	first := history(t, c, "a")[2].Revision
	for _, tt := range []struct {
		name   string
		damage func()
		want   string
	}{
		{"no repository that git made", func() { put(t, dir, ".git/HEAD", "nothing") }, "its history in git cannot be read, or not all of it: HEAD names no commit"},
		{"objects that are gone", func() { put(t, dir, ".git/HEAD", strings.Repeat("a", 40)) }, "its history in git cannot be read, or not all of it: the commit is not there: " + strings.Repeat("a", 40)},
	} {
		tt.damage()
		all, ds, err := c.History(t.Context(), "a")
		if got, want := told(all), "saves:saved* saves:saved saves:found"; err != nil || got != want {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if len(ds) != 1 || ds[0].Code != profile.CodeHistory || ds[0].Message != tt.want || ds[0].File != "profiles/a.md" {
			t.Errorf("%s: %v", tt.name, ds)
		}
	}
	_, err := c.Version(t.Context(), "a", "ffffffff")
	if !errors.Is(err, profile.RevisionNotFound) || !strings.Contains(err.Error(), "HEAD") && !strings.Contains(err.Error(), "the commit is not there") {
		t.Errorf("a version that may be in git: %v", err)
	}
	if _, err := c.Rollback(t.Context(), "a", first, "", nil); err != nil {
		t.Errorf("rollback: %v", err)
	}

	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	texts, err := filepath.Glob(filepath.Join(state, "*", strings.Repeat("?", 64)))
	if err != nil || len(texts) != 3 {
		t.Fatal(texts, err)
	}
	put(t, filepath.Dir(texts[0]), filepath.Base(texts[0]), "another text")
	all, ds, err := c.History(t.Context(), "a")
	if err != nil || len(ds) != 1 || !strings.HasSuffix(ds[0].Message, "cannot be read: IO: it is not what was kept") {
		t.Errorf("a text that is damaged: %v, %v", ds, err)
	}
	if len(all) < 2 {
		t.Errorf("%q", told(all))
	}
}

// TestRollbackTakesFilesAway goes back to a directory profile without the text
// that came later, and forth again.
func TestRollbackTakesFilesAway(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	put(t, dir, "profiles/d/config.json", `{"id": "d", "name": "d"}`, "profiles/d/system_prompt.txt", "Be brief.")
	c := writable(dir, "", state)
	save(t, c, "d", "one")
	put(t, dir, "profiles/d/subagent_system_prompt.txt", "Be briefer.")
	save(t, c, "d", "two")
	all := history(t, c, "d")
	if got, want := told(all), "saves:saved* saves:found saves:saved saves:found"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	if _, err := c.Rollback(t.Context(), "d", all[3].Revision, "", nil); err != nil {
		t.Error(err)
	}
	if got, want := files(t, dir), "profiles/d/config.json profiles/d/system_prompt.txt"; got != want {
		t.Errorf("the files are %s", got)
	}
	if now := history(t, c, "d"); !now[0].Current || now[0].Message != "rolled back to "+all[3].Revision {
		t.Errorf("%q", told(now))
	}
	if _, err := c.Rollback(t.Context(), "d", all[0].Revision, "", nil); err != nil {
		t.Error(err)
	}
	if got := contents(t, filepath.Join(dir, "profiles/d/subagent_system_prompt.txt")); got != "Be briefer." {
		t.Errorf("the text is %q", got)
	}
}

// TestKeptVersionsStayInOrder: a text that was found is younger than the save before
// it, also if the file's clock is behind.
func TestKeptVersionsStayInOrder(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	put(t, dir, "profiles/a.md", "---\ndescription: a\n---\nzero")
	c := writable(dir, "", state)
	save(t, c, "a", "one")
	file := filepath.Join(dir, "profiles/a.md")
	put(t, dir, "profiles/a.md", "---\ndescription: a\n---\nby hand")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, past, past); err != nil {
		t.Fatal(err)
	}
	save(t, c, "a", "two")
	if got, want := told(history(t, c, "a")), "saves:saved* saves:found saves:saved saves:found"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
