package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// put writes files below a folder: path, text, path, text.
func put(tb testing.TB, dir string, pairs ...string) {
	tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		p := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(pairs[i+1]), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// age makes every file old enough for its stamp to be trusted.
func age(tb testing.TB, dir string) {
	tb.Helper()
	then := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(p, then, then)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func text(keys string) string { return "---\ndescription: d\n" + keys + "---\nprompt\n" }

const broken = "---\ndescription: d\nmode: all\nmode: all\n---\nprompt\n"

func workspace(dir string, further ...string) *catalog.Catalog {
	return catalog.Open(catalog.Options{Sources: catalog.Standard("", dir, further...)})
}

func names(c *catalog.Catalog) string {
	var out []string
	for p := range c.List() {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

func codes(c *catalog.Catalog) string {
	var out []string
	for _, d := range c.Diagnostics() {
		out = append(out, d.File+" "+d.Code)
	}
	return strings.Join(out, "\n")
}

func TestSources(t *testing.T) {
	knot := "---\nname: fast\nprovider: p\nmodel: m\nsystem-prompt: s\n---\n"
	tests := []struct {
		name        string
		files       []string
		further     []string
		names, code string
	}{
		{name: "nothing"},
		{name: "every folder", files: []string{
			"profiles/a.md", text(""), "rig/profiles/fast.md", knot, "x-rig/profiles/slow.md", strings.Replace(knot, "fast", "slow", 1),
			".opencode/agent/o.md", text(""), ".opencode/agents/n/o.md", text(""), "agent/b.md", text(""), "agents/c/d.md", text(""),
			"docs/e.md", text("name: e\n"), "f.md", text("name: f\n")},
			names: "a b c/d fast n/o o slow"},
		{name: "further folders", files: []string{"more/x.md", text("")}, further: []string{"more", "missing"}, names: "x"},
		{name: "other files pass", files: []string{"profiles/a.md", text(""), "profiles/a.png", "x", "profiles/b.txt", "x", "agents/README.md", "# x", "agents/s/SKILL.md", text("name: s\n")}, names: "a"},
		{name: "hidden files are not read", files: []string{"profiles/.a.md", text(""), "profiles/.x/a.md", text(""), "profiles/a.md", text("")}, names: "a"},
		{name: "bad files hide none", files: []string{"profiles/a.md", text(""), "profiles/b.md", broken, "profiles/c.md", "no frontmatter", "profiles/d.md", text("")},
			names: "a d", code: "profiles/b.md P104\nprofiles/c.md P101"},
		{name: "ignored by git", files: []string{".gitignore", "agents/\n/profiles/old*\n", "profiles/.gitignore", "*.tmp.md\n!keep.tmp.md\n",
			"agents/a.md", text(""), "profiles/old.md", text(""), "profiles/x/old.md", text(""), "profiles/a.tmp.md", text(""), "profiles/keep.tmp.md", text("")},
			names: "keep.tmp x/old"},
		{name: "the last source wins and both are named", files: []string{"profiles/a.md", text(""), "agents/x.md", text("name: a\n")}, names: "a", code: "profiles/a.md P131"},
		{name: "a refused file keeps its name from earlier sources", files: []string{"profiles/a.md", text(""), "profiles/b.md", text(""), "agents/a.md", broken},
			names: "b", code: "agents/a.md P104\nagents/a.md P133"},
		{name: "a refused file leaves its name to its own folder", files: []string{"profiles/a.md", text(""), "profiles/b.md", "---\nname: a\ndescription: d\nmode: all\nmode: all\n---\nprompt\n"},
			names: "a", code: "profiles/b.md P104"},
		{name: "a later good file wins over a refused one", files: []string{"profiles/a.md", broken, "agents/a.md", text("")}, names: "a", code: "profiles/a.md P104"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tt.files...)
			c := workspace(dir, tt.further...)
			if got := names(c); got != tt.names {
				t.Errorf("names %q, want %q", got, tt.names)
			}
			if got := codes(c); got != tt.code {
				t.Errorf("diagnostics\n%s\nwant\n%s", got, tt.code)
			}
		})
	}
}

func TestUserFolderComesFirst(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	put(t, home, "profiles/a.md", text("model: user\n"), "profiles/b.md", text(""))
	put(t, dir, "profiles/a.md", text("model: workspace\n"))
	c := catalog.Open(catalog.Options{Sources: catalog.Standard(home, dir)})
	p, err := c.Get("a")
	if err != nil || p.Model.V != "workspace" {
		t.Fatalf("%+v %v", p, err)
	}
	if got, want := codes(c), filepath.Join(home, "profiles/a.md")+" P131"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s := c.Snapshot()
	if ds := s.DiagnosticsOf(p); len(ds) != 0 || s.Len() != 2 {
		t.Errorf("%d profiles, diagnostics of the winner: %v", s.Len(), ds)
	}
	if want := "a is also defined in profiles/a.md, which wins"; c.Diagnostics()[0].Message != want {
		t.Errorf("got %q, want %q", c.Diagnostics()[0].Message, want)
	}
}

func TestGet(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/reviewer.md", text(""), "profiles/bad.md", broken, "profiles/evil.md", text("name: ../evil\n"))
	c := workspace(dir)
	p, err := c.Get("reviewer")
	if err != nil || p.Name != "reviewer" || p.File != "profiles/reviewer.md" || p.Dialect != "roster" || p.Revision() == "" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = c.Get("reviewr")
	var nf *catalog.NotFoundError
	if !errors.Is(err, profile.ProfileNotFound) || !errors.As(err, &nf) || err.Error() != "profile not found: reviewr (nearest: reviewer)" {
		t.Errorf("got %v", err)
	}
	_, err = c.Get("bad")
	var le *profile.LoadError
	if !errors.Is(err, profile.InvalidYAML) || !errors.As(err, &le) || le.Path != "profiles/bad.md" {
		t.Errorf("got %v", err)
	}
	if _, err = c.Get("evil"); !errors.Is(err, profile.SchemaValidation) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"", "../evil", "/etc/passwd", "profiles/reviewer"} {
		if _, err := c.Get(name); !errors.Is(err, profile.ProfileNotFound) {
			t.Errorf("Get(%q): %v", name, err)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "profiles/a.md"), 0o755); err != nil { // a folder of that name is no file
			t.Fatal(err)
		}
		if got := names(workspace(dir)); got != "" {
			t.Errorf("got %q", got)
		}
		return
	}
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text(""))
	if err := os.Chmod(filepath.Join(dir, "profiles/a.md"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace(dir).Get("a"); !errors.Is(err, profile.IO) {
		t.Errorf("got %v", err)
	}
}

func TestReadsAreFresh(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "profiles/a.md")
	put(t, dir, "profiles/a.md", text("model: one\n"))
	c := workspace(dir)
	model := func(want string) {
		t.Helper()
		p, err := c.Get("a")
		if err != nil {
			t.Fatal(err)
		}
		if p.Model.V != want {
			t.Errorf("model %q, want %q", p.Model.V, want)
		}
	}
	model("one")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "profiles/a.md", text("model: two\n")) // same size, perhaps in the same tick
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	model("two")
	age(t, dir)
	model("two")
	then := time.Now().Add(-time.Hour)
	put(t, dir, "profiles/new.tmp", text("model: six\n"))
	if err := os.Rename(filepath.Join(dir, "profiles/new.tmp"), file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
	model("six") // same size and mtime, another inode

	put(t, dir, "profiles/b.md", text(""))
	if got := names(c); got != "a b" {
		t.Errorf("after an add: %q", got)
	}
	if err := os.Rename(file, filepath.Join(dir, "profiles/c.md")); err != nil {
		t.Fatal(err)
	}
	if got := names(c); got != "b c" {
		t.Errorf("after a rename: %q", got)
	}
	put(t, dir, "profiles/b.md", broken)
	if _, err := c.Get("b"); !errors.Is(err, profile.InvalidYAML) {
		t.Errorf("after it broke: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "profiles")); err != nil {
		t.Fatal(err)
	}
	if got := names(c); got != "" {
		t.Errorf("after the folder went: %q", got)
	}
	put(t, dir, "profiles/a.md", text("model: one\n"))
	model("one")
}

func TestUnchangedIsNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text(""), "profiles/b.md", text(""))
	c := workspace(dir)
	a, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	first := c.Snapshot()
	if again, _ := c.Get("a"); again != a || c.Snapshot() != first {
		t.Error("a young file with the same bytes was parsed again")
	}
	age(t, dir)
	c.Snapshot()
	put(t, dir, "profiles/b.md", text("model: x\n"))
	if again, _ := c.Get("a"); again != a {
		t.Error("a was parsed again because b changed")
	}
	if c.Snapshot() == first {
		t.Error("the change of b was not seen")
	}
}

