package git

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

// Repo is a repository with a tree of files. It is safe for concurrent use.
type Repo struct {
	*Git
	Top    string // the folder that has the .git
	Dir    string // its git directory
	Common string // the git directory that it shares with other worktrees
}

// NoRepoError says that a folder is not in a repository, or that git does not take
// it for one.
type NoRepoError struct {
	Dir string
	Why string // empty: there is none
}

func (e *NoRepoError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s has no git repository that can be used: %s", e.Dir, e.Why)
	}
	return fmt.Sprintf("%s is not in a git repository", e.Dir)
}

// Open finds the repository that a folder, a real path, is in: *NoRepoError,
// ErrNoGit.
func Open(ctx context.Context, folder string, o Options) (*Repo, error) {
	top, dir, err := find(folder)
	if err != nil {
		return nil, err
	}
	g := &Git{helper: o.Helper, hold: o.Hold, dir: top, env: environ(o.Getenv)}
	// Found as git finds it, so that it says whose repositories it does not touch.
	out, err := g.Run(ctx, "rev-parse", "--absolute-git-dir", "--git-common-dir")
	var refused *Error
	if errors.As(err, &refused) {
		return nil, &NoRepoError{top, refused.Said}
	}
	if err != nil {
		return nil, err
	}
	found, common, _ := strings.Cut(out, "\n")
	if Real(found) != Real(dir) {
		return nil, &NoRepoError{top, fmt.Sprintf("git takes %s for its directory, and not %s", found, dir)}
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(top, common)
	}
	r := &Repo{Top: top, Dir: Real(dir), Common: Real(common)}
	r.Git = g.With("GIT_DIR="+r.Dir, "GIT_WORK_TREE="+top, "GIT_COMMON_DIR="+r.Common)
	return r, r.harden(ctx)
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
	text, err := Line(file)
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if err != nil || !ok {
		return "", &NoRepoError{filepath.Dir(file), "its .git is a file that names no directory"}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return dir, nil
}

// Line reads a file of one line.
func Line(file string) (string, error) {
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

// Busy says what the user is in the middle of, in the files; empty: nothing.
func (r *Repo) Busy() string {
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
