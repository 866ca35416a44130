package roster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/worktree"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// WorktreeGoneError says that the tree of files that a session works in is not
// there any more.
type WorktreeGoneError struct{ Session, Dir string }

func (e *WorktreeGoneError) Error() string {
	return fmt.Sprintf("the worktree %s of session %s is gone: roster sessions worktree drop %s forgets it, and its next prompt begins with a new one", e.Dir, e.Session, e.Session)
}

// there says whether a session can go on in its worktree.
func there(t *spec.Worktree) error {
	if t == nil || t.Dir == "" {
		return nil
	}
	if info, err := os.Stat(t.Root); err != nil || !info.IsDir() {
		return &WorktreeGoneError{t.Session, t.Dir}
	}
	return nil
}

// worktreeBase is the folder of all worktrees: neither in the workspace, where
// they would be files of it, nor in the state, which no tool reaches.
func (a *App) worktreeBase() (string, error) {
	base, err := config.WorktreeDir(a.dir, a.opts.Getenv)
	if err != nil {
		return "", err
	}
	env := a.env(&spec.Spec{Workspace: a.dir})
	for _, dir := range []string{a.dir, env.StateDir, a.trusts.Home} {
		if filepath.IsLocal(relative(dir, base)) {
			return "", fmt.Errorf("worktrees would be in %s, which is in %s: set XDG_DATA_HOME to another folder", base, dir)
		}
	}
	return base, nil
}

// repository is that of the workspace.
func (a *App) repository(ctx context.Context) (*worktree.Repo, error) {
	helper, hold := a.helper()
	return worktree.Open(ctx, a.dir, worktree.Options{Helper: helper, Hold: hold, Getenv: a.opts.Getenv})
}

// canHouse says whether the sessions of a spec can have worktrees.
func (a *App) canHouse(ctx context.Context, s *spec.Spec) error {
	if s.Worktree == nil || s.Worktree.Dir != "" {
		return nil
	}
	_, err := a.worktreeBase()
	if err == nil {
		_, err = a.repository(ctx)
	}
	return err
}

// newWorktree makes one for a session.
func (a *App) newWorktree(ctx context.Context, id string) (*spec.Worktree, error) {
	base, err := a.worktreeBase()
	if err != nil {
		return nil, err
	}
	repo, err := a.repository(ctx)
	if err != nil {
		return nil, err
	}
	t, err := repo.Add(ctx, base, treeName(id), "roster session "+id)
	if err != nil {
		return nil, fmt.Errorf("worktree of session %s: %w", id, err)
	}
	return &spec.Worktree{Session: id, Dir: t.Dir, Branch: t.Branch, Base: t.Base, Root: repo.Where(t), Repository: repo.Common, Notes: t.Notes}, nil
}

// Characters of a session's id that may stand in the name of a folder and of a
// branch. Others are written as =XX.
const (
	plainID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	maxName = 180
)

// treeName is the name of a session's worktree.
func treeName(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; strings.IndexByte(plainID, c) < 0 || c == '-' && i == 0 {
			fmt.Fprintf(&b, "=%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	if b.Len() > maxName {
		return "=" + session.Digest([]byte(id))
	}
	return b.String()
}

// housed resolves a profile for a session: in the worktree that it works in, or
// in a new one if that is what the profile wants.
func (a *App) housed(ctx context.Context, id string, in *session.OpenWorktree, c compiling) (*engine.Blueprint, error) {
	if in != nil {
		c.tree = &spec.Worktree{
			Session: id, Dir: in.Dir, Branch: in.Branch, Base: in.Base, Root: in.Root, Repository: in.Repository, Notes: in.Notes,
		}
		if err := there(c.tree); err != nil {
			return nil, err
		}
	}
	b, err := a.compileIn(ctx, c)
	if err != nil || b.Spec.Worktree == nil || b.Spec.Worktree.Dir != "" {
		return b, err
	}
	if c.tree, err = a.newWorktree(ctx, id); err != nil {
		return nil, err
	}
	b, err = a.compileIn(ctx, c)
	if err == nil {
		return b, nil
	}
	repo, repoErr := a.repository(ctx)
	if repoErr != nil {
		return nil, err
	}
	t := worktree.Tree{Dir: c.tree.Dir, Branch: c.tree.Branch}
	return nil, errors.Join(err, repo.Remove(ctx, t), repo.DeleteBranch(ctx, t))
}
