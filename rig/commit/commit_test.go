package commit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/internal/git"
	"github.com/rosterrun/roster/rig/commit"
	"github.com/rosterrun/roster/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// place is a repository to work in.
type place struct {
	*testing.T
	top string
	env map[string]string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, top: git.Real(t.TempDir())}
	p.env = map[string]string{"PATH": os.Getenv("PATH"), "HOME": git.Real(t.TempDir()), "GIT_CONFIG_NOSYSTEM": "1", "GORACE": os.Getenv("GORACE")}
	p.sh("git init -q -b main . && git config user.name P && git config user.email p@example.com; mkdir sub; echo 1 > a.md; echo 1 > b.md; echo 1 > sub/c.md; git add -A && git commit -qm first")
	return p
}

// sh runs what a person would type.
func (p *place) sh(line string) string {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), "bash", "-ec", line)
	cmd.Dir = p.top
	for k, v := range p.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) commit(job string, files ...string) commit.Result {
	p.Helper()
	r, err := p.try(job, files...)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *place) try(job string, files ...string) (commit.Result, error) {
	return commit.Commit(p.Context(), p.top, files, "review: a.md", job, commit.Options{Helper: sandbox.Self(), Getenv: func(name string) string { return p.env[name] }})
}

// is holds what a command says against what it should.
func (p *place) is(line, want string) {
	p.Helper()
	if got := p.sh(line); got != want {
		p.Errorf("%s:\n got %q\nwant %q", line, got, want)
	}
}

const changed = "git show --format= --no-renames --name-status HEAD | tr '\\t\\n' '  '"

func TestCommit(t *testing.T) {
	p := newPlace(t)
	p.sh("echo 2 > a.md; echo new > n.md; rm sub/c.md; echo mine > b.md; echo no > other.md")
	r := p.commit("j1", "a.md", filepath.Join(p.top, "n.md"), "sub/c.md", "a.md")
	p.is(changed, "M a.md A n.md D sub/c.md")
	p.is("git status --porcelain", "M b.md\n?? other.md")
	p.is("git log -1 --format=%H", r.Hash)
	p.is("git log -1 --format=%B", "review: a.md\n\nRoster-Job: j1")
	p.is("git log -1 '--format=%an <%ae> %cn'", "P <p@example.com> P")
	p.is("git fsck --strict 2>&1 | grep -v dangling || true", "")
	if len(r.Skipped) != 0 || r.Behind || r.Before {
		t.Errorf("%+v", r)
	}
	p.sh("echo 3 > a.md")
	if again := p.commit("j1", "a.md"); again.Hash != r.Hash || !again.Before {
		t.Errorf("the same job: %+v", again)
	}
	p.sh("git commit -qam later")
	if again := p.commit("j1", "a.md", "b.md"); again.Hash != r.Hash || !again.Before {
		t.Errorf("the same job, later: %+v", again)
	}
	if r := p.commit("j", "a.md"); r.Hash != "" || r.Why != commit.Nothing {
		t.Errorf("nothing new: %+v", r)
	}
	if r := p.commit("j2"); r.Why != commit.Nothing {
		t.Errorf("no files: %+v", r)
	}
}

// TestWhatTheUserHasStagedStays: also for a file that is committed, of which the user
// has staged something else.
func TestWhatTheUserHasStagedStays(t *testing.T) {
	p := newPlace(t)
	p.sh("echo staged > b.md; git add b.md; echo staged > s.md; git add s.md; git rm -q --cached sub/c.md; echo staged > a.md; git add a.md; echo 2 > a.md; echo new > n.md")
	before := p.sh("git ls-files -s | grep -v n.md")
	p.commit("j1", "a.md", "n.md")
	p.is(changed, "M a.md A n.md")
	p.is("git show HEAD:a.md", "2")
	p.is("git ls-files -s | grep -v n.md", before)
	p.is("git show :a.md", "staged")
	p.is("git status --porcelain", "MM a.md\nM  b.md\nA  s.md\nD  sub/c.md\n?? sub/")
}

func TestIndexIsMendedByTheSameJob(t *testing.T) {
	p := newPlace(t)
	p.sh("echo 2 > a.md; touch .git/index.lock")
	r := p.commit("j1", "a.md")
	if r.Hash == "" || !r.Behind {
		t.Errorf("with an index that is locked: %+v", r)
	}
	p.sh("rm .git/index.lock")
	if r := p.commit("j1", "a.md"); r.Behind || !r.Before {
		t.Errorf("%+v", r)
	}
	p.is("git status --porcelain", "")
}

