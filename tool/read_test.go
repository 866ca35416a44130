package tool

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/message"
)

func TestReadLines(t *testing.T) {
	tests := map[string]struct {
		content string
		in      object
		set     string
		want    string
	}{
		"numbered":             {"a\nb\n", object{}, `{}`, "     1\ta\n     2\tb\n"},
		"no newline at end":    {"a\nb", object{}, `{}`, "     1\ta\n     2\tb\n"},
		"crlf and bom":         {"\xef\xbb\xbfa\r\nb\r\n", object{}, `{}`, "     1\ta\n     2\tb\n"},
		"empty":                {"", object{}, `{}`, "[the file is empty]"},
		"empty line":           {"\n", object{}, `{}`, "     1\t\n"},
		"offset":               {"a\nb\nc\n", object{"offset": 2}, `{}`, "     2\tb\n     3\tc\n"},
		"limit":                {"a\nb\nc\n", object{"limit": 1}, `{}`, "     1\ta\n[more lines follow: go on with offset 2]\n"},
		"limit at the end":     {"a\nb\n", object{"offset": 2, "limit": 1}, `{}`, "     2\tb\n"},
		"limit setting":        {"a\nb\n", object{"limit": 9}, `{"read":{"limit":1}}`, "     1\ta\n[more lines follow: go on with offset 2]\n"},
		"no line numbers":      {"a\nb\n", object{}, `{"read":{"line-numbers":false}}`, "a\nb\n"},
		"long line":            {"äöüß12\nb\n", object{}, `{"read":{"max-line-length":4}}`, "     1\täöüß [line cut, 2 more bytes]\n     2\tb\n"},
		"line of exact length": {"1234\n", object{}, `{"read":{"max-line-length":4}}`, "     1\t1234\n"},
		"not utf-8":            {"a\xffb\n", object{}, `{}`, "     1\ta\uFFFDb\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, settingsOf(tt.set))
			f.file("a.txt", tt.content)
			tt.in["path"] = "a.txt"
			f.same(f.ok("read", tt.in), tt.want)
		})
	}
}

func TestReadCutsVeryLongLines(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", strings.Repeat("x", 300_000)+"\nnext")
	f.same(f.ok("read", object{"path": "a.txt"}),
		"     1\t"+strings.Repeat("x", 2000)+" [line cut, 298000 more bytes]\n     2\tnext\n")
}

func TestReadBoundsItsResult(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", strings.Repeat(strings.Repeat("x", 1999)+"\n", 3000))
	text := f.ok("read", object{"path": "a.txt"})
	if len(text) > maxReadBytes+4096 {
		t.Errorf("%d bytes", len(text))
	}
	f.has(text, "[more lines follow: go on with offset ")
}

func TestReadRefusals(t *testing.T) {
	f := newFixture(t)
	f.file("a.txt", "1\n2\n3\n")
	f.file("empty", "")
	f.file("bin", "a\x00b")
	if err := syscall.Mkfifo(filepath.Join(f.root, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	f.fails("read", object{"path": "a.txt", "offset": 4}, "offset 4 exceeds file length of 3 lines")
	f.fails("read", object{"path": "empty", "offset": 2}, "offset 2 exceeds file length of 0 lines")
	f.fails("read", object{"path": "bin"}, "binary file of 3 bytes")
	f.fails("read", object{"path": "fifo"}, "fifo is a named pipe")
	f.fails("read", object{"path": "/dev/zero"}, "/dev/zero is a device")
	f.fails("read", object{"path": "no/such"}, "no/such does not exist")
	f.fails("read", object{"path": "a.txt/x"}, "not a directory")
	f.fails("read", object{"path": "a\x00b"}, "invalid argument")
	f.fails("read", object{"path": ""}, "path: minLength")
	f.fails("read", object{"path": "a.txt", "offset": 0}, "offset: minimum")
}

func TestReadImage(t *testing.T) {
	f := newFixture(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	f.file("a.png", b.String())
	r, err := f.run("read", object{"path": "a.png"})
	if err != nil {
		t.Fatal(err)
	}
	img, ok := r.Parts[1].(message.Image)
	if !ok || img.MediaType != "image/png" || !bytes.Equal(img.Data, b.Bytes()) {
		t.Errorf("got %v", r.Parts)
	}
	f.file("big.png", b.String()+strings.Repeat("x", maxImageBytes))
	f.fails("read", object{"path": "big.png"}, "too large")
}

func TestReadDirectory(t *testing.T) {
	f := newFixture(t)
	f.file("d/b.txt", "")
	f.file("d/a/x", "")
	if err := os.Symlink("b.txt", filepath.Join(f.root, "d/l")); err != nil {
		t.Fatal(err)
	}
	f.same(f.ok("read", object{"path": "d"}), "a/\nb.txt\nl@\n")
	f.same(f.ok("read", object{"path": "d", "limit": 1}), "a/\n[2 more entries: go on with offset 2]\n")
	f.same(f.ok("read", object{"path": "d", "offset": 3}), "l@\n")
	f.fails("read", object{"path": "d", "offset": 4}, "offset 4 exceeds the directory's 3 entries")
	if err := os.Mkdir(filepath.Join(f.root, "e"), 0o777); err != nil {
		t.Fatal(err)
	}
	f.same(f.ok("read", object{"path": "e"}), "[the directory is empty]")
}

func BenchmarkRead(b *testing.B) {
	root := b.TempDir()
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "line %d of a file that is read in a benchmark\n", i)
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	tools, err := Builtins(Env{Root: root, Exec: []string{"unused"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		plan, err := tools[0].Prepare(b.Context(), Call{Session: "s", Input: []byte(`{"path":"a.txt"}`)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := plan.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		plan.Close()
	}
}
