package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/internal/git"
)

// ConflictError says that what was done in a tree and what was done in the
// workspace since do not fit together. Nothing was changed.
type ConflictError struct {
	Tree  Tree
	Files []string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the changes of the worktree %s are in conflict with the workspace, in %s; nothing was changed: merge by hand in the worktree (commit there, then git -C %s merge with the workspace's branch), or keep the branch", e.Tree.Dir, strings.Join(e.Files, ", "), e.Tree.Dir)
}

// DirtyError says that files of the workspace which are not committed stand in
// the way. Nothing was changed.
type DirtyError struct {
	Top  string
	Said string
}

func (e *DirtyError) Error() string {
	return fmt.Sprintf("files in %s that are not committed stand in the way, and nothing was changed: commit or stash them first (%s)", e.Top, e.Said)
}

// Merged is what came of a merge.
type Merged struct {
	Changes
	Commit string // that the workspace is at now
	Into   string // its branch; "": it is on none
	// Nothing says that there was nothing to bring back.
	Nothing bool
}

// Merge brings what was done in a tree into the workspace: what is not committed
// is committed first, then the workspace's branch goes forward to it, or to a
// merge with it. The files of the workspace that are not committed stay as they
// are. The tree stays.
func (r *Repo) Merge(ctx context.Context, t Tree, message string) (m Merged, err error) {
	if what := r.busy(); what != "" {
		return m, fmt.Errorf("the repository %s is in the middle of %s: end that first", r.Top, what)
	}
	s, commit, err := r.commit(ctx, t, message)
	if err != nil {
		return m, err
	}
	m.Changes, m.Commit = s.Changes, r.Head
	if m.Into, err = r.branch(ctx); err != nil {
		return m, err
	}
	if m.Nothing, err = r.git.Holds(ctx, "merge-base", "--is-ancestor", commit, r.Head); err != nil || m.Nothing {
		return m, err
	}
	to, err := r.joined(ctx, t, commit)
	if err != nil {
		return m, err
	}
	m.Commit = to
	return m, r.forward(ctx, to, "roster: merge "+t.Branch)
}

// branch is that of the workspace.
func (r *Repo) branch(ctx context.Context) (string, error) {
	name, err := r.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	var detached *git.Error
	if errors.As(err, &detached) && detached.Code == 1 {
		return "", nil
	}
	return name, err
}

// commit makes a commit of all that is in a tree; no branch is at it yet.
func (r *Repo) commit(ctx context.Context, t Tree, message string) (*shot, string, error) {
	scratch, err := os.MkdirTemp("", "roster-worktree-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(scratch)
	s, err := r.shoot(ctx, t, scratch)
	if err != nil {
		return nil, "", err
	}
	on, err := s.git.Run(ctx, "symbolic-ref", "--quiet", "HEAD")
	var detached *git.Error
	if err != nil && (!errors.As(err, &detached) || detached.Code != 1) {
		return nil, "", err
	}
	if on != "refs/heads/"+t.Branch {
		if on = strings.TrimPrefix(on, "refs/heads/"); on == "" {
			on = "no branch"
		}
		return nil, "", &LeftError{t, on}
	}
	was, err := s.git.Run(ctx, "rev-parse", s.head+"^{tree}")
	if err != nil || was == s.tree {
		return s, s.head, err
	}
	commit, err := s.git.Read(ctx, strings.NewReader(message), "commit-tree", s.tree, "-p", s.head)
	return s, commit, err
}

// joined gives the commit that the workspace's branch goes to.
func (r *Repo) joined(ctx context.Context, t Tree, commit string) (string, error) {
	ahead, err := r.git.Holds(ctx, "merge-base", "--is-ancestor", r.Head, commit)
	if err != nil || ahead {
		return commit, err
	}
	out, err := r.git.Run(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", r.Head, commit)
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	var no *git.Error
	switch {
	case errors.As(err, &no) && no.Code == 1:
		return "", &ConflictError{t, fields[1:]}
	case errors.As(err, &no) && no.Code == 129:
		return "", errors.New("a merge needs git 2.38 or newer")
	case err != nil:
		return "", err
	}
	return r.git.Read(ctx, strings.NewReader("Merge branch '"+t.Branch+"'\n"), "commit-tree", fields[0], "-p", r.Head, "-p", commit)
}

// forward takes the workspace to a commit: its files first, all or none, and
// then its branch.
func (r *Repo) forward(ctx context.Context, to, why string) error {
	if err := r.room(ctx, to); err != nil {
		return err
	}
	_, _ = r.git.Run(ctx, "update-index", "-q", "--refresh", "--ignore-submodules") // what has changed is seen below
	if _, err := r.git.Run(ctx, "read-tree", "-m", "-u", r.Head, to); err != nil {
		var refused *git.Error
		if errors.As(err, &refused) {
			return &DirtyError{r.Top, strings.TrimPrefix(refused.Said, "error: ")}
		}
		return err
	}
	_, err := r.git.Run(ctx, "update-ref", "-m", why, "HEAD", to, r.Head)
	if err != nil {
		_, back := r.git.Run(context.WithoutCancel(ctx), "read-tree", "-m", "-u", to, r.Head)
		return errors.Join(err, back)
	}
	return nil
}

// room sees to it that no file which git does not know is overwritten. Those that
// .gitignore names it would overwrite itself.
func (r *Repo) room(ctx context.Context, to string) error {
	out, err := r.git.Run(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-status", r.Head, to)
	if err != nil {
		return err
	}
	deleted := map[string]bool{}
	all := changes(out)
	for _, c := range all {
		deleted[c.Path] = deleted[c.Path] || c.Status == "deleted"
	}
	for _, c := range all {
		if c.Status != "added" {
			continue
		}
		for at := c.Path; at != "."; at = filepath.Dir(at) {
			info, err := os.Lstat(filepath.Join(r.Top, at))
			if err == nil && (at == c.Path || !info.IsDir()) && !deleted[at] {
				return &DirtyError{r.Top, "there is " + at + ", which git does not know"}
			}
			if err == nil {
				break
			}
		}
	}
	return nil
}

// Keep commits what is not committed in a tree to its branch.
func (r *Repo) Keep(ctx context.Context, t Tree, message string) (c Changes, commit string, err error) {
	s, commit, err := r.commit(ctx, t, message)
	if err != nil {
		return c, "", err
	}
	if commit != s.head {
		_, err = r.git.Run(ctx, "update-ref", "-m", "roster: keep", "refs/heads/"+t.Branch, commit, s.head)
	}
	return s.Changes, commit, err
}
