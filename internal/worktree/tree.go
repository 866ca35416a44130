package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/git"
)

// Tree is one worktree.
type Tree struct {
	Dir    string // absolute
	Branch string
	Base   string // the commit that it began at
	// Notes say what of the workspace is not in it.
	Notes []string
}

// Where is the folder in a tree that stands for the workspace.
func (r *Repo) Where(t Tree) string { return filepath.Join(t.Dir, r.Prefix) }

// branches is what the names of branches begin with. A branch of just that name
// leaves no room for others below it.
const branches = "roster"

// most is how many trees of one name are tried.
const most = 50

// Add makes a worktree of the repository's present commit in a folder below base,
// on a new branch. Its name is that given, which is safe in a path, and a number
// after it where the branch of a tree before still has something. What is left of
// one that was never finished is taken away.
func (r *Repo) Add(ctx context.Context, base, name, reason string) (Tree, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return Tree{}, err
	}
	prefix := branches + "/"
	if taken, err := r.git.Holds(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+branches); err != nil {
		return Tree{}, err
	} else if taken {
		prefix = branches + "-"
	}
	for n := 1; n <= most; n++ {
		t := Tree{Dir: filepath.Join(git.Real(base), name), Branch: prefix + name, Base: r.Head}
		if n > 1 {
			t.Dir, t.Branch = t.Dir+"."+strconv.Itoa(n), t.Branch+"."+strconv.Itoa(n)
		}
		free, err := r.clear(ctx, t)
		if err != nil {
			return Tree{}, err
		}
		if free {
			return t, r.add(ctx, &t, reason)
		}
	}
	return Tree{}, fmt.Errorf("there are %d branches %s%s… already: delete those that are no longer needed (git branch -D)", most, prefix, name)
}

// Git looks at all worktrees when it adds one, and gives up if another is only half made.
const (
	addTries = 5
	addPause = 50 * time.Millisecond // longer before each further try
)

func besideAnother(err error) bool {
	return err != nil && strings.Contains(err.Error(), "commondir")
}

func (r *Repo) addOnce(ctx context.Context, t *Tree, reason string) error {
	_, err := r.git.Run(ctx, "worktree", "add", "--quiet", "--no-track", "--lock", "--reason", reason, "-b", t.Branch, "--", t.Dir, t.Base)
	return err
}

func (r *Repo) add(ctx context.Context, t *Tree, reason string) error {
	err := r.addOnce(ctx, t, reason)
	for try := 1; try < addTries && besideAnother(err); try++ {
		if _, cleared := r.clear(ctx, *t); cleared != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try) * addPause):
			err = r.addOnce(ctx, t, reason)
		}
	}
	if err == nil {
		if info, statErr := os.Stat(r.Where(*t)); statErr != nil || !info.IsDir() {
			err = fmt.Errorf("the workspace %s has no file in the commit %.12s: commit something there first", filepath.Join(r.Top, r.Prefix), t.Base)
		}
	}
	if err == nil {
		t.Notes, err = r.missing(ctx, *t)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), git.Time)
		defer cancel()
		_, _ = r.clear(ctx, *t) // the first error is the one to tell
	}
	return err
}

