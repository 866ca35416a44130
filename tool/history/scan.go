package history

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// settled is how long a file must have been at rest for its times to tell a later
// change: longer than the clock of a file system takes for a step.
const settled = 20 * time.Millisecond

// parallel is how many directories are looked at at the same time.
func parallel() int { return min(max(runtime.GOMAXPROCS(0), 2), 8) }

// scan brings a tree up to date. What has the stamp that it had is not read.
type scan struct {
	ctx   context.Context
	pack  *pack
	skip  []string // real paths of directories that are no one's business
	root  string
	dev   uint64
	now   int64 // when it began, in nanoseconds
	free  chan struct{}
	count atomic.Int64
}

// TooManyError says that a root holds more than is looked at before each command.
type TooManyError struct{ Root string }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s holds more than %d files and folders that .gitignore does not name", e.Root, maxNodes)
}

func newScan(ctx context.Context, root string, p *pack, skip []string) *scan {
	return &scan{ctx: ctx, pack: p, skip: skip, root: root, now: time.Now().UnixNano(), free: make(chan struct{}, parallel()-1)}
}

// run looks at the root again, of which old is what was seen last; nil: nothing.
func (s *scan) run(old *node) (*node, error) {
	fd, err := unix.Open(s.root, dirFlags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: s.root, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: s.root, Err: err}
	}
	s.dev = uint64(st.Dev)
	var above *rules
	if old != nil && old.rules != nil { // kept from the scan before, if it is the same
		above = baseOf(old.rules)
	}
	above = s.excludes(fd, above)
	return s.dir(fd, newNode("", &st), old, above, nil)
}

// baseOf is the outermost of rules.
func baseOf(r *rules) *rules {
	for r.above != nil {
		r = r.above
	}
	return r
}

// excludes are the rules of the repository itself; there are always some, so that
// what holds in a directory can be told from nothing known.
func (s *scan) excludes(fd int, old *rules) *rules {
	text := readBelow(fd, ".git", "info", "exclude")
	sum := sha256.Sum256(text)
	if old != nil && old.own == sum {
		return old
	}
	return (*rules)(nil).with(text, sum, nil)
}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// dir looks into a directory. now is the directory itself, names its path.
func (s *scan) dir(fd int, now, old *node, above *rules, names []string) (*node, error) {
	if old != nil && old.kind != kindDir {
		old = nil
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	now.trusted = s.atRest(now.stamp)
	now.rules = s.rulesOf(fd, old, above, names)
	list, err := s.names(fd, now, old)
	if err != nil {
		now.why = unreadable
		list = nil
	}
	if s.count.Add(int64(len(list))) > maxNodes {
		return nil, &TooManyError{s.root}
	}
	known := old != nil && old.trusted && old.stamp == now.stamp && old.rules == now.rules
	return now, s.children(fd, now, old, list, known, names)
}

// names lists the entries of a directory, sorted, unless they are as before.
func (s *scan) names(fd int, now, old *node) ([]string, error) {
	if old != nil && old.trusted && old.stamp == now.stamp && old.rules == now.rules {
		list := make([]string, len(old.children))
		for i, c := range old.children {
			list[i] = c.name
		}
		return list, nil
	}
	again, err := unix.Openat(fd, ".", dirFlags, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), ".")
	defer f.Close()
	list, err := f.Readdirnames(-1)
	slices.Sort(list)
	return list, err
}

// rulesOf are those that hold in a directory: the ones before, if nothing has
// changed.
func (s *scan) rulesOf(fd int, old *node, above *rules, names []string) *rules {
	text := readBelow(fd, ".gitignore")
	var before *rules
	if old != nil {
		before = old.rules
	}
	if len(text) == 0 {
		return above
	}
	sum := sha256.Sum256(text)
	if before != nil && before.above == above && before.own == sum {
		return before
	}
	return above.with(text, sum, names)
}

// readBelow reads a small file; an empty text if there is none.
func readBelow(fd int, path ...string) []byte {
	for i, name := range path {
		flags := dirFlags
		if i == len(path)-1 {
			flags = fileFlags
		}
		sub, err := unix.Openat(fd, name, flags, 0)
		if i > 0 {
			unix.Close(fd)
		}
		if err != nil {
			return nil
		}
		fd = sub
	}
	f := os.NewFile(uintptr(fd), path[len(path)-1])
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	return text
}

const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// children looks at each entry. known says that none was added and none is left
// out now that was not before.
func (s *scan) children(fd int, now, old *node, list []string, known bool, names []string) error {
	found := make([]*node, len(list))
	var group sync.WaitGroup
	var failed atomic.Pointer[error]
	own := append(slices.Clip(names), "")
	for i, name := range list {
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			continue // gone since
		}
		own[len(own)-1] = name
		isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
		if !known && s.leaves(name, own, isDir, now.rules) {
			continue
		}
		before := old.child(name)
		if !isDir {
			found[i] = s.entry(fd, name, &st, before)
			continue
		}
		if uint64(st.Dev) != s.dev || len(own) > maxDepth {
			continue
		}
		sub := slices.Clone(own)
		enter := func() {
			n, err := s.enter(fd, newNode(name, &st), before, now.rules, sub)
			if err != nil {
				failed.Store(&err)
			}
			found[i] = n
		}
		select {
		case s.free <- struct{}{}:
			group.Go(func() { enter(); <-s.free })
		default:
			enter()
		}
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	now.children = slices.DeleteFunc(found, func(n *node) bool { return n == nil })
	if old != nil && now.stamp == old.stamp && now.mode == old.mode && slices.Equal(now.children, old.children) {
		now.children = old.children
	}
	return nil
}

