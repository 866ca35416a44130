package history

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzTree reads any file as a tree: it is refused, or written again and read as
// the same.
func FuzzTree(f *testing.F) {
	good := filepath.Join(f.TempDir(), "tree")
	top := &node{kind: kindDir, mode: 0o755, children: []*node{
		{kind: kindFile, name: "a", mode: 0o644, stamp: stamp{size: 3, mtime: 1, ctime: 2, ino: 3}, at: 7},
		{kind: kindLink, name: "l", mode: 0o777, target: "a", trusted: true},
		{kind: kindFile, name: "x", why: tooLarge},
	}}
	if err := saveTree(good, "/root", []string{"a", "l"}, top); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "fuzz")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		root, paths, n, err := loadTree(path)
		if err != nil {
			return
		}
		if err := saveTree(path, root, paths, n); err != nil {
			t.Fatal(err)
		}
		again, _, m, err := loadTree(path)
		if err != nil || again != root || m.mode != n.mode || len(m.children) != len(n.children) {
			t.Fatalf("%q and %q, %v", root, again, err)
		}
	})
}
