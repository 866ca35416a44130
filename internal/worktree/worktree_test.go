package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/internal/git"
	"github.com/rosterrun/roster/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// place is a repository to work in.
type place struct {
	*testing.T
	top, base string
	env       map[string]string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, top: git.Real(t.TempDir()), base: filepath.Join(git.Real(t.TempDir()), "trees")}
	p.env = map[string]string{"PATH": os.Getenv("PATH"), "HOME": git.Real(t.TempDir()), "GIT_CONFIG_NOSYSTEM": "1", "GORACE": os.Getenv("GORACE")}
	p.sh("git init -q -b main . && git config user.name P && git config user.email p@example.com")
	p.write("a.txt", "one\ntwo\nthree\nfour\nfive\n")
	p.write("sub/b.txt", "b\n")
	p.sh("git add -A && git commit -qm first")
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

func (p *place) write(name, text string) {
	p.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.top, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *place) has(name, want string) {
	p.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.top, name)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		p.Errorf("%s = %q, %v, want %q", name, got, err, want)
	}
}

func (p *place) gone(name string) {
	p.Helper()
	if _, err := os.Lstat(name); err == nil {
		p.Errorf("%s is there", name)
	}
}

func (p *place) open(dir string) (*Repo, error) {
	return Open(p.Context(), dir, Options{Helper: sandbox.Self(), Getenv: func(name string) string { return p.env[name] }})
}

func (p *place) repo() *Repo {
	p.Helper()
	r, err := p.open(p.top)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *place) add(name string) Tree {
	p.Helper()
	t, err := p.repo().Add(p.Context(), p.base, name, "session "+name)
	if err != nil {
		p.Fatal(err)
	}
	return t
}

