package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/internal/git"
)

// Change is one file that differs from where a tree began.
type Change struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // of one that was renamed
	Status string `json:"status"`         // added, changed, deleted, renamed or type
}

// Changes is what was done in a tree.
type Changes struct {
	Files []Change
	// Commits is how many the agent has made itself.
	Commits int
	// LeftOut are repositories within the tree, which git does not take up.
	LeftOut []string
	// Ignored is how many files and folders .gitignore keeps out of it.
	Ignored int
}

// Empty says that nothing was changed.
func (c Changes) Empty() bool { return len(c.Files) == 0 && c.Commits == 0 && len(c.LeftOut) == 0 }

// shot is a tree of files as it was at one moment.
type shot struct {
	git  *git.Git
	base string
	tree string // its object
	head string // the commit that the worktree is at
	Changes
}

// Changes says what was done in a tree. It writes nothing into the repository.
func (r *Repo) Changes(ctx context.Context, t Tree) (Changes, error) {
	var c Changes
	err := r.look(ctx, t, func(s *shot) error { c = s.Changes; return nil })
	return c, err
}

// Diff gives what was done in a tree as a patch, with an overview before it. It
// writes nothing into the repository.
func (r *Repo) Diff(ctx context.Context, t Tree) (text string, c Changes, err error) {
	err = r.look(ctx, t, func(s *shot) error {
		c = s.Changes
		text, err = s.git.Run(ctx, "diff-tree", "-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch", s.base, s.tree)
		return err
	})
	return text, c, err
}

// look takes a shot whose objects are gone afterwards.
func (r *Repo) look(ctx context.Context, t Tree, see func(*shot) error) error {
	dir, err := os.MkdirTemp("", "roster-worktree-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := r.shoot(ctx, t, dir, "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(r.Common, "objects"))
	if err != nil {
		return err
	}
	return see(s)
}

// shoot takes all files of a tree up, with those that are not committed. The
// tree's own index stays as it is; scratch is a folder for another.
func (r *Repo) shoot(ctx context.Context, t Tree, scratch string, env ...string) (*shot, error) {
	g, err := r.in(t)
	if err != nil {
		return nil, err
	}
	admin, err := r.admin(t)
	if err != nil {
		return nil, err
	}
	index := filepath.Join(scratch, "index")
	plain := g
	g = g.With(append(env, "GIT_INDEX_FILE="+index)...)
	s := &shot{git: g, base: t.Base}
	if s.head, err = g.Run(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return nil, err
	}
	if err := copyIndex(filepath.Join(admin, "index"), index); err != nil { // it knows which files are as they were
		return nil, err
	}
	if s.LeftOut, err = nested(ctx, t.Dir); err != nil {
		return nil, err
	}
	if err := s.add(ctx); err != nil {
		return nil, err
	}
	if s.tree, err = g.Run(ctx, "write-tree"); err != nil {
		return nil, err
	}
	return s, s.compare(ctx, plain)
}

// add puts all files into the index but repositories within the tree: git would
// ask those, by their own configuration.
func (s *shot) add(ctx context.Context) error {
	var paths strings.Builder
	paths.WriteString(":(top)\x00")
	for _, dir := range s.LeftOut {
		paths.WriteString(":(top,exclude,literal)" + dir + "\x00")
	}
	_, err := s.git.Read(ctx, strings.NewReader(paths.String()), "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

func (s *shot) compare(ctx context.Context, plain *git.Git) error {
	out, err := s.git.Run(ctx, "diff-tree", "-r", "-M", "-z", "--name-status", s.base, s.tree)
	if err != nil {
		return err
	}
	s.Files = changes(out)
	if out, err = s.git.Run(ctx, "rev-list", "--count", s.base+".."+s.head); err != nil {
		return err
	}
	if _, err := fmt.Sscan(out, &s.Commits); err != nil {
		return err
	}
	out, err = plain.Run(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	s.Ignored = strings.Count(out, "\x00")
	return err
}

// changes reads what diff-tree lists.
func changes(out string) []Change {
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var all []Change
	for i := 0; i+1 < len(fields); i += 2 {
		c := Change{Path: fields[i+1]}
		switch {
		case strings.HasPrefix(fields[i], "A"):
			c.Status = "added"
		case strings.HasPrefix(fields[i], "D"):
			c.Status = "deleted"
		case strings.HasPrefix(fields[i], "R") && i+2 < len(fields):
			c.Status, c.From, c.Path = "renamed", fields[i+1], fields[i+2]
			i++
		case strings.HasPrefix(fields[i], "T"):
			c.Status = "type"
		default:
			c.Status = "changed"
		}
		all = append(all, c)
	}
	return all
}

// nested finds repositories within a tree: folders other than the first that
// have a .git.
func nested(ctx context.Context, top string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case d.Name() != ".git" && !strings.EqualFold(d.Name(), ".git"):
			return nil
		}
		if dir := filepath.Dir(path); dir != top {
			rel, err := filepath.Rel(top, dir)
			if err != nil {
				return err
			}
			found = append(found, rel)
			return filepath.SkipDir
		}
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return found, err
}

func copyIndex(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
