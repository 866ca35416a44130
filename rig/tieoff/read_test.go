package tieoff

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rootAt(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestList: only files that are named as tie-offs are, and no links, are listed.
func TestList(t *testing.T) {
	dir := t.TempDir()
	root := rootAt(t, dir)
	if list, err := List(root); err != nil || len(list) != 0 {
		t.Fatalf("without any: %v, %v", list, err)
	}
	for _, name := range []string{"b-loom/tie-off-x.md", "a-loom/tie-off-y.md", "a-loom/tie-off-.hidden.md", "a-loom/notes.md", "a-loom/tie-off-z.txt", "stray.md"} {
		put(t, dir, "tie-offs/"+name, "")
	}
	for link, to := range map[string]string{"tie-offs/a-loom/tie-off-l.md": "tie-off-y.md", "tie-offs/c-loom": "b-loom"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.ID()+"="+e.File)
	}
	const want = "a-loom/y=tie-offs/a-loom/tie-off-y.md b-loom/x=tie-offs/b-loom/tie-off-x.md"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	root := rootAt(t, dir)
	s := Section{Job: "j-1", Knot: "x", Event: "modified", Path: "docs/a.md", Answer: "## Well\n---\n"}
	text, err := s.Render()
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "tie-offs/a-loom/tie-off-x.md", string(text))
	got, problems, err := Read(root, "tie-offs/a-loom/tie-off-x.md")
	if err != nil || len(problems) != 0 || len(got) != 1 || got[0].Answer != s.Answer || got[0].Edited {
		t.Errorf("got %+v, %v, %v", got, problems, err)
	}
	if _, _, err := Read(root, "tie-offs/a-loom/tie-off-none.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := os.Symlink("a-loom", filepath.Join(dir, "tie-offs/b-loom")); err != nil {
		t.Fatal(err)
	}
	link := (*LinkError)(nil)
	if _, _, err := Read(root, "tie-offs/b-loom/tie-off-x.md"); !errors.As(err, &link) {
		t.Errorf("through a link: %v", err)
	}
}

// TestReadOfALargeFile: of a file that is too large, the newest sections are read.
func TestReadOfALargeFile(t *testing.T) {
	dir := t.TempDir()
	root := rootAt(t, dir)
	old, new := Section{Job: "j-1", Knot: "x", Event: "modified", Answer: "old"}, Section{Job: "j-2", Knot: "x", Event: "modified", Answer: "new"}
	first, err := old.Render()
	if err != nil {
		t.Fatal(err)
	}
	second, err := new.Render()
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "tie-offs/a-loom/tie-off-x.md", string(first)+strings.Repeat(strings.Repeat("x", 1023)+"\n", MaxRead>>10)+string(second))
	got, problems, err := Read(root, "tie-offs/a-loom/tie-off-x.md")
	if err != nil || len(got) != 1 || got[0].Answer != "new" || len(problems) != 1 || !strings.Contains(problems[0].Text, "only the last") {
		t.Errorf("got %d sections, %v, %v", len(got), problems, err)
	}
}
