package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

var some = []File{
	{"rig/a-loom/x.md", []byte("knot x\n")}, {"profiles/deep/base.md", []byte("base\n")}, {"rig/profiles/fast.md", []byte("fast\n")},
}

func written(t *testing.T, files []File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opened(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// TestRoundTrip: what is written is read, the same files make the same zip, and they are
// imported once.
func TestRoundTrip(t *testing.T) {
	data := written(t, some)
	turned := slices.Clone(some)
	slices.Reverse(turned)
	if !bytes.Equal(data, written(t, turned)) {
		t.Error("another order makes another zip")
	}
	files, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	root, dir := opened(t)
	for _, created := range []bool{true, false} {
		made, err := Import(root, "team-rig", files)
		want := []Made{{"profiles/deep/base.md", created}, {"team-rig/a-loom/x.md", created}, {"team-rig/profiles/fast.md", created}}
		if err != nil || !slices.Equal(made, want) {
			t.Errorf("made %v, %v", made, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "team-rig/a-loom/x.md")); err != nil || string(got) != "knot x\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNothingIsOverwritten: where a file differs, nothing is written at all.
func TestNothingIsOverwritten(t *testing.T) {
	root, dir := opened(t)
	if err := root.MkdirAll("rig/a-loom", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("rig/a-loom/x.md", []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	differs := (*DiffersError)(nil)
	if _, err := Import(root, "rig", some); !errors.As(err, &differs) || !slices.Equal(differs.Paths, []string{"rig/a-loom/x.md"}) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "profiles")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// TestLinksInTheWay: nothing is read or written through a link.
func TestLinksInTheWay(t *testing.T) {
	root, dir := opened(t)
	inside := filepath.Join(dir, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("inside", filepath.Join(dir, "rig")); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(root, "rig", some); err == nil || !strings.Contains(err.Error(), "rig is a link") {
		t.Error(err)
	}
	if left, err := os.ReadDir(inside); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	for _, name := range []string{"../rig", "rig/x", "other", "", "..-rig/x"} {
		if _, err := Import(root, name, some); err == nil {
			t.Errorf("imported as %q", name)
		}
	}
}

// zipped makes a zip of whatever names.
func zipped(t *testing.T, parts ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range parts {
		parts[i].Method = zip.Deflate
		w, err := z.CreateHeader(&parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(parts[i].Name, "/") {
			continue
		}
		if _, err := w.Write([]byte("text\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostileZips(t *testing.T) {
	one := func(name string) []byte { return zipped(t, zip.FileHeader{Name: name}) }
	link := zip.FileHeader{Name: "rig/a-loom/x.md"}
	link.SetMode(fs.ModeSymlink | 0o777)
	many := make([]zip.FileHeader, MaxFiles+1)
	for i := range many {
		many[i].Name = "profiles/a.md"
	}
	for name, data := range map[string][]byte{
		"no zip":          []byte("PK\x03\x04 but no more"),
		"nothing":         zipped(t),
		"parent":          one("../x.md"),
		"parent in it":    one("rig/a-loom/../../../x.md"),
		"parent as loom":  one("rig/../x.md"),
		"absolute":        one("/etc/x.md"),
		"backslashes":     one(`rig\a-loom\x.md`),
		"drive":           one("C:/x.md"),
		"hidden":          one("rig/a-loom/.x.md"),
		"control":         one("rig/a-loom/x\n.md"),
		"configuration":   one("roster.yaml"),
		"a tie-off":       one("rig/tie-offs/a-loom/tie-off-x.md"),
		"a program":       one("profiles/x.sh"),
		"no loom":         one("rig/a/x.md"),
		"below a loom":    one("rig/a-loom/b/x.md"),
		"a link":          zipped(t, link),
		"twice":           zipped(t, zip.FileHeader{Name: "rig/a-loom/x.md"}, zip.FileHeader{Name: "rig/a-loom/X.md"}),
		"too many":        zipped(t, many...),
		"a folder beside": zipped(t, zip.FileHeader{Name: "../"}, zip.FileHeader{Name: "../x.md"}),
	} {
		refused := (*Error)(nil)
		if files, err := Read(data); !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
	if files, err := Read(zipped(t, zip.FileHeader{Name: "rig/"}, zip.FileHeader{Name: "rig/a-loom/"}, zip.FileHeader{Name: "rig/a-loom/x.md"})); err != nil || len(files) != 1 {
		t.Errorf("with folders: %v, %v", files, err)
	}
}

// TestBomb: what is small as a zip and large as files is refused, of one file and of many.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range MaxSize/profile.MaxFile + 1 {
		w, err := z.Create("profiles/x" + string(rune('a'+i)) + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, profile.MaxFile)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	refused := (*Error)(nil)
	if _, err := Read(b.Bytes()); !errors.As(err, &refused) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
	if err := Write(&bytes.Buffer{}, []File{{"profiles/x.md", make([]byte, profile.MaxFile+1)}}); !errors.As(err, &refused) {
		t.Errorf("one that is too large: %v", err)
	}
}

// FuzzRead: what is read can be written again, and comes out the same.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, some); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Read(data)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := Write(&again, files); err != nil {
			t.Fatal(err)
		}
		same, err := Read(again.Bytes())
		if err != nil || !slices.EqualFunc(files, same, func(a, b File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) }) {
			t.Fatalf("%v became %v, %v", files, same, err)
		}
	})
}