// enter looks into a directory, and gives the node of before where nothing has
// changed.
func (s *scan) enter(parent int, now, old *node, above *rules, names []string) (*node, error) {
	fd, err := unix.Openat(parent, now.name, dirFlags, 0)
	if err != nil {
		now.why = unreadable
		return now, nil
	}
	defer unix.Close(fd)
	n, err := s.dir(fd, now, old, above, names)
	if err != nil {
		return nil, err
	}
	if old.equals(n) {
		return old, nil
	}
	return n, nil
}

// equals says whether a directory is the same to the next scan.
func (n *node) equals(o *node) bool {
	return n != nil && n.kind == kindDir && n.stamp == o.stamp && n.mode == o.mode && n.trusted == o.trusted && n.rules == o.rules &&
		slices.Equal(n.children, o.children)
}

// leaves says whether an entry is none of ours.
func (s *scan) leaves(name string, names []string, dir bool, r *rules) bool {
	if name == ".git" || !utf8.ValidString(name) || strings.HasPrefix(name, ".roster-") && strings.HasSuffix(name, ".tmp") {
		return true
	}
	if dir && len(s.skip) > 0 && slices.Contains(s.skip, s.root+"/"+strings.Join(names, "/")) {
		return true
	}
	return r.ignores(names, dir)
}

// child finds an entry.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	if i, ok := slices.BinarySearchFunc(n.children, name, func(c *node, name string) int { return strings.Compare(c.name, name) }); ok {
		return n.children[i]
	}
	return nil
}

// atRest says whether a later change would have another stamp.
func (s *scan) atRest(x stamp) bool {
	last := max(x.mtime, x.ctime)
	return last < s.now-int64(settled)
}

// entry looks at what is no directory.
func (s *scan) entry(fd int, name string, st *unix.Stat_t, old *node) *node {
	now := stampOf(st)
	if old != nil && old.trusted && old.stamp == now && old.mode == uint32(st.Mode)&0o7777|linkMode(st) {
		return old
	}
	n := newNode(name, st)
	switch n.kind {
	case kindLink:
		n.trusted = s.atRest(n.stamp)
		n.target = readLink(fd, name)
	case kindFile:
		s.content(fd, n)
	default:
		return nil // a pipe, socket or device
	}
	if old != nil && *old.plain() == *n.plain() {
		return old
	}
	return n
}

// plain is what can be compared of a node that is no directory.
type plainNode struct {
	kind    kind
	mode    uint32
	why     unkept
	trusted bool
	stamp   stamp
	digest  digest
	target  string
}

func (n *node) plain() *plainNode {
	return &plainNode{n.kind, n.mode, n.why, n.trusted, n.stamp, n.digest, n.target}
}

// linkMode is what newNode gives a link, whose own bits mean nothing.
func linkMode(st *unix.Stat_t) uint32 {
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return 0o777
	}
	return 0
}

func readLink(fd int, name string) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, name, buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// content keeps what a file holds.
func (s *scan) content(fd int, n *node) {
	n.trusted = s.atRest(n.stamp)
	if n.stamp.size > MaxFile {
		n.why = tooLarge
		return
	}
	data, err := readFile(fd, n)
	if errors.Is(err, errChanged) {
		n.why, n.trusted = unsettled, false
		return
	}
	if err != nil {
		n.why = unreadable
		return
	}
	n.digest = sha256.Sum256(data)
	if n.at, err = s.pack.put(n.digest, data); err != nil {
		n.why, n.digest = full, digest{}
	}
}

var errChanged = errors.New("it changed while it was read")

// readFile reads what the node says, and nothing else.
func readFile(fd int, n *node) ([]byte, error) {
	file, err := unix.Openat(fd, n.name, fileFlags, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	for range 3 {
		var before, after unix.Stat_t
		if err := unix.Fstat(file, &before); err != nil {
			return nil, err
		}
		if before.Mode&unix.S_IFMT != unix.S_IFREG || before.Size > MaxFile {
			return nil, errChanged
		}
		data := make([]byte, before.Size)
		if err := readAll(file, data); err != nil {
			continue
		}
		if err := unix.Fstat(file, &after); err == nil && stampOf(&before) == stampOf(&after) {
			n.stamp, n.mode = stampOf(&after), uint32(after.Mode)&0o7777
			return data, nil
		}
	}
	return nil, errChanged
}

func readAll(fd int, data []byte) error {
	for at := 0; at < len(data); {
		n, err := unix.Pread(fd, data[at:], int64(at))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return errChanged
		}
		at += n
	}
	return nil
}
