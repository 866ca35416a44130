// Package gitlog reads the history of files from a git repository. It reads the
// objects itself and starts nothing, so nothing that a repository configures,
// such as a pager or a filter, can run. It does not read the configuration.
package gitlog

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	maxSubject  = 200 // characters of a message
	maxExamined = 50_000
)

// Repo is an opened repository. It is not safe for concurrent use.
type Repo struct {
	// Top is the folder whose history it has.
	Top         string
	git, common string // folders of its data: the working tree's own, and all others'
	objects     *objects
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
	data, err := readFile(file, maxSmall)
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
	common, err := link(filepath.Join(git, "commondir"), "")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if common == "" {
		common = git
	}
	all, err := openObjects(filepath.Join(common, "objects"))
	if err != nil {
		return nil, err
	}
	return &Repo{top, git, common, all}, nil
}

// Close closes the files of the repository.
func (r *Repo) Close() error { return r.objects.close() }

// ErrLong says that a history has more commits than are looked at.
var ErrLong = fmt.Errorf("it has more than %d commits", maxExamined)

// Log lists the commits that changed one of the files, the newest first, at
// most limit of them: those in which a file is not what it is in a parent. Paths
// have slashes and start at Top. A commit in which none of the files exists is
// left out. It looks at 50,000 commits at most. What was found before an error is
// given with it.
func (r *Repo) Log(ctx context.Context, paths []string, limit int) ([]Commit, error) {
	head, ok, err := r.head()
	if err != nil || !ok {
		return nil, err
	}
	w := &walk{repo: r, paths: paths, seen: map[hash]bool{}}
	if err := w.push(ctx, head); err != nil {
		return nil, err
	}
	var out []Commit
	for len(w.queue) > 0 && len(out) < limit {
		at := heap.Pop(&w.queue).(step)
		changed, err := w.parents(ctx, at)
		if err != nil {
			return out, err
		}
		if changed && at.files.exist() {
			out = append(out, at.commit.Commit)
		}
	}
	return out, nil
}

// walk goes from a commit to its parents, the youngest commit first.
type walk struct {
	repo  *Repo
	paths []string
	seen  map[hash]bool
	read  int // commits
	queue steps
}

// step is a commit with what the files are in it.
type step struct {
	commit *commit
	files  files
}

// files are the hashes of the files; zero: not there.
type files []hash

func (f files) exist() bool {
	return slices.ContainsFunc(f, func(h hash) bool { return h != hash{} })
}

// parents goes on from a commit and says whether it changed the files. Where a
// parent has the same files, their history is that parent's.
func (w *walk) parents(ctx context.Context, at step) (changed bool, err error) {
	var next []step
	for _, h := range at.commit.parents {
		p, err := w.at(ctx, h)
		if errors.Is(err, errNoCommit) {
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

func (w *walk) push(ctx context.Context, h hash) error {
	s, err := w.at(ctx, h)
	if err == nil {
		w.add(s)
	}
	return err
}

func (w *walk) add(s step) {
	if !w.seen[s.commit.hash] {
		w.seen[s.commit.hash] = true
		heap.Push(&w.queue, s)
	}
}

func (w *walk) at(ctx context.Context, h hash) (step, error) {
	if err := ctx.Err(); err != nil {
		return step{}, err
	}
	if w.read++; w.read > maxExamined {
		return step{}, ErrLong
	}
	c, err := w.repo.commit(h)
	if err != nil {
		return step{}, err
	}
	s := step{c, make(files, len(w.paths))}
	for i, p := range w.paths {
		if s.files[i], err = w.repo.find(c.tree, p); err != nil {
			return step{}, err
		}
	}
	return s, nil
}

// Read gives a file as it is in a commit. One that is not there is
// fs.ErrNotExist, one that has more than most bytes an error.
func (r *Repo) Read(commit, path string, most int) ([]byte, error) {
	h, ok := parseHash(commit)
	if !ok {
		return nil, fmt.Errorf("%q is no commit", commit)
	}
	c, err := r.commit(h)
	if err != nil {
		return nil, err
	}
	file, err := r.find(c.tree, path)
	if err == nil && file == (hash{}) {
		err = fmt.Errorf("%s in commit %s: %w", path, commit, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	data, err := r.objects.read(file, "blob")
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s in commit %s has %d bytes, more than %d", path, commit, len(data), most)
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(data), nil
}

// Newest gives a file as it is in the commit that is checked out. Where there is no such
// commit, or no such file in it, that is fs.ErrNotExist.
func (r *Repo) Newest(path string, most int) ([]byte, error) {
	head, ok, err := r.head()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: nothing is committed: %w", path, fs.ErrNotExist)
	}
	return r.Read(head.String(), path, most)
}

// steps is a heap: the youngest commit first.
type steps []step

func (s steps) Len() int { return len(s) }
func (s steps) Less(i, j int) bool {
	return s[i].commit.committed.After(s[j].commit.committed)
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
