package catalog_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/profile"
)

func pipe(tb testing.TB, path string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		tb.Fatal(err)
	}
}

// TestHostileFiles puts one bad file beside a good one.
func TestHostileFiles(t *testing.T) {
	tests := []struct {
		name  string
		make  func(t *testing.T, dir string)
		names string // beside good
		code  string
	}{
		{name: "a file of 1 GB", make: func(t *testing.T, dir string) {
			put(t, dir, "x.md", text(""))
			if err := os.Truncate(filepath.Join(dir, "x.md"), 1<<30); err != nil {
				t.Fatal(err)
			}
		}, code: "x.md P106"},
		{name: "JSON of 1 GB", make: func(t *testing.T, dir string) {
			put(t, dir, "x.json", "{")
			if err := os.Truncate(filepath.Join(dir, "x.json"), 1<<30); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a pipe", make: func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "x.md")) }, code: "x.md P130"},
		{name: "a pipe of another kind", make: func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "x.yaml")) }},
		{name: "a socket", make: func(t *testing.T, dir string) {
			t.Chdir(dir) // for the path of a socket is short
			l, err := net.Listen("unix", "x.md")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, code: "x.md P130"},
		{name: "a pipe as the file of a directory profile", make: func(t *testing.T, dir string) {
			put(t, dir, "d/system_prompt.txt", "x")
			pipe(t, filepath.Join(dir, "d/config.json"))
		}, code: "d/config.json P130"},
		{name: "a folder", make: func(t *testing.T, dir string) { put(t, dir, "x.md/y.md", text("")) }, names: "x.md/y"},
		{name: "a link to itself", make: func(t *testing.T, dir string) { link(t, "x.md", filepath.Join(dir, "x.md")) }, code: "x.md P130"},
		{name: "two links to each other", make: func(t *testing.T, dir string) {
			link(t, "y", filepath.Join(dir, "x"))
			link(t, "x", filepath.Join(dir, "y"))
		}, code: "x P130\ny P130"},
		{name: "a link to its own folder", make: func(t *testing.T, dir string) { link(t, ".", filepath.Join(dir, "x")) }},
		{name: "a link to a device", make: func(t *testing.T, dir string) { link(t, "/dev/zero", filepath.Join(dir, "x.md")) }, code: "x.md P132"},
		{name: "a link out", make: func(t *testing.T, dir string) { link(t, "/etc/hostname", filepath.Join(dir, "x.md")) }, code: "x.md P132"},
		{name: "a link out, by a folder", make: func(t *testing.T, dir string) {
			link(t, "/etc", filepath.Join(dir, "etc"))
			link(t, "etc/hostname", filepath.Join(dir, "x.md"))
		}, code: "etc P132\nx.md P132"},
		{name: "not UTF-8", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text("title: \xff\xfe\n")) }, code: "x.md P105"},
		{name: "not UTF-8 in the body", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text("")+"\xff") }, code: "x.md P105"},
		{name: "NUL in the frontmatter", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text("title: a\x00b\n")) }, code: "x.md P103"},
		{name: "only NUL", make: func(t *testing.T, dir string) { put(t, dir, "x.md", strings.Repeat("\x00", 5000)) }, code: "x.md P101"},
		{name: "a name that is a path", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text("name: ../../x\n")) }, code: "x.md P117"},
		{name: "an absolute name", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text("name: /etc/x\n")) }, code: "x.md P117"},
		{name: "deep brackets", make: func(t *testing.T, dir string) {
			put(t, dir, "x.md", text("title: "+strings.Repeat("[", 60_000)+"\n"), "x.json", strings.Repeat("[", 200_000), "x.yaml", "agents: "+strings.Repeat("[", 200_000))
		}, code: "x.md P107\nx.yaml P107"},
		{name: "an alias bomb", make: func(t *testing.T, dir string) { put(t, dir, "x.md", text(bomb())) }, code: "x.md P107"},
		{name: "a line break in the name of a file", make: func(t *testing.T, dir string) { put(t, dir, "x\ny.md", text("")) }, code: "x\ny.md P117"},
		{name: "an escape in the name of a file", make: func(t *testing.T, dir string) { put(t, dir, "x\x1b[31m.md", text("")) }, code: "x\x1b[31m.md P117"},
		{name: "letters", make: func(t *testing.T, dir string) { put(t, dir, "Größe und Maß.md", text("")) }, names: "gr-e-und-ma", code: "Größe und Maß.md P118"},
		{name: "no letters", make: func(t *testing.T, dir string) { put(t, dir, "日本.md", text("")) }, code: "日本.md P117"},
		{name: "a name that is not UTF-8", make: func(t *testing.T, dir string) { put(t, dir, "x\xff.md", text("")) }, names: "x", code: "x\xff.md P118"},
		{name: ".gitignore of 10 MB", make: func(t *testing.T, dir string) {
			put(t, dir, ".gitignore", "secret.md\n"+strings.Repeat("a*b*c*d\n", 10<<20/8), "secret.md", text(""))
		}, code: ".gitignore P163"},
		{name: ".gitignore of one line", make: func(t *testing.T, dir string) { put(t, dir, ".gitignore", strings.Repeat("*", 2<<20)) }, code: ".gitignore P163"},
		{name: ".gitignore that is a link out", make: func(t *testing.T, dir string) { link(t, "/etc/hostname", filepath.Join(dir, ".gitignore")) }, code: ".gitignore P135"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "agents/good.md", text(""))
			tt.make(t, filepath.Join(dir, "agents"))
			c := workspace(dir)
			if got, want := names(c), strings.TrimSpace("good "+tt.names); got != want {
				t.Errorf("names %q, want %q", got, want)
			}
			var want []string
			for line := range strings.Lines(tt.code) {
				want = append(want, "agents/"+strings.TrimSuffix(line, "\n"))
			}
			if tt.code == "" {
				want = nil
			} else if strings.HasPrefix(tt.code, "x\ny") { // a line break that is in the name
				want = []string{"agents/" + tt.code}
			}
			if got := codes(c); got != strings.Join(want, "\n") {
				t.Errorf("diagnostics\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
			for _, d := range c.Diagnostics() {
				if len(d.Message) > 500 {
					t.Errorf("a message of %d bytes", len(d.Message))
				}
			}
		})
	}
}

