// Package gitlog reads the history of files from a git repository. It reads the
// objects itself and starts nothing, so nothing that a repository configures,
// such as a pager or a filter, can run. It does not read the configuration.
package gitlog

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const (
	cacheSize   = 16 * cache.MiByte
	maxLink     = 4096 // bytes of a file that names a folder
	maxSubject  = 200  // characters of a message
	maxExamined = 50_000
)

// Repo is an opened repository. It is not safe for concurrent use.
type Repo struct {
	// Top is the folder whose history it has.
	Top   string
	store *filesystem.Storage
}

// Commit is one version of the files.
type Commit struct {
	Hash    string
	Author  string // name <address>
	Time    time.Time
	Subject string // the message's first line, at most 200 characters
}

// ErrNone says that a folder belongs to no repository.
var ErrNone = errors.New("no git repository")

// Open opens the repository that a folder belongs to. The caller closes it.
func Open(dir string) (*Repo, error) {
	for top := filepath.Clean(dir); ; top = filepath.Dir(top) {
		git, err := gitDir(top)
		if err != nil {
			return nil, err
		}
		if git != "" {
			return open(top, git)
		}
		if top == filepath.Dir(top) {
			return nil, ErrNone
		}
	}
}

// gitDir gives the folder of a repository's data: .git, or what a file of that
// name leads to, as it does in a second working tree.
func gitDir(top string) (string, error) {
	git := filepath.Join(top, ".git")
	info, err := os.Stat(git)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(git, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return git, nil
	case !info.Mode().IsRegular():
		return "", nil
	}
	to, err := link(git, "gitdir:")
	if err != nil || to == "" {
		return "", err
	}
	return to, nil
}

// link reads a file that names a folder, after a word.
func link(file, word string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLink))
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(string(data), word)
	if to = strings.TrimSpace(to); !ok || to == "" {
		return "", nil
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to, nil
}

func open(top, git string) (*Repo, error) {
	data := filesOf(git)
	common, err := link(filepath.Join(git, "commondir"), "")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if common != "" {
		data = dotgit.NewRepositoryFilesystem(data, filesOf(common))
	}
	objects := cache.NewObjectLRU(cacheSize)
	return &Repo{top, filesystem.NewStorageWithOptions(data, objects, filesystem.Options{
		KeepDescriptors: true, AlternatesFS: filesOf("/"),
	})}, nil
}

// Close closes the files of the repository.
func (r *Repo) Close() error { return r.store.Close() }

// Log lists the commits that changed one of the files, the newest first, at
// most limit of them: those in which a file is not what it is in a parent. Paths
// have slashes and start at Top. A commit in which none of the files exists is
// left out. It looks at 50,000 commits at most.
func (r *Repo) Log(ctx context.Context, paths []string, limit int) ([]Commit, error) {
	head, err := storer.ResolveReference(r.store, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil // no commit yet
	}
	if err != nil {
		return nil, err
	}
	w := &walk{repo: r, paths: paths, seen: map[plumbing.Hash]bool{}}
	if err := w.push(head.Hash()); err != nil {
		return nil, err
	}
	var out []Commit
	for n := 0; len(w.queue) > 0 && len(out) < limit && n < maxExamined; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := heap.Pop(&w.queue).(step)
		changed, err := w.parents(at)
		if err != nil {
			return nil, err
		}
		if changed && at.files.exist() {
			out = append(out, commitOf(at.commit))
		}
	}
	return out, nil
}

func commitOf(c *object.Commit) Commit {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	if r := []rune(subject); len(r) > maxSubject {
		subject = string(r[:maxSubject])
	}
	return Commit{
		Hash: c.Hash.String(), Author: fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email),
		Time: c.Author.When, Subject: strings.ToValidUTF8(strings.TrimSpace(subject), "�"),
	}
}

// walk goes from a commit to its parents, the youngest commit first.
type walk struct {
	repo  *Repo
	paths []string
	seen  map[plumbing.Hash]bool
	queue steps
}

// step is a commit with what the files are in it.
type step struct {
	commit *object.Commit
	files  files
}

// files are the hashes of the files; zero: not there.
type files []plumbing.Hash

