package skill

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/corpus"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// corpusPlaces are the folders of all real skills, each named by itself: those of
// plugins lie anywhere, and some lie in others.
func corpusPlaces(tb testing.TB) (dir string, places []Place, files int) {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(corpus.Dir(tb, func(p string) bool { return strings.EqualFold(path.Base(p), File) }))
	if err != nil {
		tb.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.EqualFold(e.Name(), File) {
			files++
			places = append(places, Further(filepath.Dir(p), dir, false, source.Origin{}))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return dir, places, files
}

// TestCorpus loads every real skill: each is loaded, or says why not, and what is
// said stands in the golden table.
func TestCorpus(t *testing.T) {
	dir, places, files := corpusPlaces(t)
	if files < 1400 {
		t.Fatalf("there are %d", files)
	}
	s := Open(dir, places).Snapshot()
	if len(s.ds) > 0 && len(s.ds) != 1 {
		t.Errorf("of the places: %d: %v", len(s.ds), s.ds[0])
	}
	var refused, shadowed, loaded int
	var lines []string
	codes := map[string]int{}
	for _, f := range s.Files() {
		switch {
		case f.Skill == nil:
			refused++
		case f.Shadowed:
			shadowed++
		default:
			loaded++
		}
		if f.Skill == nil && !profile.Refused(f.Problems) {
			t.Errorf("%s does not load and does not say why", f.File)
		}
		for _, d := range f.Problems {
			if d.File != f.File || d.Severity == profile.SeverityError && d.Line == 0 && d.Code != profile.CodeName {
				t.Errorf("%s: no place: %v", f.File, &d)
			}
			codes[d.Code]++
			if d.Code != profile.CodeSkillShadowed && d.Code != profile.CodeUnknownKey {
				lines = append(lines, fmt.Sprintf("%s:%d %s %s", d.File, d.Line, d.Code, d.Message))
			}
		}
	}
	if loaded+shadowed+refused != files {
		t.Errorf("%d files, and %d came to something", files, loaded+shadowed+refused)
	}
	slices.Sort(lines)
	head := fmt.Sprintf("%d files: %d load, %d are shadowed by one of the same name, %d are refused\n", files, loaded, shadowed, refused)
	for _, code := range []string{profile.CodeUnknownKey, profile.CodeSkillShadowed} {
		head += fmt.Sprintf("%s: %d times\n", code, codes[code])
	}
	golden(t, "testdata/corpus.txt", head+"\n"+strings.Join(lines, "\n")+"\n")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another than it was (UPDATE=1 writes it):\n%s", file, got)
	}
}

// BenchmarkIndex indexes all real skills, in one folder, from files that nobody has
// read yet, and looks at them again.
func BenchmarkIndex(b *testing.B) {
	from, places, files := corpusPlaces(b)
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	for i, p := range places {
		to := filepath.Join(dir, "skills", fmt.Sprintf("%s-%d", filepath.Base(p.Path), i))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(filepath.Join(from, p.Shown), to); err != nil && !os.IsNotExist(err) {
			b.Fatal(err)
		}
		_ = os.Chtimes(to, long, long)
	}
	_ = os.Chtimes(filepath.Join(dir, "skills"), long, long)
	standard := Standard("", "", dir)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			Open(dir, standard).Snapshot()
		}
		b.ReportMetric(float64(files), "skills")
	})
	b.Run("again", func(b *testing.B) {
		l := Open(dir, standard)
		l.Snapshot()
		l.telling = true // as it is two seconds after the last change
		for b.Loop() {
			l.Snapshot()
		}
	})
}
