package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestWrite(t *testing.T) {
	f := newFixture(t)
	f.same(f.ok("write", object{"path": "a/b/c.txt", "content": "häl"}), "created a/b/c.txt, 4 bytes")
	f.same(f.content("a/b/c.txt"), "häl")
	f.same(f.ok("write", object{"path": "a/b/c.txt", "content": ""}), "overwrote a/b/c.txt, 0 bytes")
	f.same(f.content("a/b/c.txt"), "")
	f.fails("write", object{"path": "a/b", "content": "x"}, "a/b is a directory")
	f.fails("write", object{"path": "a/b/c.txt/d", "content": "x"}, "not a directory")
	entries, err := os.ReadDir(filepath.Join(f.root, "a/b"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestWriteKeepsMode(t *testing.T) {
	f := newFixture(t)
	path := f.file("run.sh", "#!/bin/sh\n")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	f.ok("write", object{"path": "run.sh", "content": "#!/bin/bash\n"})
	f.ok("edit", object{"path": "run.sh", "old": "bash", "new": "dash"})
	info, err := os.Stat(path)
	if err != nil || info.Mode() != fs.FileMode(0o750) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWriteThroughLinkKeepsTheLink(t *testing.T) {
	f := newFixture(t)
	f.file("real.txt", "old")
	if err := os.Symlink("real.txt", filepath.Join(f.root, "link.txt")); err != nil {
		t.Fatal(err)
	}
	f.same(f.ok("write", object{"path": "link.txt", "content": "new"}), "overwrote real.txt, 3 bytes")
	f.same(f.content("real.txt"), "new")
	if info, err := os.Lstat(filepath.Join(f.root, "link.txt")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestChangedFileIsNotOverwritten(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", "one\n")
	f.ok("read", object{"path": "a.txt"})
	f.ok("edit", object{"path": "a.txt", "old": "one", "new": "two"}) // its own change is no surprise
	f.ok("write", object{"path": "a.txt", "content": "three\n"})
	f.file("a.txt", "somebody else's\n")
	for tool, in := range map[string]object{
		"write": {"path": "a.txt", "content": "mine\n"},
		"edit":  {"path": "a.txt", "old": "else", "new": "mine"},
	} {
		_, err := f.run(tool, in)
		var changed *ChangedError
		if !errors.As(err, &changed) || changed.Path != "a.txt" {
			t.Errorf("%s: %v", tool, err)
		}
	}
	f.same(f.content("a.txt"), "somebody else's\n")
	f.ok("edit", object{"path": "a.txt", "old": "else", "new": "mine", "force": true})
	f.file("a.txt", "again somebody else's\n")
	f.ok("read", object{"path": "a.txt"})
	f.ok("write", object{"path": "a.txt", "content": "mine\n"})
	f.file("a.txt", "and once more\n")
	f.ok("write", object{"path": "a.txt", "content": "mine\n", "force": true})

	f.file("unread.txt", "never read\n")
	f.ok("write", object{"path": "unread.txt", "content": "mine\n"})
}

func TestDeletedFileIsAChange(t *testing.T) {
	f := newFixture(t)
	path := f.file("a.txt", "one\n")
	f.ok("read", object{"path": "a.txt"})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.fails("write", object{"path": "a.txt", "content": "x"}, "has changed since")
}

func TestConcurrentWritesLeaveOneWhole(t *testing.T) {
	f := newFixture(t)
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 100_000)}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { f.run("write", object{"path": "x", "content": contents[i%2]}) })
	}
	wg.Wait()
	if !slices.Contains(contents, f.content("x")) {
		t.Error("torn")
	}
	entries, err := os.ReadDir(f.root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestConflicts(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", "")
	if err := os.Symlink("a.txt", filepath.Join(f.root, "b.txt")); err != nil {
		t.Fatal(err)
	}
	keys := func(tool, path string) []string {
		return f.tools[tool].(Conflicter).Conflicts(Call{Input: []byte(`{"path":"` + path + `"}`)})
	}
	a := keys("write", "a.txt")
	if len(a) != 1 || !slices.Equal(a, keys("edit", "./b.txt")) || slices.Equal(a, keys("edit", "c.txt")) {
		t.Errorf("got %v", a)
	}
}

func TestWriteRefusesWhatNobodyCouldDelete(t *testing.T) {
	f := newFixture(t)
	f.fails("write", object{"path": strings.Repeat("a/", 3000) + "f", "content": "x"}, "too long")
	f.fails("write", object{"path": "a/b\x00c/d", "content": "x"}, "invalid")
	if entries, err := os.ReadDir(f.root); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}
