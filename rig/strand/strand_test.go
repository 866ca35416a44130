package strand_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/rig/strand"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func open(t testing.TB, dir string, o strand.Options) *strand.Dir {
	t.Helper()
	d, err := strand.Open(dir, o)
	must(t, err)
	return d
}

// folder is a new folder without links in its path.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestTemporaryNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a.md~": true, "a.tmp": true, ".a.md.swp": true, "a.swo": true, ".a.swx": true, ".#a.md": true, "#a.md#": true,
		"sedAb3x9Z": true, "4913": true, "a.md___jb_tmp___": true, "a.md___jb_old___": true, "a.iso.part": true, "a.crdownload": true, "a.md.vsctmp": true,
		"sedan.txt": false, "sedate.md": false, "sedan": false, "sedAb3x9Z.md": false, "sedAb3x9ZZ": false, "sed-b3x9Z": false, "Sedabcdef": false,
		"tmp": false, "part.md": false, "a.tmp.md": false, "#": false, "##": false, "#a": false, "4913.md": false, "14913": false, "swp": false,
	} {
		if got := strand.IsTemporary(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBinary(t *testing.T) {
	long := strings.Repeat("x", 8<<10-1)
	for _, c := range []struct {
		name, content string
		want          bool
	}{
		{"nothing", "", false},
		{"text", "hello\nwörld\n", false},
		{"a NUL", "a\x00b", true},
		{"Latin-1", "caf\xe9 au lait", true},
		{"a rune that ends with the file", "caf\xc3", true},
		{"a rune that the head cuts", long + "é and more", false},
		{"no rune at the end of the head", long + "\xff and more", true},
		{"a NUL behind the head", long + "xx\x00", false},
		{"UTF-16, little endian", "\xff\xfeh\x00i\x00", false},
		{"UTF-16, big endian", "\xfe\xff\x00h\x00i", false},
		{"UTF-32", "\xff\xfe\x00\x00h\x00\x00\x00", true},
		{"an image", "\x89PNG\r\n\x1a\n", true},
	} {
		if got := strand.IsBinary([]byte(c.content)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range [][2]string{
		{"hé", "hé"}, {"\xef\xbb\xbfhé", "hé"}, {"\xff\xfeh\x00\xe9\x00", "hé"}, {"\xfe\xff\x00h\x00\xe9", "hé"}, {"a\xffb", "a\ufffdb"}, {"", ""},
	} {
		if got := strand.Text([]byte(c[0])); got != c[1] {
			t.Errorf("%q = %q", c[0], got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("\xff\xfeh\x00\x00\xd8"))
	f.Add([]byte("\xef\xbb\xbfa\xff"))
	f.Fuzz(func(t *testing.T, content []byte) {
		text := strand.Text(content)
		if !utf8.ValidString(text) {
			t.Errorf("%q = %q", content, text)
		}
		if !strand.IsBinary(content) && utf8.Valid(content) && !bytes.HasPrefix(content, []byte("\xef\xbb\xbf")) && text != string(content) {
			t.Errorf("%q = %q", content, text)
		}
	})
}

func TestOpen(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "file"), "")
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for _, bad := range []string{"strands", filepath.Join(dir, "file"), filepath.Join(dir, "dangling", "x")} {
		var refused *strand.PathError
		if _, err := strand.Open(bad, strand.Options{}); !errors.As(err, &refused) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := strand.Open(dir, strand.Options{Ignore: strings.Split(strings.Repeat("x\n", 6000), "\n")}); err == nil {
		t.Error("6,000 globs are taken")
	}
	if d := open(t, filepath.Join(dir, "link", "later", "on"), strand.Options{}); d.Path() != filepath.Join(dir, "real", "later", "on") {
		t.Errorf("the path is %s", d.Path())
	}
}

func TestRead(t *testing.T) {
	top := folder(t)
	dir := filepath.Join(top, "strands")
	in := func(name string) string { return filepath.Join(dir, name) }
	put(t, filepath.Join(top, "secret"), "s")
	for name, text := range map[string]string{
		"a.md": "hello", "sub/b.md": "b", "empty": "", "x.bin": "a\x00", "big.md": strings.Repeat("x", 101), "just.md": strings.Repeat("x", 100),
		"a.md~": "old", ".env": "key", ".git/config": "c", "sub/.h/x": "h", "build/out.md": "o", "no.log": "l", "utf16": "\xff\xfea\x00",
	} {
		put(t, in(name), text)
	}
	for link, to := range map[string]string{
		"out": "../secret", "abs": filepath.Join(top, "secret"), "in": "a.md", "chain": "in", "tohidden": ".env", "totmp": "a.md~", "tobin": "x.bin",
		"loop": "loop", "dirlink": "sub", "gitlink": ".git", "self": ".", "todir": "sub",
	} {
		must(t, os.Symlink(to, in(link)))
	}
	must(t, syscall.Mkfifo(in("fifo"), 0o644))
	must(t, os.Symlink("fifo", in("tofifo")))
	d := open(t, dir, strand.Options{MaxSize: 100, Ignore: []string{"build/", "*.log"}})
	for _, c := range []struct {
		path, data string
		why        strand.Reason
	}{
		{"a.md", "hello", ""}, {"sub/b.md", "b", ""}, {"empty", "", ""}, {"just.md", strings.Repeat("x", 100), ""}, {"utf16", "\xff\xfea\x00", ""},
		{"in", "hello", ""}, {"chain", "hello", ""},
		{"x.bin", "", strand.Binary}, {"tobin", "", strand.Binary}, {"big.md", "", strand.TooLarge},
		{"a.md~", "", strand.Temporary}, {".env", "", strand.Hidden}, {".git/config", "", strand.Hidden}, {"sub/.h/x", "", strand.Hidden},
		{"build/out.md", "", strand.Ignored}, {"no.log", "", strand.Ignored},
		{"out", "", strand.Outside}, {"abs", "", strand.Outside}, {"tohidden", "", strand.Outside}, {"totmp", "", strand.Outside}, {"loop", "", strand.Outside},
		{"gitlink/config", "", strand.Outside}, {"dirlink/b.md", "", strand.Outside}, {"self", "", strand.Outside},
		{"../secret", "", strand.Outside}, {"/etc/passwd", "", strand.Outside}, {"sub/../a.md", "", strand.Outside}, {"..", "", strand.Outside}, {"", "", strand.Outside},
		{"fifo", "", strand.Irregular}, {"tofifo", "", strand.Irregular}, {"sub", "", strand.Irregular}, {"todir", "", strand.Irregular},
	} {
		got, err := d.Read(t.Context(), c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		want := ""
		if c.why == "" {
			want = digest(c.data)
		}
		if got.Skipped != c.why || string(got.Data) != c.data || got.Digest != want || got.Path != c.path {
			t.Errorf("%s: %+v", c.path, got)
		}
		if c.why == "" && (got.Size != int64(len(c.data)) || got.ModTime.IsZero() || got.Inode == 0) {
			t.Errorf("%s: %+v", c.path, got.File)
		}
	}
	for _, name := range []string{"none.md", "none/x.md", "a.md/x", ".none", "none.md~"} {
		if _, err := d.Read(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := open(t, filepath.Join(top, "later"), strand.Options{})
	if _, err := gone.Read(t.Context(), "a.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

func TestReadOfPathsOnly(t *testing.T) {
	dir := folder(t)
	big := strings.Repeat("0123456789", 1<<20)
	put(t, filepath.Join(dir, "big.md"), big)
	put(t, filepath.Join(dir, "x.bin"), "\x00")
	d := open(t, dir, strand.Options{PathOnly: true})
	if c, err := d.Read(t.Context(), "big.md"); err != nil || c.Digest != digest(big) || c.Data != nil || c.Skipped != "" {
		t.Errorf("%v, %+v", err, c.File)
	}
	if c, err := d.Read(t.Context(), "x.bin"); err != nil || c.Skipped != strand.Binary || c.Digest != "" {
		t.Errorf("%v, %+v", err, c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Read(ctx, "big.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestReadIsOfOneMoment reads a file that is written in place without a rest: what is
// read is one of the contents that were there, or *Restless.
func TestReadIsOfOneMoment(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "a.md")
	whole := func(c byte) string { return strings.Repeat(string(c), 60_000) }
	put(t, path, whole('a'))
	d := open(t, dir, strand.Options{})
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return
			}
			_, _ = f.WriteString(whole(byte('a' + i%26)))
			f.Close()
		}
	}()
	for range 5 {
		c, err := d.Read(t.Context(), "a.md")
		var restless *strand.Restless
		if errors.As(err, &restless) {
			continue
		}
		if err != nil || string(c.Data) != whole(c.Data[0]) {
			t.Errorf("%v: a mixture of %d bytes was read", err, len(c.Data))
		}
	}
	close(quit)
	<-done
	if _, err := d.Read(t.Context(), "a.md"); err != nil {
		t.Errorf("at rest: %v", err)
	}
}

func TestSame(t *testing.T) {
	at := time.Now()
	f := strand.File{Size: 3, ModTime: at}
	for _, c := range []struct {
		size int64
		mod  time.Time
		look time.Time
		want bool
	}{
		{3, at, at.Add(time.Minute), true},
		{3, at, at.Add(time.Second), false}, // another change may have the same time
		{3, at, at.Add(-time.Minute), false},
		{4, at, at.Add(time.Minute), false},
		{3, at.Add(1), at.Add(time.Minute), false},
	} {
		if got := f.Same(c.size, c.mod, c.look); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func listed(l strand.Listing) string {
	var out []string
	for _, f := range l.Files {
		name := f.Path
		if f.Skipped != "" {
			name += "=" + string(f.Skipped)
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	top := folder(t)
	dir := filepath.Join(top, "strands")
	for _, name := range []string{"a.md", "sub/b.md", "sub/deep/c.md", ".git/x", ".env", "a.md~", "node_modules/m.js", "sub/x.log", "sedan.txt", "big", "sub.md"} {
		put(t, filepath.Join(dir, name), name)
	}
	put(t, filepath.Join(top, "secret"), "s")
	put(t, filepath.Join(dir, "big"), strings.Repeat("x", 100))
	for link, to := range map[string]string{"in": "a.md", "out": "../secret", "dangling": "none", "dir": "sub", "up": ".", "toenv": ".env"} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	one := open(t, dir, strand.Options{Ignore: []string{"node_modules", "*.log"}, MaxSize: 99})
	two := open(t, dir, strand.Options{Ignore: []string{"/sub/", "in", "out"}})
	three := open(t, filepath.Join(dir, "sub"), strand.Options{})
	later := open(t, filepath.Join(top, "later"), strand.Options{})
	all, err := strand.Scan(t.Context(), one, three, two, later)
	must(t, err)
	for i, want := range []string{
		"a.md a.md~=temporary big=large dir=irregular fifo=irregular in out=outside sedan.txt sub.md sub/b.md sub/deep/c.md toenv=outside up=outside",
		"b.md deep/c.md x.log",
		"a.md a.md~=temporary big dir=irregular fifo=irregular node_modules/m.js sedan.txt sub.md toenv=outside up=outside",
		"",
	} {
		if got := listed(all[i]); got != want {
			t.Errorf("%d:\n got %s\nwant %s", i, got, want)
		}
	}
	if all[0].Missing || !all[3].Missing {
		t.Errorf("missing: %v, %v", all[0].Missing, all[3].Missing)
	}
	for _, f := range all[0].Files { // it is what Read says
		c, err := one.Read(t.Context(), f.Path)
		if err != nil || c.File != f {
			t.Errorf("%s: %v\n got %+v\nwant %+v", f.Path, err, c.File, f)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one.Scan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// big makes n files in folders of 1,000.
func big(t testing.TB, n int) string {
	dir := folder(t)
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("d%d/e%d", i/10_000, i/1000%10), fmt.Sprintf("f%d.md", i))
		if i%1000 == 0 {
			must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		must(t, os.WriteFile(name, nil, 0o644))
	}
	return dir
}

func BenchmarkScan(b *testing.B) {
	const n = 100_000
	d := open(b, big(b, n), strand.Options{Ignore: []string{"node_modules/", "*.log"}})
	b.ReportAllocs()
	for b.Loop() {
		l, err := d.Scan(b.Context())
		if err != nil || len(l.Files) != n {
			b.Fatal(err, len(l.Files))
		}
	}
}