// bomb is YAML of one line that expands to 9^9 values.
func bomb() string {
	s := "title: [&a0 [x,x,x,x,x,x,x,x,x]"
	for i := 1; i < 9; i++ {
		s += fmt.Sprintf(",&a%d [%s]", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return s + "]\n"
}

// TestBigFileTakesLittleMemory has the whole catalog look at several files of
// 1 GB.
func TestBigFileTakesLittleMemory(t *testing.T) {
	dir := t.TempDir()
	for i := range 8 {
		for _, ext := range []string{"md", "json", "yaml", "toml"} {
			name := fmt.Sprintf("agents/x%d.%s", i, ext)
			put(t, dir, name, text(""))
			if err := os.Truncate(filepath.Join(dir, name), 1<<30); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := workspace(dir)
	before := held()
	if got := strings.Count(codes(c), "P106"); got != 8 {
		t.Errorf("%d files are too large: %s", got, codes(c))
	}
	if more := held() - before; more > 16<<20 {
		t.Errorf("%d bytes are held", more)
	}
	runtime.KeepAlive(c)
}

// held is the memory in use after a collection, in bytes.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestDeepFolders makes a chain of folders that is longer than any path.
func TestDeepFolders(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/d/near.md", text(""))
	const depth = 2100
	at, err := unix.Open(filepath.Join(dir, "agents"), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	into := func(name string) {
		next, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(at)
		if at = next; err != nil {
			t.Fatal(err)
		}
	}
	for range depth {
		if err := unix.Mkdirat(at, "d", 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			t.Fatal(err)
		}
		into("d")
	}
	c := workspace(dir)
	deep := "agents/" + strings.TrimSuffix(strings.Repeat("d/", 65), "/")
	if names(c) != "d/near" || codes(c) != deep+" P161" {
		t.Errorf("names %q, diagnostics %q", names(c), codes(c))
	}
	for range depth - 1 { // the usual way to remove them opens all at once
		into("..")
		if err := unix.Unlinkat(at, "d", unix.AT_REMOVEDIR); err != nil {
			t.Fatal(err)
		}
	}
	unix.Close(at)
}

// TestFilesComeAndGoWhileRead has others create, remove and replace what is
// read. What is gone is gone; it is nobody's mistake.
func TestFilesComeAndGoWhileRead(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/good.md", text(""))
	var writers sync.WaitGroup
	stop := make(chan struct{})
	again := func(change func(i int) error) {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := change(i); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
					return
				}
			}
		})
	}
	in := func(name string) string { return filepath.Join(dir, "agents", name) }
	again(func(i int) error {
		name := in(fmt.Sprintf("x%d.md", i%10))
		return errors.Join(os.WriteFile(name+".new", []byte(text("")), 0o644), os.Rename(name+".new", name), os.Remove(name))
	})
	again(func(int) error { // a folder, and a file in its place
		return errors.Join(os.MkdirAll(in("f.md/g"), 0o755), os.WriteFile(in("f.md/g/h.md"), []byte(text("")), 0o644),
			os.RemoveAll(in("f.md")), os.WriteFile(in("f.md"), []byte(text("")), 0o644), os.Remove(in("f.md")))
	})
	t.Cleanup(func() {
		close(stop)
		writers.Wait()
	})
	c := workspace(dir)
	for range 300 {
		if _, err := c.Get("good"); err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Diagnostics() {
			if d.Code == profile.CodeIO || d.Code == profile.CodeLeaves {
				t.Fatalf("%s", d.Error())
			}
		}
	}
}

func TestFolderBecomesAFile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/x/a.md", text(""), "profiles/b.md", text(""))
	c := workspace(dir)
	if got := names(c); got != "b x/a" {
		t.Fatalf("names %q", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "agents")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "agents", "no folder", "agent", "nor this", ".claude", "nor this")
	if names(c) != "b" || codes(c) != "" {
		t.Errorf("names %q, diagnostics %s", names(c), codes(c))
	}
}

// TestMemoryGoesWithTheFiles holds what is kept of many files against their
// number.
func TestMemoryGoesWithTheFiles(t *testing.T) {
	const n = 5000
	dir := t.TempDir()
	for i := range n {
		put(t, dir, fmt.Sprintf("agents/f%d/a%d.md", i%50, i), text("model: m\n"))
	}
	before := held()
	c := workspace(dir)
	if got := c.Snapshot().Len(); got != n {
		t.Errorf("%d profiles", got)
	}
	const most = 6 << 10 // bytes for one profile with its places, stamp and path
	if more := (held() - before) / n; more > most {
		t.Errorf("%d bytes are held for each file", more)
	}
	runtime.KeepAlive(c)
}
