// Package commit commits files of a job to the git repository that they are in: those
// and no others, once for each job. What the user has staged stays staged, and stays
// out of the commit. No hook runs, and nothing else that the repository names.
package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/git"
)

// Options say how git is called.
type Options = git.Options

// Trailer is the line of a commit's message that names its job.
const Trailer = "Roster-Job"

const (
	// lookBack is among how many commits one of the same job is looked for.
	lookBack = 500
	// tries is how often a commit is begun anew that another one came before.
	tries = 8
	pause = 50 * time.Millisecond
	// Bounds of the files of one commit, for they are arguments of git.
	maxFiles = 1000
	maxBytes = 512 << 10
)

// Result is what came of it.
type Result struct {
	// Hash is the commit with the trailer of the job: a new one, or, if Before, one
	// that was there. Empty: there is none, and Why says why not.
	Hash   string
	Before bool
	Why    string
	// Skipped are files that were left out.
	Skipped []Skip
	// Behind says that the user's index could not be brought to what was committed, for
	// it was locked: to git status, the files look as if they were staged as they were.
	Behind bool
}

// Skip is a file that is not committed.
type Skip struct{ File, Why string }

// Why there is no commit, or a file is not in it.
const (
	NoRepository = "it is not in a git repository"
	Nothing      = "nothing has changed"
	OutsideTop   = "it is outside of the repository"
	OtherRepo    = "it is in another repository within this one, as a submodule is"
	IsIgnored    = "it is ignored by a .gitignore, and not tracked"
	NotAFile     = "it is neither a file nor a link"
)

// MovedError says that others have committed again and again meanwhile.
type MovedError struct {
	Top string
	Err error
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("the branch of %s has moved, or was locked, %d times while a commit was made; try again: %v", e.Top, tries, e.Err)
}

// Unwrap gives the last cause.
func (e *MovedError) Unwrap() error { return e.Err }

// Commit commits files, absolute or relative to dir, as they are on the disk now;
// those that are gone, as deleted. dir is a real path in the repository, and job the
// id that the trailer names. A job that has a commit among the newest 500 gets no
// other. Nothing to commit and no repository are no errors, and neither is a merge or
// a rebase that the user is in the middle of: Result.Why says so.
//
// Who commits is the user whom git is configured for, or else Roster
// <roster@localhost>. Commit is safe for concurrent use, also by several processes.
func Commit(ctx context.Context, dir string, files []string, message, job string, o Options) (Result, error) {
	if job == "" || strings.ContainsAny(job, "\r\n\x00") {
		return Result{}, fmt.Errorf("the job %q cannot be named in a commit", job)
	}
	repo, err := git.Open(ctx, dir, o)
	var none *git.NoRepoError
	if errors.As(err, &none) {
		why := NoRepository
		if none.Why != "" {
			why = none.Error()
		}
		return Result{Why: why}, nil
	}
	if err != nil {
		return Result{}, err
	}
	if what := repo.Busy(); what != "" {
		return Result{Why: "the user is in the middle of " + what}, nil
	}
	scratch, err := os.MkdirTemp("", "roster-commit-")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(scratch)
	c := &commit{Repo: repo, job: job, message: text(message, job)}
	c.user = repo.With("GIT_LITERAL_PATHSPECS=1")
	c.own = c.user.With("GIT_INDEX_FILE=" + filepath.Join(scratch, "index"))
	if err := c.choose(dir, files); err != nil {
		return Result{}, err
	}
	return c.make(ctx)
}

// text is the message with its trailer.
func text(message, job string) string {
	message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", ""))
	if message == "" {
		message = "Roster"
	}
	return message + "\n\n" + Trailer + ": " + job + "\n"
}

// commit is one that is being made.
type commit struct {
	*git.Repo
	user, own    *git.Git // with the user's index, and with one of its own
	job, message string
	files        []string // below Top, with slashes
	skipped      []Skip
}

// make commits, and begins anew when another commit came before.
func (c *commit) make(ctx context.Context) (r Result, err error) {
	if len(c.files) == 0 {
		return Result{Why: Nothing, Skipped: c.skipped}, nil
	}
	skipped := c.skipped
	for range tries {
		c.skipped = skipped
		var again bool
		r, again, err = c.attempt(ctx)
		r.Skipped = c.skipped
		if !again {
			return r, err
		}
		if err := wait(ctx, pause); err != nil {
			return Result{}, err
		}
	}
	return Result{}, &MovedError{c.Top, err}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt commits once. again: the branch is elsewhere by now, or is locked.
func (c *commit) attempt(ctx context.Context) (r Result, again bool, err error) {
	head, err := c.head(ctx)
	if err != nil {
		return r, false, err
	}
	if r.Hash, err = c.before(ctx, head); err != nil || r.Hash != "" {
		r.Before = true
		if err == nil {
			r.Behind, err = c.settle(ctx, r.Hash)
		}
		return r, false, err
	}
	was, tree, err := c.tree(ctx, head)
	if err != nil {
		return r, false, err
	}
	if was == tree {
		return Result{Why: Nothing}, false, nil
	}
	args := []string{"commit-tree", tree}
	if head != "" {
		args = append(args, "-p", head)
	}
	hash, err := c.own.Read(ctx, strings.NewReader(c.message), args...)
	if err != nil {
		return r, false, err
	}
	_, err = c.user.Run(ctx, "update-ref", "-m", "roster: job "+c.job, "HEAD", hash, head)
	var refused *git.Error
	if err != nil {
		return r, errors.As(err, &refused), err
	}
	r.Hash = hash
	r.Behind, err = c.settle(ctx, hash)
	return r, false, err
}

// head is the commit that HEAD is at; empty: there is none yet.
func (c *commit) head(ctx context.Context) (string, error) {
	head, err := c.user.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	var none *git.Error
	if errors.As(err, &none) && none.Code == 1 {
		return "", nil
	}
	return head, err
}

// before looks for a commit of the same job.
func (c *commit) before(ctx context.Context, head string) (string, error) {
	if head == "" {
		return "", nil
	}
	out, err := c.user.Run(ctx, "log", fmt.Sprint("--max-count=", lookBack), "--format=%H %(trailers:key="+Trailer+",valueonly,separator=%x20)", head)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		for _, job := range fields[min(1, len(fields)):] {
			if job == c.job {
				return fields[0], nil
			}
		}
	}
	return "", nil
}

// tree makes the tree of a commit: that of head, but for the files.
func (c *commit) tree(ctx context.Context, head string) (was, tree string, err error) {
	if was, err = c.treeOf(ctx, head); err != nil {
		return "", "", err
	}
	if _, err = c.own.Run(ctx, "read-tree", was); err != nil {
		return "", "", err
	}
	files, err := c.allowed(ctx, was)
	if err != nil {
		return "", "", err
	}
	if _, err = c.own.Read(ctx, strings.NewReader(joined(files)), "update-index", "--add", "--remove", "--replace", "-z", "--stdin"); err != nil {
		return "", "", err
	}
	tree, err = c.own.Run(ctx, "write-tree")
	return was, tree, err
}

// treeOf is the tree of a commit; of none, the one without a file.
func (c *commit) treeOf(ctx context.Context, hash string) (string, error) {
	if hash == "" {
		return c.own.Read(ctx, strings.NewReader(""), "mktree")
	}
	return c.own.Run(ctx, "rev-parse", "--verify", hash+"^{tree}")
}

func joined(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return strings.Join(files, "\x00") + "\x00"
}
