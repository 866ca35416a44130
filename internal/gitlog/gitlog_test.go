package gitlog_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/gitlog"
)

// repo is a repository made by git itself.
type repo struct {
	t   *testing.T
	dir string
	day int
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("git is needed: %v", err)
	}
	r := &repo{t: t, dir: t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	date := time.Date(2024, 1, 1+r.day, 10, 0, 0, 0, time.UTC).Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.org",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	p := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(message string) string {
	r.day++
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

func (r *repo) log(paths ...string) []gitlog.Commit {
	r.t.Helper()
	return logIn(r.t, r.dir, paths...)
}

func logIn(t *testing.T, dir string, paths ...string) []gitlog.Commit {
	t.Helper()
	repo, err := gitlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	out, err := repo.Log(t.Context(), paths, 100)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func subjects(log []gitlog.Commit) string {
	var s []string
	for _, c := range log {
		s = append(s, c.Subject)
	}
	return strings.Join(s, " ")
}

func TestLogAgreesWithGit(t *testing.T) {
	r := newRepo(t)
	r.write("a/x.md", "1")
	r.write("y.md", "1")
	first := r.commit("one\n\nmore text")
	r.write("y.md", "2")
	r.commit("other")
	r.write("a/x.md", "2")
	r.commit("two")
	r.git("checkout", "-q", "-b", "side")
	r.write("a/x.md", "side")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.write("y.md", "3")
	r.commit("main")
	r.day++
	r.git("merge", "-q", "--no-ff", "-m", "merged", "side")
	r.git("rm", "-q", "a/x.md")
	gone := r.commit("gone")
	r.write("a/x.md", "back")
	r.commit("back")

	for _, packed := range []bool{false, true} {
		if packed {
			r.git("gc", "-q")
			r.git("pack-refs", "--all")
		}
		got := r.log("a/x.md")
		if want := "back side two one"; subjects(got) != want {
			t.Errorf("packed %v: %q, want %q", packed, subjects(got), want)
		}
		var hashes []string
		for _, c := range got {
			hashes = append(hashes, c.Hash)
		}
		if want := slices.DeleteFunc(strings.Fields(r.git("log", "--format=%H", "--", "a/x.md")), func(h string) bool { return h == gone }); !slices.Equal(hashes, want) {
			t.Errorf("got %v, git says %v", hashes, want)
		}
		last := got[len(got)-1]
		if last.Hash != first || last.Author != "Ann <ann@example.org>" || last.Time.Format("2006-01-02") != "2024-01-02" {
			t.Errorf("%+v", last)
		}
	}
	if got, want := subjects(r.log("a/x.md", "y.md")), "back gone merged main side two other one"; got != want {
		t.Errorf("two files: %q, want %q", got, want)
	}
	if got := r.log("nothing.md"); len(got) != 0 {
		t.Errorf("a file that never was: %v", got)
	}
	if got := r.log("y.md/below"); len(got) != 0 {
		t.Errorf("a file below a file: %v", got)
	}
}

func TestRead(t *testing.T) {
	r := newRepo(t)
	r.write("a/x.md", "one\r\n")
	first := r.commit("1")
	r.write("a/x.md", "two")
	if err := os.Symlink("a/x.md", filepath.Join(r.dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	second := r.commit("2")
	repo, err := gitlog.Open(filepath.Join(r.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if repo.Top != r.dir {
		t.Errorf("the top is %s", repo.Top)
	}
	for _, tt := range []struct {
		commit, path, want string
		most               int
		err                error
	}{
		{first, "a/x.md", "one\r\n", 100, nil},
		{second, "a/x.md", "two", 3, nil},
		{first, "b.md", "", 100, fs.ErrNotExist},
		{first, "a", "", 100, fs.ErrNotExist},
		{second, "link.md", "", 100, fs.ErrNotExist},
	} {
		got, err := repo.Read(tt.commit, tt.path, tt.most)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s in %s: %q, %v", tt.path, tt.commit, got, err)
		}
	}
	if _, err := repo.Read(second, "a/x.md", 2); err == nil {
		t.Error("more than the bound was read")
	}
	if _, err := repo.Read(strings.Repeat("0", 40), "a/x.md", 2); err == nil {
		t.Error("no such commit, and no error")
	}
}

func TestPlacesOfARepository(t *testing.T) {
	r := newRepo(t)
	if got := r.log("x.md"); len(got) != 0 {
		t.Errorf("without a commit: %v", got)
	}
	r.write("x.md", "1")
	r.commit("1")
	r.write("x.md", "2")
	r.commit("2")

	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "-q", "--detach", tree)
	if got := subjects(logIn(t, tree, "x.md")); got != "2 1" {
		t.Errorf("in a second working tree: %q", got)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
	if got := subjects(logIn(t, shallow, "x.md")); got != "2" {
		t.Errorf("in a shallow clone: %q", got)
	}
	shared := filepath.Join(t.TempDir(), "shared")
	r.git("clone", "-q", "--shared", r.dir, shared)
	if got := subjects(logIn(t, shared, "x.md")); got != "2 1" {
		t.Errorf("with the objects of another: %q", got)
	}
	if _, err := gitlog.Open(t.TempDir()); !errors.Is(err, gitlog.ErrNone) {
		t.Errorf("without a repository: %v", err)
	}
}

// TestNothingRuns has a repository whose configuration names programs for all
// that git would run in it.
func TestNothingRuns(t *testing.T) {
	r := newRepo(t)
	r.write("x.md", "1")
	commit := r.commit("1")
	mark := filepath.Join(t.TempDir(), "ran")
	run := "touch " + mark
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "filter.evil.smudge", "diff.evil.textconv", "core.hooksPath"} {
		r.git("config", key, run)
	}
	r.write(".gitattributes", "* filter=evil diff=evil\n")
	r.log("x.md")
	repo, err := gitlog.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if _, err := repo.Read(commit, "x.md", 10); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something ran: %v", err)
	}
}

func TestDamagedRepositories(t *testing.T) {
	for name, damage := range map[string]func(git string) error{
		"no objects":     func(git string) error { return os.RemoveAll(filepath.Join(git, "objects")) },
		"a bad HEAD":     func(git string) error { return os.WriteFile(filepath.Join(git, "HEAD"), []byte("\x00"), 0o644) },
		"a loop of refs": func(git string) error { return os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: HEAD\n"), 0o644) },
		"bad objects": func(git string) error {
			return filepath.WalkDir(filepath.Join(git, "objects"), func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				os.Chmod(p, 0o644)
				return os.WriteFile(p, []byte("\x78\x9c bad"), 0o644)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write("x.md", "1")
			r.commit("1")
			if err := damage(filepath.Join(r.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			repo, err := gitlog.Open(r.dir)
			if err != nil {
				return
			}
			defer repo.Close()
			if got, err := repo.Log(t.Context(), []string{"x.md"}, 10); err == nil && len(got) > 0 {
				t.Errorf("%v", got)
			}
		})
	}
}