func TestCheckDoesNotHideAChange(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text(""))
	c := workspace(dir)
	names(c)
	put(t, dir, "profiles/b.md", text(""))
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if got := names(c); got != "a b" {
		t.Errorf("got %q", got)
	}
}

func TestLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret.md", text(""), "d/x.md", text(""))
	put(t, dir, "profiles/real/a.md", text(""), "shared/s.md", text(""))
	links := map[string]string{
		"profiles/in.md":     "real/a.md",
		"profiles/shared.md": "../shared/s.md",
		"profiles/out.md":    filepath.Join(outside, "secret.md"),
		"profiles/up.md":     "../../../../../../../../etc/hostname",
		"profiles/outdir":    filepath.Join(outside, "d"),
		"profiles/gone.md":   "nothing",
		"profiles/real/loop": "..",
		"profiles/zdir":      "real",
	}
	for from, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	c := workspace(dir)
	if got, want := names(c), "in real/a shared"; got != want {
		t.Errorf("names %q, want %q", got, want)
	}
	if got, want := codes(c), "profiles/gone.md P132\nprofiles/out.md P132\nprofiles/outdir P132\nprofiles/up.md P132"; got != want {
		t.Errorf("diagnostics\n%s\nwant\n%s", got, want)
	}
}

func TestSourceThatIsALinkOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "x.md", text(""))
	if err := os.Symlink(outside, filepath.Join(dir, "profiles")); err != nil {
		t.Fatal(err)
	}
	c := workspace(dir)
	if names(c) != "" || codes(c) != "profiles P132" {
		t.Errorf("got %q and %q", names(c), codes(c))
	}
}