// missing says what of the workspace a new tree has not.
func (r *Repo) missing(ctx context.Context, t Tree) (notes []string, err error) {
	out, err := r.git.Run(ctx, "status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=normal")
	if err != nil {
		return nil, err
	}
	if n := strings.Count(out, "\x00"); n > 0 {
		notes = append(notes, fmt.Sprintf("what is not committed in the workspace is not in it: %s", count(n, "file or folder", "files and folders")))
	}
	if _, err := os.Lstat(filepath.Join(t.Dir, ".gitmodules")); err == nil {
		notes = append(notes, "its submodules are empty folders")
	}
	return notes, nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// clear takes away what is left of a tree that nobody has worked in. It is not
// free if its branch has a commit that the repository's own has not.
func (r *Repo) clear(ctx context.Context, t Tree) (free bool, err error) {
	there, err := r.git.Holds(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch)
	if err != nil {
		return false, err
	}
	if there {
		if old, err := r.git.Holds(ctx, "merge-base", "--is-ancestor", "refs/heads/"+t.Branch, r.Head); err != nil || !old {
			return false, err
		}
	}
	if err := r.Remove(ctx, t); err != nil {
		return false, err
	}
	if there {
		_, err = r.git.Run(ctx, "update-ref", "-d", "refs/heads/"+t.Branch)
	}
	return err == nil, err
}

// Remove takes the folder of a tree away, with all that is in it, and what git
// knows of it. Its branch stays. A tree that is gone already is no error.
func (r *Repo) Remove(ctx context.Context, t Tree) error {
	base, err := os.OpenRoot(filepath.Dir(t.Dir))
	if err == nil {
		err = removeAll(base, filepath.Base(t.Dir))
		base.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if admin, _ := r.admin(t); admin == "" {
		return nil
	}
	_, err = r.git.Run(ctx, "worktree", "remove", "--force", "--force", "--", t.Dir)
	return err
}

// removeAll removes a folder also where folders in it may not be written to, such
// as those of downloaded modules.
func removeAll(base *os.Root, name string) error {
	err := base.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = fs.WalkDir(base.FS(), name, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = base.Chmod(path, 0o700) // what cannot be had is said below
		}
		return nil
	})
	return base.RemoveAll(name)
}

// DeleteBranch takes the branch of a tree away that has been removed.
func (r *Repo) DeleteBranch(ctx context.Context, t Tree) error {
	there, err := r.git.Holds(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch)
	if err == nil && there {
		_, err = r.git.Run(ctx, "update-ref", "-d", "refs/heads/"+t.Branch)
	}
	return err
}

// admin finds the git directory of a tree; "": git knows of none. The .git in
// the tree is the agent's to change, and is not asked.
func (r *Repo) admin(t Tree) (string, error) {
	all := filepath.Join(r.Common, "worktrees")
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	want := filepath.Join(t.Dir, ".git")
	for _, e := range entries {
		dir := filepath.Join(all, e.Name())
		if at, err := git.Line(filepath.Join(dir, "gitdir")); err == nil && filepath.Clean(at) == want {
			return dir, nil
		}
	}
	return "", nil
}

// GoneError says that the folder of a tree is not there any more, or that git
// does not know of it.
type GoneError struct{ Tree Tree }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the worktree %s is gone; the branch %s has what was committed in it", e.Tree.Dir, e.Tree.Branch)
}

// LeftError says that a tree is not on its branch any more.
type LeftError struct {
	Tree Tree
	On   string
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("the worktree %s was taken off its branch %s and is on %s: go back with git -C %s switch %s, or bring its commits back yourself", e.Tree.Dir, e.Tree.Branch, e.On, e.Tree.Dir, e.Tree.Branch)
}

// in gives git in a tree: by its git directory, and not by the .git in it.
func (r *Repo) in(t Tree) (*git.Git, error) {
	admin, err := r.admin(t)
	if err != nil {
		return nil, err
	}
	info, statErr := os.Lstat(t.Dir)
	if admin == "" || statErr != nil || !info.IsDir() {
		return nil, &GoneError{t}
	}
	return r.git.In(t.Dir, "GIT_DIR="+admin, "GIT_WORK_TREE="+t.Dir), nil
}

// There says whether a tree can be worked in.
func (r *Repo) There(t Tree) error {
	_, err := r.in(t)
	return err
}

// Branches lists the names of the trees whose branches are there.
func (r *Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.git.Run(ctx, "for-each-ref", "--format=%(refname:strip=2)", "refs/heads/"+branches+"/", "refs/heads/"+branches+"-*")
	if err != nil || out == "" {
		return nil, err
	}
	names := strings.Split(out, "\n")
	for i := range names {
		names[i] = names[i][len(branches)+1:]
	}
	return names, nil
}
