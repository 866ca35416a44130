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
	"path/filepath"

	"github.com/rosterrun/roster/internal/git"
)

// Options say how git is called.
type Options = git.Options

// Repo is the repository that a workspace is in. It is safe for concurrent use.
type Repo struct {
	Top    string // the folder that has the .git
	Prefix string // of the workspace below it; "." if it is the same
	Dir    string // its git directory
	Common string // the git directory that it shares with other worktrees
	Head   string // the commit
	git    *git.Git
	busy   func() string
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
	found, err := git.Open(ctx, workspace, o)
	var none *git.NoRepoError
	if errors.As(err, &none) {
		return nil, &NoRepoError{none.Dir, none.Why}
	}
	if err != nil {
		return nil, err
	}
	r := &Repo{Top: found.Top, Dir: found.Dir, Common: found.Common, git: found.Git, busy: found.Busy}
	r.Prefix, _ = filepath.Rel(r.Top, workspace)
	var refused *git.Error
	if r.Head, err = r.git.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); errors.As(err, &refused) {
		return nil, &NoCommitError{r.Top}
	}
	return r, err
}
