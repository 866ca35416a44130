package catalog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// writable is a catalog of a workspace in which profiles can be saved.
func writable(dir, home, history string, further ...string) *catalog.Catalog {
	return catalog.Open(catalog.Options{Sources: catalog.Standard(home, dir, further...), Workspace: dir, History: history})
}

func is[T any](v T) profile.Value[T] { return profile.Value[T]{V: v, Set: true} }

// fast is a profile with the keys of knot only.
func fast(name string) *profile.Profile {
	return &profile.Profile{Name: name, Provider: is("openai"), Model: is("gpt-4o"), SystemPrompt: is("Be fast.\n"), Tools: is(profile.Tools{})}
}

func contents(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// files lists what is below a folder.
func files(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out = append(out, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestSaveMakesAFile(t *testing.T) {
	roster := fast("a/deep")
	roster.TopP = is(0.5)
	described := fast("x")
	described.Description = is("Is fast.")
	described.SystemPrompt, described.Body, described.Model, described.Provider = profile.Value[string]{}, "Be fast.", is("openai/gpt-4o"), profile.Value[string]{}
	tests := []struct {
		name    string
		p       *profile.Profile
		dialect string
		want    string
	}{
		{"knot when it has no more", fast("fast"), "", "rig/profiles/fast.md"},
		{"roster when it has", roster, "", "profiles/a/deep.md"},
		{"as told", fast("fast"), "roster", "profiles/fast.md"},
		{"another folder", described, "opencode", ".opencode/agents/x.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := writable(dir, "", "")
			got, err := c.Save(t.Context(), tt.p, catalog.SaveOptions{Dialect: tt.dialect, IfAbsent: true})
			if err != nil {
				t.Fatal(err)
			}
			if files(t, dir) != tt.want || filepath.ToSlash(got.File) != tt.want {
				t.Errorf("%s in %s, want %s", got.File, files(t, dir), tt.want)
			}
			again, err := c.Get(tt.p.Name)
			if err != nil || again != got || !strings.HasSuffix(again.Model.V, "gpt-4o") {
				t.Errorf("%+v, %v", again, err)
			}
			if _, err := c.Save(t.Context(), tt.p, catalog.SaveOptions{IfAbsent: true}); !errors.Is(err, profile.ProfileExists) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestSaveRefuses(t *testing.T) {
	const mine = "---\nname: mine\ndescription: d\n---\nx\n"
	tests := []struct {
		name    string
		p       *profile.Profile
		o       catalog.SaveOptions
		prepare func(t *testing.T, dir string, c *catalog.Catalog)
		want    error
	}{
		{"a name that is a path", fast("../x"), catalog.SaveOptions{}, nil, profile.SchemaValidation},
		{"no name", fast(""), catalog.SaveOptions{}, nil, profile.SchemaValidation},
		{"no such dialect", fast("x"), catalog.SaveOptions{Dialect: "word"}, nil, profile.SchemaValidation},
		{"what the dialect cannot hold", &profile.Profile{Name: "x", Description: is("d"), TopP: is(0.5), Body: "b"}, catalog.SaveOptions{Dialect: "claude"}, nil, profile.SchemaValidation},
		{"what the dialect needs", &profile.Profile{Name: "x", Model: is("m"), SystemPrompt: is("p")}, catalog.SaveOptions{}, nil, profile.EmptyProvider},
		{"a revision of nothing", fast("x"), catalog.SaveOptions{IfMatch: "r"}, nil, profile.ProfileNotFound},
		{"another revision", fast("mine"), catalog.SaveOptions{IfMatch: "r"}, nil, profile.RevisionMismatch},
		{"a profile that is there", fast("mine"), catalog.SaveOptions{IfAbsent: true}, nil, profile.ProfileExists},
		{"a file that does not load", fast("bad"), catalog.SaveOptions{}, func(t *testing.T, dir string, _ *catalog.Catalog) {
			put(t, dir, "profiles/bad.md", "---\nname: [\n---\n")
		}, profile.InvalidYAML},
		{"a new one where such a file is", fast("bad"), catalog.SaveOptions{IfAbsent: true}, func(t *testing.T, dir string, _ *catalog.Catalog) {
			put(t, dir, "profiles/bad.md", "---\nname: [\n---\n")
		}, profile.ProfileExists},
		{"another profile's file", fast("x"), catalog.SaveOptions{}, func(t *testing.T, dir string, _ *catalog.Catalog) {
			put(t, dir, "rig/profiles/x.md", "---\nname: y\nprovider: p\nmodel: m\nsystem-prompt: z\n---\n")
		}, profile.ProfileExists},
		{"the user's folder", fast("home"), catalog.SaveOptions{}, func(t *testing.T, dir string, _ *catalog.Catalog) { put(t, dir+"/home", "profiles/home.md", text("")) }, profile.ReadOnly},
		{"memory", fast("mem"), catalog.SaveOptions{}, func(t *testing.T, _ string, c *catalog.Catalog) {
			if err := c.AddString("mem", text("")); err != nil {
				t.Fatal(err)
			}
		}, profile.ReadOnly},
		{"an ignored folder", fast("x"), catalog.SaveOptions{}, func(t *testing.T, dir string, _ *catalog.Catalog) { put(t, dir, ".gitignore", "rig/\n") }, profile.ProfileNotFound},
		{"a folder that leads out", fast("x"), catalog.SaveOptions{}, func(t *testing.T, dir string, _ *catalog.Catalog) {
			if err := os.Symlink(t.TempDir(), filepath.Join(dir, "rig")); err != nil {
				t.Fatal(err)
			}
		}, profile.IO},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "profiles/mine.md", mine)
			c := writable(dir, filepath.Join(dir, "home"), "")
			if tt.prepare != nil {
				tt.prepare(t, dir, c)
			}
			before := files(t, dir)
			if _, err := c.Save(t.Context(), tt.p, tt.o); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if got := files(t, dir); got != before {
				t.Errorf("left %s, there was %s", got, before)
			}
			if contents(t, filepath.Join(dir, "profiles/mine.md")) != mine {
				t.Error("another file changed")
			}
		})
	}
}

func TestSaveUpdatesTheFile(t *testing.T) {
	dir := t.TempDir()
	const before = "---\r\n# mine\r\nname: a\r\ndescription: d\r\nmodel: fake/one # cheap\r\ncolour: red\r\n---\r\nBody\r\n"
	put(t, dir, "profiles/sub/a.md", before)
	if err := os.Chmod(filepath.Join(dir, "profiles/sub/a.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub/a.md", filepath.Join(dir, "profiles/zlink.md")); err != nil {
		t.Fatal(err)
	}
	// What a crash left.
	put(t, dir, "profiles/sub/.a.md.roster-tmp", "half")
	c := writable(dir, "", "")
	p, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	changed := *p
	changed.Model.V = "fake/two"
	saved, err := c.Save(t.Context(), &changed, catalog.SaveOptions{IfMatch: p.Revision()})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, filepath.Join(dir, "profiles/sub/a.md")), strings.Replace(before, "one", "two", 1); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	info, err := os.Lstat(filepath.Join(dir, "profiles/sub/a.md"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if link, err := os.Lstat(filepath.Join(dir, "profiles/zlink.md")); err != nil || link.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", link.Mode(), err)
	}
	if got := files(t, dir); strings.Contains(got, "roster-tmp") {
		t.Errorf("left %s", got)
	}
	if _, err := c.Save(t.Context(), &changed, catalog.SaveOptions{IfMatch: p.Revision()}); !errors.Is(err, profile.RevisionMismatch) {
		t.Errorf("with the old revision: %v", err)
	}
	if saved.Revision() == p.Revision() || saved.Model.V != "fake/two" {
		t.Errorf("saved %+v", saved)
	}
}

func TestDelete(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"), "profiles/bad.md", "---\nname: [\n---\n", "home/profiles/h.md", text(""),
		"profiles/dev/config.json", `{"id":"dev","name":"Dev","description":"d"}`, "profiles/dev/system_prompt.txt", "Do.\n",
		"home/profiles/a.md", text("name: a\ntitle: home\n"))
	c := writable(dir, filepath.Join(dir, "home"), "")
	a, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, match string
		want        error
	}{
		{"../a", "", profile.SchemaValidation},
		{"none", "", profile.ProfileNotFound},
		{"a", "other", profile.RevisionMismatch},
		{"h", "", profile.ReadOnly},
		{"a", a.Revision(), nil},
		{"bad", "", nil},
		{"dev", "", nil},
	} {
		if err := c.Delete(t.Context(), tt.name, tt.match); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if got, want := files(t, dir), "home/profiles/a.md home/profiles/h.md"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
	if p, err := c.Get("a"); err != nil || p.Title.V != "home" {
		t.Errorf("then the earlier source: %+v, %v", p, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "profiles/dev")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestOneOfManySaversWins has many savers start from one revision.
func TestOneOfManySaversWins(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"))
	first, err := writable(dir, "", "").Get("a")
	if err != nil {
		t.Fatal(err)
	}
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		c := writable(dir, "", "") // as another process has it
		wg.Go(func() {
			p := *first
			p.Title = is(fmt.Sprint("title ", i))
			switch _, err := c.Save(t.Context(), &p, catalog.SaveOptions{IfMatch: first.Revision()}); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, profile.RevisionMismatch):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 15 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
}

// TestSaver is no test: it is the process that the tests below start and kill.
func TestSaver(t *testing.T) {
	dir, task := os.Getenv("ROSTER_TEST_DIR"), os.Getenv("ROSTER_TEST_TASK")
	switch task {
	case "":
		t.Skip("it runs as a process of its own")
	case "full":
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
			t.Fatal(err)
		}
		_, err := writable(dir, "", "").Save(t.Context(), big(1), catalog.SaveOptions{})
		if !errors.Is(err, profile.IO) || !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("saving gives %v", err)
		}
	default: // ends at a point of a save
		c := writable(dir, "", filepath.Join(dir, ".history"))
		c.SetReached(func(point string) {
			if point == task {
				if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				select {}
			}
		})
		if _, err := c.Save(t.Context(), big(1), catalog.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// big is a profile whose text takes several writes of the kernel.
func big(i int) *profile.Profile {
	p := fast("a")
	p.Body = strings.Repeat(fmt.Sprintln("line of save", i), 5000)
	p.Description = is("d")
	return p
}

func saver(t *testing.T, dir, task string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSaver$")
	cmd.Env = append(os.Environ(), "ROSTER_TEST_DIR="+dir, "ROSTER_TEST_TASK="+task)
	return cmd
}

// TestKilledSavers ends processes at each point of a save: the file holds all of
// the one text or of the other, nothing else is loaded, and the next save leaves
// nothing behind.
func TestKilledSavers(t *testing.T) {
	renamed := false
	for _, point := range catalog.Points() {
		dir := t.TempDir()
		c := writable(dir, "", filepath.Join(dir, ".history"))
		if _, err := c.Save(t.Context(), big(0), catalog.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		out, err := saver(t, dir, point).CombinedOutput()
		if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: %v\n%s", point, err, out)
		}

		renamed = renamed || point == "it is renamed"
		want := big(0).Body
		if renamed {
			want = big(1).Body
		}
		p, err := c.Get("a")
		if err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if p.Body != want {
			first, _, _ := strings.Cut(p.Body, "\n")
			t.Errorf("%s: the file begins with %q", point, first)
		}
		if names(c) != "a" || len(c.Diagnostics()) > 0 {
			t.Errorf("%s: profiles %s, %v", point, names(c), c.Diagnostics())
		}
		if _, err := c.Save(t.Context(), big(2), catalog.SaveOptions{}); err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if got := files(t, filepath.Join(dir, "profiles")); got != "a.md" {
			t.Errorf("%s: left %s", point, got)
		}
	}
}

// TestWhatIsInTheWay saves where a folder has the name of the file that is
// written first.
func TestWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/.a.md.roster-tmp/x", "mine")
	c := writable(dir, "", "")
	p := fast("a")
	p.TopP = is(0.5)
	if _, err := c.Save(t.Context(), p, catalog.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); got != "profiles/.a.md.roster-tmp/x profiles/a.md" {
		t.Errorf("%s", got)
	}
}

// TestDeleteOfWhatChanges has a file that an editor writes while it is to be
// deleted.
func TestDeleteOfWhatChanges(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"))
	history := filepath.Join(t.TempDir(), "history")
	c := writable(dir, "", history)
	c.SetReached(func(point string) {
		put(t, dir, "profiles/a.md", text("name: a\ntitle: new\n"))
	})
	if err := c.Delete(t.Context(), "a", ""); !errors.Is(err, profile.RevisionMismatch) {
		t.Errorf("%v", err)
	}
	if got := contents(t, filepath.Join(dir, "profiles/a.md")); !strings.Contains(got, "new") {
		t.Errorf("the file holds %q", got)
	}
}

// TestErrorsNameNoFolder has errors of folders outside of the workspace, and of
// the workspace itself: they are shown to others.
func TestErrorsNameNoFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("name: a\n"), "history", "a file")
	c := writable(dir, "", filepath.Join(dir, "history"))
	p, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	copied := *p
	copied.Title = is("x")
	if _, err := c.Save(t.Context(), &copied, catalog.SaveOptions{}); !errors.Is(err, profile.IO) || strings.Contains(err.Error(), dir) {
		t.Errorf("a history that is no folder: %v", err)
	}
	gone := writable(filepath.Join(dir, "gone"), "", "")
	if _, err := gone.Save(t.Context(), fast("b"), catalog.SaveOptions{}); !errors.Is(err, profile.IO) || strings.Contains(err.Error(), dir) {
		t.Errorf("a workspace that is gone: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	c := writable(dir, "", "")
	small := big(0)
	small.Body = "short"
	if _, err := c.Save(t.Context(), small, catalog.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	before := contents(t, filepath.Join(dir, "profiles/a.md"))
	if out, err := saver(t, dir, "full").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if contents(t, filepath.Join(dir, "profiles/a.md")) != before || files(t, dir) != "profiles/a.md" {
		t.Errorf("left %s", files(t, dir))
	}
}