func TestATreeOfItsOwn(t *testing.T) {
	p := newPlace(t)
	p.write("a.txt", "dirty\n")
	p.write("new.txt", "not committed\n")
	tree := p.add("s1")
	if tree.Branch != "roster/s1" || tree.Dir != filepath.Join(p.base, "s1") || tree.Base != p.sh("git rev-parse HEAD") {
		t.Errorf("tree = %+v", tree)
	}
	if len(tree.Notes) != 1 || !strings.Contains(tree.Notes[0], "2 files and folders") {
		t.Errorf("notes = %q", tree.Notes)
	}
	p.has(tree.Dir+"/a.txt", "one\ntwo\nthree\nfour\nfive\n")
	p.gone(tree.Dir + "/new.txt")
	r := p.repo()
	if c, err := r.Changes(t.Context(), tree); err != nil || !c.Empty() {
		t.Errorf("changes = %+v, %v", c, err)
	}
	p.write(tree.Dir+"/a.txt", "one\ntwo\nthree\nfour\nFIVE\n")
	p.write(tree.Dir+"/sub/c.txt", "c\n")
	os.Rename(tree.Dir+"/sub/b.txt", tree.Dir+"/sub/ b\nß.txt")
	before := p.sh("git count-objects -v; git status --porcelain; git -C " + tree.Dir + " status --porcelain")
	text, c, err := r.Diff(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{Path: "a.txt", Status: "changed"}, {Path: "sub/ b\nß.txt", From: "sub/b.txt", Status: "renamed"}, {Path: "sub/c.txt", Status: "added"}}
	if !slices.Equal(c.Files, want) {
		t.Errorf("files = %q, want %q", c.Files, want)
	}
	if !strings.Contains(text, "-five\n+FIVE\n") || !strings.Contains(text, "3 files changed") {
		t.Errorf("diff = %s", text)
	}
	if after := p.sh("git count-objects -v; git status --porcelain; git -C " + tree.Dir + " status --porcelain"); after != before {
		t.Errorf("looking has changed something:\n%s\n%s", before, after)
	}
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		there  string // what is done in the tree
		here   string // in the workspace meanwhile
		files  map[string]string
		log    string // the parents of the workspace's commit, as a count
		into   string
		branch string
	}{
		{name: "goes forward", there: "echo x >x.txt; rm sub/b.txt", files: map[string]string{"x.txt": "x\n"}, log: "1", into: "main"},
		{name: "with a merge", there: "sed -i s/five/FIVE/ a.txt", here: "sed -i s/one/ONE/ a.txt; git commit -qam mine", files: map[string]string{"a.txt": "ONE\ntwo\nthree\nfour\nFIVE\n"}, log: "2", into: "main"},
		{name: "own commits and more", there: "echo x >x.txt; git add x.txt; git -c user.name=A -c user.email=a@x commit -qm own; echo y >y.txt", files: map[string]string{"x.txt": "x\n", "y.txt": "y\n"}, log: "1", into: "main"},
		{name: "other dirty files stay", there: "echo x >x.txt", here: "echo mine >sub/b.txt; echo new >z.txt", files: map[string]string{"x.txt": "x\n", "sub/b.txt": "mine\n", "z.txt": "new\n"}, log: "1", into: "main"},
		{name: "onto no branch", there: "echo x >x.txt", here: "git checkout -q --detach", files: map[string]string{"x.txt": "x\n"}, log: "1"},
		{name: "onto an odd branch", there: "echo x >x.txt", here: "git checkout -q -b \"ü/a'b\\$(c)\"", files: map[string]string{"x.txt": "x\n"}, log: "1", into: "ü/a'b$(c)"},
		{name: "modes and links", there: "chmod +x a.txt; ln -s a.txt link; printf '\\0\\1' >bin", files: map[string]string{"bin": "\x00\x01"}, log: "1", into: "main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tree := p.add("s1")
			p.sh("cd " + tree.Dir + "; " + tt.there)
			if tt.here != "" {
				p.sh(tt.here)
			}
			r := p.repo()
			m, err := r.Merge(t.Context(), tree, "What was asked\n")
			if err != nil || m.Nothing || m.Into != tt.into {
				t.Fatalf("merged = %+v, %v", m, err)
			}
			for name, text := range tt.files {
				p.has(name, text)
			}
			if got := p.sh("git rev-list --parents -n 1 HEAD | wc -w"); got != map[string]string{"1": "2", "2": "3"}[tt.log] {
				t.Errorf("the commit has %s words", got)
			}
			if p.sh("git rev-parse HEAD") != m.Commit {
				t.Errorf("HEAD is not %s", m.Commit)
			}
			if again, err := p.repo().Merge(t.Context(), tree, "again\n"); tt.here == "" && tt.name == "own commits" && (err != nil || !again.Nothing) {
				t.Errorf("again = %+v, %v", again, err)
			}
			if err := errors.Join(r.Remove(t.Context(), tree), r.DeleteBranch(t.Context(), tree)); err != nil {
				t.Fatal(err)
			}
			p.gone(tree.Dir)
			if got := p.sh("git branch --list 'roster/*'; git worktree list | wc -l"); got != "1" {
				t.Errorf("what is left: %s", got)
			}
		})
	}
}