func TestAdd(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/nested/deep.md", text(""), "agents/top.md", text(""), "docs/notes.md", "# Notes\n", "bad.md", broken)
	t.Run("the folder or its parent", func(t *testing.T) {
		for _, d := range []string{dir, filepath.Join(dir, "agents")} {
			c := catalog.Open(catalog.Options{})
			if err := c.AddDir(d); err != nil {
				t.Fatal(err)
			}
			if got := names(c); got != "nested/deep top" {
				t.Errorf("%s: %q", d, got)
			}
		}
	})
	t.Run("memory wins over files", func(t *testing.T) {
		c := workspace(dir)
		if err := c.AddString("top", text("model: m\n")); err != nil {
			t.Fatal(err)
		}
		data := []byte(text("name: other\n"))
		if err := c.AddBytes("", data); err != nil {
			t.Fatal(err)
		}
		clear(data)
		p, err := c.Get("top")
		if err != nil || p.Model.V != "m" || p.File != catalog.Memory {
			t.Errorf("%+v %v", p, err)
		}
		if got := names(c); got != "nested/deep other top" {
			t.Errorf("got %q", got)
		}
		if got := codes(c); got != "agents/top.md P131" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a file", func(t *testing.T) {
		c := catalog.Open(catalog.Options{})
		if err := c.AddFile(filepath.Join(dir, "agents/nested/deep.md")); err != nil {
			t.Fatal(err)
		}
		if got := names(c); got != "nested/deep" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("errors", func(t *testing.T) {
		c := catalog.Open(catalog.Options{})
		for name, tt := range map[string]struct {
			err  error
			want error
		}{
			"missing file":      {c.AddFile(filepath.Join(dir, "none.md")), profile.IO},
			"bad file":          {c.AddFile(filepath.Join(dir, "bad.md")), profile.InvalidYAML},
			"file as a folder":  {c.AddDir(filepath.Join(dir, "bad.md")), profile.IO},
			"text without name": {c.AddString("", text("")), profile.SchemaValidation},
			"no frontmatter":    {c.AddString("x", "hello"), profile.MissingFrontmatter},
			"missing folder":    {c.AddDir(filepath.Join(dir, "none")), nil},
		} {
			if !errors.Is(tt.err, tt.want) || tt.want == nil && tt.err != nil {
				t.Errorf("%s: %v", name, tt.err)
			}
		}
		if names(c) != "" || codes(c) != "" {
			t.Errorf("what failed was added: %q %q", names(c), codes(c))
		}
	})
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("moods: x\n"), "profiles/b.md", broken, "profiles/x.png", "x",
		"agents/a.md", text(""), "README.md", "# x", "node_modules/.keep", "", "node_modules/agents/z.md", text(""), ".gitignore", "node_modules/\n")
	t.Chdir(dir)
	c := workspace(dir)
	brief := func(r *catalog.Report) string {
		var lines []string
		for _, f := range r.Files {
			line := strings.Join([]string{f.Path, f.Status, f.Dialect, f.Name}, " ")
			for _, d := range f.Diagnostics {
				line += " " + d.Code
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.Join(append(lines, fmt.Sprint(r.Summary)), "\n")
	}
	abs := filepath.Join(dir, "profiles", "a.md")
	tests := []struct {
		name  string
		paths []string
		want  string
	}{
		{"the catalog", nil, "profiles/a.md loaded roster a P112 P131\nprofiles/b.md refused roster b P104\nprofiles/x.png ignored\nagents/a.md loaded opencode a\n{2 1 1 2}"},
		{"a folder", []string{"profiles"}, "a.md loaded roster a P112\nb.md refused roster b P104\nx.png ignored\n{1 1 1 1}"},
		{"all", []string{"."}, "README.md ignored\nagents/a.md loaded opencode a P131\nprofiles/a.md loaded roster a P112\nprofiles/b.md refused roster b P104\nprofiles/x.png ignored\n{2 1 2 2}"},
		{"a file", []string{"profiles/a.md"}, "profiles/a.md loaded roster a P112\n{1 0 0 1}"},
		{"an absolute file", []string{abs}, abs + " loaded roster a P112\n{1 0 0 1}"},
		{"a file of another kind", []string{"profiles/x.png"}, "profiles/x.png ignored\n{0 0 1 0}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := c.Check(tt.paths...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, brief(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := c.Check("nothing"); !errors.Is(err, profile.IO) {
		t.Errorf("a missing path: %v", err)
	}
	r, err := c.Check("agents")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	want := `{"files":[{"path":"a.md","status":"loaded","dialect":"opencode","name":"a","diagnostics":[]}],"summary":{"loaded":1,"refused":0,"ignored":0,"warnings":0}}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestHeadless(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "agents/a.md", text("permission: {task: ask}\n"))
	c := catalog.Open(catalog.Options{Sources: catalog.Standard("", dir), Headless: true})
	if _, err := c.Get("a"); !errors.Is(err, profile.SchemaValidation) {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		put(t, dir, fmt.Sprintf("profiles/p%d.md", i), text(""))
	}
	c := workspace(dir)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				switch g {
				case 0:
					put(t, dir, fmt.Sprintf("profiles/p%d.md", i), text(fmt.Sprintf("model: m%d\n", i)))
				case 1:
					if err := c.AddString("mem", text("")); err != nil {
						t.Error(err)
					}
				case 2:
					if _, err := c.Check(); err != nil {
						t.Error(err)
					}
				default:
					if _, err := c.Get("p49"); err != nil {
						t.Error(err)
					}
					c.Diagnostics()
				}
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		if p, err := c.Get(fmt.Sprintf("p%d", i)); err != nil || p.Model.V != fmt.Sprintf("m%d", i) {
			t.Errorf("p%d: %v %v", i, p, err)
		}
	}
}

// TestPipesHoldNobodyUp: what is no regular file is not read, also where a file
// is expected.
func TestPipesHoldNobodyUp(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "profiles"), 0o777); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "profiles", ".gitignore")
	file := filepath.Join(dir, "one.md")
	for _, p := range []string{pipe, file} {
		if err := syscall.Mkfifo(p, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := catalog.Open(catalog.Options{Sources: catalog.Standard("", dir, file)})
	var found []string
	for _, d := range c.Diagnostics() {
		found = append(found, d.File)
	}
	if want := []string{"profiles/.gitignore", file}; !slices.Equal(found, want) {
		t.Errorf("diagnostics of %q, want %q", found, want)
	}
	if err := c.AddFile(file); !errors.Is(err, profile.IO) {
		t.Errorf("added: %v", err)
	}
}