func TestStatesOfARepository(t *testing.T) {
	for _, c := range []struct{ name, line, why, head string }{
		{"none", "rm -rf .git", commit.NoRepository, ""},
		{"a merge", "git checkout -qb o; echo o > a.md; git commit -qam o; git checkout -q main; echo m > a.md; git commit -qam m; git merge o || true", "the user is in the middle of a merge", ""},
		{"a rebase", "git checkout -qb o; echo o > a.md; git commit -qam o; git checkout -q main; echo m > a.md; git commit -qam m; git rebase o || true", "the user is in the middle of a rebase", ""},
		{"no commit yet", "rm -rf .git; git init -q -b main .; echo 9 > n.md; git add n.md", "", "A a.md"},
		{"no HEAD branch", "git checkout -q --detach; echo 2 > a.md", "", "M a.md"},
		{"a worktree", "mv .git ../bare.$$; git --git-dir=../bare.$$ worktree add -q --no-checkout ../w.$$ -b w; mv ../w.$$/.git .git; git reset -q; echo 2 > a.md", "", "M a.md"},
		{"a hook", "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; cp .git/hooks/pre-commit .git/hooks/reference-transaction; chmod +x .git/hooks/*; echo 2 > a.md", "", "M a.md"},
		{"no name", "git config --unset user.name; git config --unset user.email; echo 2 > a.md", "", "M a.md"},
		{"no name but an address", "git config --unset user.name; echo 2 > a.md", "", "M a.md"},
		{"a filter", "git config filter.x.clean 'touch ran'; git config filter.x.required true; echo '*.md filter=x' > .gitattributes; echo 2 > a.md", "", "M a.md"},
		{"signing", "git config commit.gpgsign true; git config gpg.program false; echo 2 > a.md", "", "M a.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh(c.line)
			r := p.commit("j1", "a.md")
			if r.Why != c.why || (r.Hash == "") != (c.why != "") {
				t.Fatalf("%+v", r)
			}
			if c.why == "" {
				p.is(changed, c.head)
				p.is("git log -1 --format=%H", r.Hash)
				p.is("git diff --cached --name-only -- a.md; ls ran 2>/dev/null || true", "")
			}
			if strings.HasPrefix(c.name, "no name") {
				p.is("git log -1 --format=%an", "Roster")
			}
			if c.name == "no commit yet" {
				p.is("git status --porcelain -- n.md", "A  n.md")
			}
		})
	}
}

func TestFilesThatAreNotCommitted(t *testing.T) {
	p := newPlace(t)
	outside := filepath.Join(git.Real(t.TempDir()), "x")
	p.sh(`printf 'out/\n*.log\n' > .gitignore; echo 1 > tracked.log; git add -f tracked.log .gitignore; git commit -qm ignore
		mkdir out other; echo 2 > out/x; echo 2 > no.log; echo 2 > tracked.log; echo 2 > a.md
		git init -q other; echo o > other/o.md
		git init -q ../sub.$$; git -C ../sub.$$ -c user.name=s -c user.email=s@s commit -q --allow-empty -m s
		git update-index --add --cacheinfo 160000,$(git -C ../sub.$$ rev-parse HEAD),mod; git commit -qm module; mkdir mod; echo m > mod/m.md
		ln -s sub link; echo 2 > sub/c.md; ln -s /etc/passwd passwd; echo 1 > ':(top)x[a]*'`)
	files := []string{"a.md", "tracked.log", "out/x", "no.log", outside, "../x", ".git/config", "sub", "other/o.md", "mod/m.md", "link/c.md", "passwd", ":(top)x[a]*", "none.md", "none/none.md"}
	r := p.commit("j1", files...)
	p.is(changed, "A :(top)x[a]* M a.md A passwd M sub/c.md M tracked.log")
	p.is("git ls-tree HEAD passwd | cut -d' ' -f1", "120000")
	want := []string{
		outside + ": " + commit.OutsideTop, "../x: " + commit.OutsideTop, ".git/config: " + commit.OutsideTop, "sub: " + commit.NotAFile,
		"other/o.md: " + commit.OtherRepo, "mod/m.md: " + commit.OtherRepo, "out/x: " + commit.IsIgnored, "no.log: " + commit.IsIgnored,
	}
	var got []string
	for _, s := range r.Skipped {
		got = append(got, s.File+": "+s.Why)
	}
	if !slices.Equal(got, want) {
		t.Errorf("skipped:\n got %q\nwant %q", got, want)
	}
}

func TestAFileBecomesAFolder(t *testing.T) {
	p := newPlace(t)
	p.sh("rm a.md; mkdir a.md; echo 1 > a.md/x; rm -r sub; echo 1 > sub")
	p.commit("j1", "a.md/x", "sub", "sub/c.md")
	p.is(changed, "D a.md A a.md/x A sub D sub/c.md")
}

// TestManyAtOnce has jobs commit side by side, and the user between them: each has
// one commit, with its own file.
func TestManyAtOnce(t *testing.T) {
	p := newPlace(t)
	const jobs = 6
	var all sync.WaitGroup
	for i := range jobs {
		p.sh(fmt.Sprintf("echo %d > f%d.md", i, i))
	}
	for i := range jobs {
		all.Go(func() {
			r, err := p.try(fmt.Sprintf("j%d", i), fmt.Sprintf("f%d.md", i))
			for moved := new(commit.MovedError); errors.As(err, &moved); {
				r, err = p.try(fmt.Sprintf("j%d", i), fmt.Sprintf("f%d.md", i))
			}
			if err != nil || r.Hash == "" {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
	all.Wait()
	for i := range jobs {
		p.is(fmt.Sprintf("git log --format= --name-only --grep='Roster-Job: j%d'", i), fmt.Sprintf("f%d.md", i))
	}
	p.is("git rev-list --count HEAD", fmt.Sprint(jobs+1))
}

func TestWhatCannotBeNamed(t *testing.T) {
	p := newPlace(t)
	for _, job := range []string{"", "a\nb"} {
		if _, err := p.try(job, "a.md"); err == nil {
			t.Errorf("%q is taken", job)
		}
	}
	if _, err := p.try("j", make([]string, 1)...); err != nil {
		t.Errorf("the folder itself: %v", err)
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	if _, err := p.try("j", many...); err == nil {
		t.Error("1,001 files are taken")
	}
}