func (f files) exist() bool {
	return slices.ContainsFunc(f, func(h plumbing.Hash) bool { return !h.IsZero() })
}

// parents goes on from a commit and says whether it changed the files. Where a
// parent has the same files, their history is that parent's.
func (w *walk) parents(at step) (changed bool, err error) {
	var next []step
	for _, h := range at.commit.ParentHashes {
		p, err := w.at(h)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			continue // the clone is shallow
		}
		if err != nil {
			return false, err
		}
		if slices.Equal(p.files, at.files) {
			w.add(p)
			return false, nil
		}
		next = append(next, p)
	}
	for _, p := range next {
		w.add(p)
	}
	return true, nil
}

func (w *walk) push(h plumbing.Hash) error {
	s, err := w.at(h)
	if err == nil {
		w.add(s)
	}
	return err
}

func (w *walk) add(s step) {
	if !w.seen[s.commit.Hash] {
		w.seen[s.commit.Hash] = true
		heap.Push(&w.queue, s)
	}
}

func (w *walk) at(h plumbing.Hash) (step, error) {
	c, err := w.repo.commit(h)
	if err != nil {
		return step{}, err
	}
	s := step{c, make(files, len(w.paths))}
	for i, p := range w.paths {
		if s.files[i], err = w.repo.find(c, p); err != nil {
			return step{}, err
		}
	}
	return s, nil
}

func (r *Repo) commit(h plumbing.Hash) (*object.Commit, error) {
	if err := r.fits(h, maxObject); err != nil {
		return nil, err
	}
	return object.GetCommit(r.store, h)
}

// fits says that an object is not too large, before it is read. The size of one
// that another repository has is not known before.
func (r *Repo) fits(h plumbing.Hash, most int64) error {
	size, err := r.store.EncodedObjectSize(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil
	}
	if err == nil && size > most {
		err = fmt.Errorf("it has %d bytes, more than %d", size, most)
	}
	return err
}

// find gives the hash of a regular file in a commit; zero: there is none.
func (r *Repo) find(c *object.Commit, path string) (plumbing.Hash, error) {
	at := c.TreeHash
	names := strings.Split(path, "/")
	for i, name := range names {
		if err := r.fits(at, maxObject); err != nil {
			return plumbing.ZeroHash, err
		}
		tree, err := object.GetTree(r.store, at)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		e, err := tree.FindEntry(name)
		switch {
		case errors.Is(err, object.ErrEntryNotFound):
			return plumbing.ZeroHash, nil
		case err != nil:
			return plumbing.ZeroHash, err
		case i+1 < len(names) && e.Mode != filemode.Dir, i+1 == len(names) && !regular(e):
			return plumbing.ZeroHash, nil
		}
		at = e.Hash
	}
	return at, nil
}

func regular(e *object.TreeEntry) bool { return e.Mode.IsFile() && e.Mode != filemode.Symlink }

// Read gives a file as it is in a commit. One that is not there is
// fs.ErrNotExist, one that has more than most bytes an error.
func (r *Repo) Read(commit, path string, most int64) ([]byte, error) {
	c, err := r.commit(plumbing.NewHash(commit))
	if err != nil {
		return nil, err
	}
	hash, err := r.find(c, path)
	if err == nil && hash.IsZero() {
		err = fmt.Errorf("%s in commit %s: %w", path, commit, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	if err := r.fits(hash, most); err != nil {
		return nil, fmt.Errorf("%s in commit %s: %w", path, commit, err)
	}
	blob, err := object.GetBlob(r.store, hash)
	if err == nil && blob.Size > most {
		err = fmt.Errorf("%s in commit %s has %d bytes, more than %d", path, commit, blob.Size, most)
	}
	if err != nil {
		return nil, err
	}
	in, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, most))
}

// steps is a heap: the youngest commit first.
type steps []step

func (s steps) Len() int { return len(s) }
func (s steps) Less(i, j int) bool {
	return s[i].commit.Committer.When.After(s[j].commit.Committer.When)
}
func (s steps) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push implements heap.Interface.
func (s *steps) Push(x any) { *s = append(*s, x.(step)) }

// Pop implements heap.Interface.
func (s *steps) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
