package pinned

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func resolve(t *testing.T, path string) *Place {
	t.Helper()
	p, err := Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestResolve(t *testing.T) {
	dir := realTemp(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(dir+"/a/b", 0o777))
	must(os.WriteFile(dir+"/a/f", nil, 0o666))
	must(os.Symlink("a/b", dir+"/rel"))
	must(os.Symlink(dir+"/a", dir+"/abs"))
	must(os.Symlink("../../a/none/x", dir+"/a/b/dangling"))
	must(os.Symlink("loop", dir+"/loop"))
	must(os.Symlink("f/", dir+"/a/slash"))
	tests := map[string]struct {
		want   string
		exists bool
		err    error
	}{
		"/":             {"", true, nil},
		"/a/b":          {"/a/b", true, nil},
		"/a/./b//":      {"/a/b", true, nil},
		"/a/f":          {"/a/f", true, nil},
		"/a/b/..":       {"/a", true, nil},
		"/rel/..":       {"/a", true, nil}, // as the kernel does, not as text
		"/rel/../f":     {"/a/f", true, nil},
		"/abs/b/../f":   {"/a/f", true, nil},
		"/rel/dangling": {"/a/none/x", false, nil},
		"/new":          {"/new", false, nil},
		"/new/deep/x":   {"/new/deep/x", false, nil},
		"/new/../a":     {err: syscall.ENOENT},
		"/a/f/x":        {err: syscall.ENOTDIR},
		"/a/f/..":       {err: syscall.ENOTDIR},
		"/loop":         {err: syscall.ELOOP},
		"/a/slash":      {err: syscall.ENOTDIR},
		"/a/f/.":        {err: syscall.ENOTDIR},
		"/a/f/":         {err: syscall.ENOTDIR},
		"/a/\x00":       {err: syscall.EINVAL},
	}
	for path, tt := range tests {
		t.Run(path, func(t *testing.T) {
			p, err := Resolve(dir + path)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			defer p.Close()
			if p.Path != dir+tt.want || p.Exists != tt.exists {
				t.Errorf("got %s, %v", p.Path, p.Exists)
			}
			if _, err := p.Lstat(); errors.Is(err, fs.ErrNotExist) == tt.exists {
				t.Errorf("stat: %v", err)
			}
		})
	}
	if _, err := Resolve("relative"); err == nil {
		t.Error("a relative path is resolved")
	}
	root := resolve(t, "/../..")
	if st, err := root.Lstat(); root.Path != "/" || err != nil || !st.Mode.IsDir() {
		t.Errorf("%s: %v, %v", root.Path, st, err)
	}
}

// TestResolveAgreesWithTheKernel builds trees of directories, files and links
// and compares with what the operating system finds there.
func TestResolveAgreesWithTheKernel(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "..", "."})
	path := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(name, 1, 6).Draw(t, "names"), "/") })
	base := realTemp(t)
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		root := dir + "/x/y/z/x/y/z/x/y/z" // deep, so that ".." stays in it
		os.MkdirAll(root, 0o777)
		for range rapid.IntRange(0, 8).Draw(r, "entries") {
			at := filepath.Join(root, path.Draw(r, "at"))
			switch rapid.IntRange(0, 2).Draw(r, "kind") {
			case 0:
				os.MkdirAll(at, 0o777)
			case 1:
				os.WriteFile(at, nil, 0o666)
			case 2:
				os.Symlink(path.Draw(r, "to"), at)
			}
		}
		query := root + "/" + path.Draw(r, "query")
		info, osErr := os.Stat(query)
		p, err := Resolve(query)
		if osErr != nil {
			if err == nil {
				p.Close()
				if p.Exists {
					r.Fatalf("%s is %s, the kernel says %v", query, p.Path, osErr)
				}
			}
			return
		}
		if err != nil {
			r.Fatal(err)
		}
		defer p.Close()
		st, err := p.Lstat()
		if want, _ := filepath.EvalSymlinks(query); err != nil || p.Path != want || st.Inode != info.Sys().(*syscall.Stat_t).Ino {
			r.Fatalf("%s is %s (%v), want %s", query, p.Path, err, want)
		}
	})
}

func TestOpen(t *testing.T) {
	dir := realTemp(t)
	if err := os.WriteFile(dir+"/f", []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := resolve(t, dir+"/f").Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	for _, path := range []string{"/fifo", "/none", "", "/none/x"} {
		if f, err := resolve(t, dir+path).Open(); err == nil {
			f.Close()
			t.Errorf("%q was opened", path)
		}
	}
	if d, err := resolve(t, dir+"/f").OpenDir(); err == nil {
		d.Close()
		t.Error("a file was opened as a directory")
	}
}

func TestDirOpenFollowsNoLink(t *testing.T) {
	dir := realTemp(t)
	os.MkdirAll(dir+"/a/b", 0o777)
	os.WriteFile(dir+"/a/b/f", []byte("x"), 0o666)
	os.Symlink("a", dir+"/l")
	os.Symlink("f", dir+"/a/b/l")
	d, err := resolve(t, dir).OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := d.Open("a/b/f")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, path := range []string{"l/b/f", "a/b/l", "a/none/f", "a/b"} {
		if f, err := d.Open(path); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
	}
	if sub, err := d.Sub("l"); err == nil {
		sub.Close()
		t.Error("a link was opened as a directory")
	}
}

func TestReplace(t *testing.T) {
	dir := realTemp(t)
	p := resolve(t, dir+"/new/deep/f")
	st, err := p.Replace([]byte("one"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	now, err := p.Lstat()
	if err != nil || now != st || !p.Exists {
		t.Errorf("%v, %v; want %v", now, err, st)
	}
	if _, err := p.Replace([]byte("two"), 0o640, nil); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if _, err := p.Replace([]byte("three"), 0, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	b, err := os.ReadFile(dir + "/new/deep/f")
	if err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Stat(dir + "/new/deep/f"); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir + "/new/deep")
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestReplaceRefusesLinksInItsWay puts a link where a directory is to be made.
func TestReplaceRefusesLinksInItsWay(t *testing.T) {
	dir, outside := realTemp(t), realTemp(t)
	p := resolve(t, dir+"/new/f")
	if err := os.Symlink(outside, dir+"/new"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Replace([]byte("x"), 0, nil); err == nil {
		t.Error("written through the link")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written outside: %v", entries)
	}
}

func BenchmarkResolve(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		p, err := Resolve(dir)
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}