func TestAMergeThatCannotBeLeavesAllAsItWas(t *testing.T) {
	for _, tt := range []struct {
		name, there, here, says string
	}{
		{"conflict", "sed -i s/two/THERE/ a.txt", "sed -i s/two/HERE/ a.txt; git commit -qam mine", "in conflict with the workspace, in a.txt"},
		{"dirty file in the way", "sed -i s/two/THERE/ a.txt", "sed -i s/two/HERE/ a.txt", "not committed stand in the way"},
		{"new file in the way", "echo x >x.txt", "echo mine >x.txt", "not committed stand in the way"},
		{"ignored file in the way", "echo x >x.txt", "echo x.txt >.git/info/exclude; echo mine >x.txt", ""},
		{"in the middle of a merge", "echo x >x.txt", "git rev-parse HEAD >.git/MERGE_HEAD", "in the middle of a merge"},
		{"off its branch", "git checkout -q -b other; echo x >x.txt", "", "taken off its branch roster/s1 and is on other"},
		{"on no branch", "git checkout -q --detach", "", "is on no branch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			tree := p.add("s1")
			p.sh("cd " + tree.Dir + "; " + tt.there)
			if tt.here != "" {
				p.sh(tt.here)
			}
			if tt.says == "" {
				p.sh("git -C " + tree.Dir + " add -f x.txt")
				tt.says = "not committed stand in the way"
			}
			state := "git rev-parse HEAD; git status --porcelain; git branch -v; cat a.txt x.txt 2>/dev/null || true; git -C " + tree.Dir + " status --porcelain"
			before := p.sh(state)
			_, err := p.repo().Merge(t.Context(), tree, "m\n")
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("err = %v, want %q", err, tt.says)
			}
			if after := p.sh(state); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	p := newPlace(t)
	p.write(".gitignore", "out/\n")
	p.sh("git add -A; git commit -qm ignore")
	tree := p.add("s1")
	p.write(tree.Dir+"/x.txt", "x\n")
	p.write(tree.Dir+"/out/y", "y\n")
	r := p.repo()
	c, commit, err := r.Keep(t.Context(), tree, "kept\n")
	if err != nil || len(c.Files) != 1 || c.Ignored != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := r.Remove(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	if got := p.sh("git rev-parse roster/s1; git show roster/s1:x.txt"); got != commit+"\nx" {
		t.Errorf("kept: %s", got)
	}
	// A further tree of the same session has another branch.
	if again := p.add("s1"); again.Branch != "roster/s1.2" {
		t.Errorf("branch = %s", again.Branch)
	}
}

func TestWhereThereIsNoTree(t *testing.T) {
	p := newPlace(t)
	bare := t.TempDir()
	if _, err := p.open(git.Real(bare)); !errors.As(err, new(*NoRepoError)) {
		t.Errorf("no repository: %v", err)
	}
	p.sh("git init -q " + bare)
	if _, err := p.open(git.Real(bare)); !errors.As(err, new(*NoCommitError)) {
		t.Errorf("no commit: %v", err)
	}
	p.write(bare+"/.git/HEAD", "nonsense")
	if _, err := p.open(git.Real(bare)); !errors.As(err, new(*NoRepoError)) {
		t.Errorf("broken: %v", err)
	}
	p.write("untracked/x", "x")
	r, err := p.open(p.top + "/untracked")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Add(t.Context(), p.base, "s1", "s"); err == nil || !strings.Contains(err.Error(), "no file in the commit") {
		t.Errorf("a workspace that is not committed: %v", err)
	}
	if got := p.sh("git worktree list | wc -l; git branch --list 'roster*'"); got != "1" {
		t.Errorf("left: %s", got)
	}
	p.env["PATH"] = t.TempDir()
	if _, err := p.open(p.top); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
}

func TestTreesOfOddPlaces(t *testing.T) {
	t.Run("below the top", func(t *testing.T) {
		p := newPlace(t)
		r, err := p.open(p.top + "/sub")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := r.Add(t.Context(), p.base, "s1", "s")
		if err != nil || r.Where(tree) != tree.Dir+"/sub" {
			t.Fatalf("%s, %v", r.Where(tree), err)
		}
	})
	t.Run("a branch named roster", func(t *testing.T) {
		p := newPlace(t)
		p.sh("git branch roster")
		if tree := p.add("s1"); tree.Branch != "roster-s1" {
			t.Errorf("branch = %s", tree.Branch)
		}
	})
	t.Run("a worktree of a worktree", func(t *testing.T) {
		p := newPlace(t)
		p.sh("git worktree add -q -b linked " + p.base + "-linked")
		main := p.sh("git rev-parse HEAD")
		p.top = p.base + "-linked"
		tree := p.add("s1")
		p.write(tree.Dir+"/x.txt", "x\n")
		if m, err := p.repo().Merge(t.Context(), tree, "m\n"); err != nil || m.Into != "linked" {
			t.Fatalf("%+v, %v", m, err)
		}
		p.has("x.txt", "x\n")
		if p.sh("git rev-parse main") != main {
			t.Error("another branch has moved")
		}
	})
	t.Run("a submodule and one in a tree", func(t *testing.T) {
		p, other := newPlace(t), newPlace(t)
		p.sh("git -c protocol.file.allow=always submodule --quiet add " + other.top + " mod && git commit -qm mod")
		tree := p.add("s1")
		if !slices.Contains(tree.Notes, "its submodules are empty folders") {
			t.Errorf("notes = %q", tree.Notes)
		}
		p.write(tree.Dir+"/x.txt", "x\n")
		p.sh("git init -q " + tree.Dir + "/own && touch " + tree.Dir + "/own/f")
		m, err := p.repo().Merge(t.Context(), tree, "m\n")
		if err != nil || !slices.Equal(m.LeftOut, []string{"own"}) || len(m.Files) != 1 {
			t.Fatalf("%+v, %v", m, err)
		}
		p.has("mod/a.txt", "one\ntwo\nthree\nfour\nfive\n")
		inside, err := p.open(p.top + "/mod")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := inside.Add(t.Context(), p.base, "s2", "s"); err != nil {
			t.Errorf("a tree of a submodule: %v", err)
		}
	})
}

func TestWhatWasNotFinishedIsTakenAway(t *testing.T) {
	for name, break_ := range map[string]string{
		"folder without a repository": "rm -rf .git/worktrees/s1",
		"no folder":                   "rm -rf $TREE",
		"half of the folder":          "rm $TREE/.git $TREE/a.txt",
		"only the branch":             "git worktree remove -f -f $TREE",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			tree := p.add("s1")
			p.sh("TREE=" + tree.Dir + "; " + break_)
			again := p.add("s1")
			if again.Dir != tree.Dir {
				t.Errorf("%s", again.Dir)
			}
			p.has(again.Dir+"/a.txt", "one\ntwo\nthree\nfour\nfive\n")
			if err := p.repo().There(again); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestATreeThatIsGone(t *testing.T) {
	p := newPlace(t)
	tree := p.add("s1")
	os.RemoveAll(tree.Dir)
	r := p.repo()
	_, err := r.Changes(t.Context(), tree)
	_, mergeErr := r.Merge(t.Context(), tree, "m\n")
	for _, err := range []error{err, mergeErr, r.There(tree)} {
		if !errors.As(err, new(*GoneError)) {
			t.Errorf("err = %v", err)
		}
	}
	if err := errors.Join(r.Remove(t.Context(), tree), r.DeleteBranch(t.Context(), tree), r.Remove(t.Context(), tree), r.DeleteBranch(t.Context(), tree)); err != nil {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	p := newPlace(t)
	r := p.repo()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if _, err := r.Add(t.Context(), p.base, "s"+string(rune('a'+i)), "s"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := p.sh("git worktree list | wc -l"); got != "7" {
		t.Errorf("%s trees", got)
	}
}

// TestNothingOfTheRepositoryRuns fills a configuration and a tree with all that
// git would run. Each of them is shown to run where git is called without care.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	p := newPlace(t)
	marks := git.Real(t.TempDir())
	run := func(name string) string { return "touch " + marks + "/" + name + "; cat" }
	p.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	p.sh("git add -A; git commit -qm attributes")
	for key, value := range map[string]string{
		"core.fsmonitor": "touch " + marks + "/fsmonitor; false", "filter.evil.clean": run("clean"), "filter.evil.smudge": run("smudge"),
		"diff.evil.textconv": "touch " + marks + "/textconv; cat", "diff.evil.command": "touch " + marks + "/command; true",
		"merge.evil.driver": "touch " + marks + "/driver; false", "commit.gpgSign": "true", "gpg.program": marks + "/../gpg",
		"filter.a=b.c.clean": run("odd"), "diff.external": "touch " + marks + "/external; true",
	} {
		p.sh("git config '" + key + "' '" + value + "'")
	}
	for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-merge", "pre-merge-commit"} {
		p.write(".git/hooks/"+hook, "#!/bin/sh\ntouch "+marks+"/"+hook+"\n")
		os.Chmod(p.top+"/.git/hooks/"+hook, 0o755)
	}
	tree := p.add("s1")
	p.write(tree.Dir+"/a.txt", "one\ntwo\nthree\nfour\nFIVE\n")
	// A repository in the tree, known to git as a submodule, with a configuration.
	p.sh("cd " + tree.Dir + ` && git -c core.fsmonitor= -c core.hooksPath=/dev/null init -q n && cd n && echo x >f && git add f &&
		git -c user.name=A -c user.email=a@x commit -qm n && git config core.fsmonitor 'touch ` + marks + `/nested; false' &&
		cd .. && git -c core.fsmonitor= -c core.hooksPath=/dev/null update-index --add --cacheinfo 160000,$(git -C n -c core.fsmonitor= rev-parse HEAD),n`)
	p.write(tree.Dir+"/n/f", "changed")
	p.sh("sed -i s/one/ONE/ a.txt; git -c core.fsmonitor= -c core.hooksPath=/dev/null -c commit.gpgSign=false -c filter.evil.clean=cat commit -qam mine")
	clear := func() {
		all, _ := filepath.Glob(marks + "/*")
		for _, f := range all {
			os.Remove(f)
		}
	}
	clear()
	r := p.repo()
	steps := map[string]func() error{
		"add":     func() error { _, err := r.Add(t.Context(), p.base, "s2", "s"); return err },
		"changes": func() error { _, err := r.Changes(t.Context(), tree); return err },
		"diff":    func() error { _, _, err := r.Diff(t.Context(), tree); return err },
		"merge":   func() error { _, err := r.Merge(t.Context(), tree, "m\n"); return err },
		"remove":  func() error { return errors.Join(r.Remove(t.Context(), tree), r.DeleteBranch(t.Context(), tree)) },
	}
	for _, name := range []string{"add", "changes", "diff", "merge", "remove"} {
		if err := steps[name](); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ran, _ := filepath.Glob(marks + "/*"); len(ran) > 0 {
			t.Errorf("%s has run %q", name, ran)
			clear()
		}
	}
	p.has("a.txt", "ONE\ntwo\nthree\nfour\nFIVE\n")
	p.sh("git status >/dev/null; git worktree add -q " + p.base + "-careless; cd " + p.base + "-careless && echo y >>a.txt && git diff >/dev/null; git -c commit.gpgSign=false commit -qam careless; git diff HEAD~1 --no-ext-diff >/dev/null")
	for _, name := range []string{"fsmonitor", "clean", "smudge", "post-checkout", "pre-commit", "reference-transaction"} {
		if _, err := os.Stat(marks + "/" + name); err != nil {
			t.Errorf("%s does not run in careless hands either: the test shows nothing", name)
		}
	}
}

func TestTheConfigurationCannotLeadElsewhere(t *testing.T) {
	p := newPlace(t)
	elsewhere := git.Real(t.TempDir())
	p.sh("git config core.worktree " + elsewhere)
	tree := p.add("s1")
	p.write(tree.Dir+"/x.txt", "x\n")
	// The .git of the tree is the agent's: it may name another repository.
	p.write(tree.Dir+"/.git", "gitdir: "+elsewhere)
	if _, err := p.repo().Merge(t.Context(), tree, "m\n"); err != nil {
		t.Fatal(err)
	}
	p.has("x.txt", "x\n")
	if list, _ := os.ReadDir(elsewhere); len(list) > 0 {
		t.Errorf("written elsewhere: %v", list)
	}
	// What is not git's own is not removed through a link.
	p.write(elsewhere+"/keep", "me")
	os.RemoveAll(tree.Dir)
	os.Symlink(elsewhere, tree.Dir)
	if err := p.repo().Remove(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	p.has(elsewhere+"/keep", "me")
}
