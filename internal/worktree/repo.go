// Package worktree gives a session a tree of files of its own: a git worktree of
// the repository that the workspace is in, on a branch of its own, and brings
// what was changed in it back. Nothing that the repository's configuration names
// is run: no hook, filter, merge driver, monitor or transport. What the agent
// left in the tree is read as files only; its .git is not asked.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options say how git is called.
type Options struct {
	Helper []string // see sandbox.Command
	Hold   *os.File
	Getenv func(string) string
}

// Repo is the repository that a workspace is in. It is safe for concurrent use.
type Repo struct {
	Top    string // the folder that has the .git
	Prefix string // of the workspace below it; "." if it is the same
	Dir    string // its git directory
	Common string // the git directory that it shares with other worktrees
	Head   string // the commit
	git    *git
}

// NoRepoError says that a workspace is not in a repository, or that git does not
// take it for one.
type NoRepoError struct {
	Dir string
	Why string
}

func (e *NoRepoError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s has no git repository that can be used: %s", e.Dir, e.Why)
	}
	return fmt.Sprintf("%s is not in a git repository, and a worktree is one of a repository: run git init there and commit its files, or run without a worktree", e.Dir)
}

// NoCommitError says that a repository has no commit yet.
type NoCommitError struct{ Dir string }

func (e *NoCommitError) Error() string {
	return fmt.Sprintf("the git repository %s has no commit yet, and a worktree begins at one: commit its files first (git add -A && git commit)", e.Dir)
}

// Open finds the repository of a workspace, a real path. It must have a commit.
func Open(ctx context.Context, workspace string, o Options) (*Repo, error) {
	top, dir, err := find(workspace)
	if err != nil {
		return nil, err
	}
	g := &git{helper: o.Helper, hold: o.Hold, dir: top, env: environ(o.Getenv)}
	// Found as git finds it, so that it says whose repositories it does not touch.
	out, err := g.run(ctx, "rev-parse", "--absolute-git-dir", "--git-common-dir")
	var refused *GitError
	if errors.As(err, &refused) {
		return nil, &NoRepoError{top, refused.Said}
	}
	if err != nil {
		return nil, err
	}
	found, common, _ := strings.Cut(out, "\n")
	if real(found) != real(dir) {
		return nil, &NoRepoError{top, fmt.Sprintf("git takes %s for its directory, and not %s", found, dir)}
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(top, common)
	}
	r := &Repo{Top: top, Dir: real(dir), Common: real(common)}
	r.Prefix, _ = filepath.Rel(top, workspace)
	r.git = g.with("GIT_DIR="+r.Dir, "GIT_WORK_TREE="+top, "GIT_COMMON_DIR="+r.Common)
	if err := r.git.harden(ctx); err != nil {
		return nil, err
	}
	if r.Head, err = r.git.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); errors.As(err, &refused) {
		return nil, &NoCommitError{top}
	}
	return r, err
}

// find looks for the nearest folder with a .git, and for the git directory that
// this is or names.
func find(workspace string) (top, dir string, err error) {
	for top = workspace; ; top = filepath.Dir(top) {
		at := filepath.Join(top, ".git")
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return top, at, nil
		case err == nil && info.Mode().IsRegular():
			dir, err := named(at)
			return top, dir, err
		case top == filepath.Dir(top):
			return "", "", &NoRepoError{Dir: workspace}
		}
	}
}

// maxLink bounds a .git that names a directory, in bytes.
const maxLink = 8 << 10

// named reads which git directory the file .git of a worktree or submodule names.
func named(file string) (string, error) {
	text, err := small(file)
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if err != nil || !ok {
		return "", &NoRepoError{filepath.Dir(file), "its .git is a file that names no directory"}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return dir, nil
}

// small reads a file of one line.
func small(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLink {
		return "", fmt.Errorf("%s is not what git writes there", file)
	}
	data, err := os.ReadFile(file)
	return strings.TrimRight(string(data), "\r\n"), err
}

// busy says what the user is in the middle of, in the workspace.
func (r *Repo) busy() string {
	for name, what := range map[string]string{
		"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert", "BISECT_LOG": "a bisection",
		"rebase-merge": "a rebase", "rebase-apply": "a rebase",
	} {
		if _, err := os.Lstat(filepath.Join(r.Dir, name)); err == nil {
			return what
		}
	}
	return ""
}
