package strand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Bounds of a Watcher.
const (
	MaxPending = 100_000 // paths that wait to be quiet
	MaxWatched = 65_536  // folders that the operating system watches
)

// Handler is told what a Watcher sees. Its functions are called one at a time, and
// should return soon: what happens meanwhile waits in the operating system, which
// drops it when there is too much.
type Handler struct {
	// Settled gives paths of a folder in which something has changed, and that have
	// been quiet since: made, written or gone. They are below it, with slashes, and in
	// the order in which they came to rest.
	Settled func(d *Dir, paths []string)
	// Rescan asks for a Scan of a folder: it is new, it appeared or went, something was
	// moved out of it, or changes were missed.
	Rescan func(d *Dir)
	// Trouble says that changes of a folder may not be seen: *UnwatchedError.
	Trouble func(d *Dir, err error)
}

// UnwatchedError says that the operating system does not watch a folder.
type UnwatchedError struct {
	Path string // absolute
	Err  error
}

func (e *UnwatchedError) Error() string {
	return fmt.Sprintf("changes in %s are not noticed at once: %v; it is still looked at from time to time (on Linux, more folders are watched with sysctl fs.inotify.max_user_watches)", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *UnwatchedError) Unwrap() error { return e.Err }

var errTooMany = fmt.Errorf("more than %d folders would be watched", MaxWatched)

// Watcher notices what changes in folders, and below them. It does nothing while
// nothing happens.
type Watcher struct {
	handler Handler
	most    int

	mu   sync.Mutex
	dirs []*Dir
	wake chan struct{}
}

// NewWatcher returns a watcher, which sees nothing until it runs. pending bounds the
// paths that wait to be quiet; 0: MaxPending.
func NewWatcher(h Handler, pending int) *Watcher {
	if pending <= 0 {
		pending = MaxPending
	}
	return &Watcher{handler: h, most: pending, wake: make(chan struct{}, 1)}
}

// Set says which folders are watched from now on. Each that is new is asked to be
// scanned, when it is watched. Set may be called at any time, by any goroutine and
// also with the same folders: then it looks, at the cost of a stat for each, whether
// they are still those that are watched, for nothing is said when a folder above one
// is moved.
func (w *Watcher) Set(dirs ...*Dir) {
	w.mu.Lock()
	w.dirs = slices.Clone(dirs)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends, and returns nothing then. An error means that nothing
// is watched: the operating system has no watcher to give, or has taken it away. It
// must not run twice at once.
func (w *Watcher) Run(ctx context.Context) error {
	l := &loop{Watcher: w, tree: newTree(), quiet: newQuiet(w.most)}
	l.tree.trouble, l.tree.touch, l.tree.rescan = w.handler.Trouble, l.touched, l.rescan
	if err := l.open(); err != nil {
		return err
	}
	defer func() { l.source.close() }()
	return l.run(ctx)
}

// source is a watcher of the operating system.
type source struct {
	*fsnotify.Watcher
	lost  chan struct{} // it has dropped changes
	drain sync.WaitGroup
}

func newSource() (*source, error) {
	notify, err := fsnotify.NewBufferedWatcher(64)
	if err != nil {
		return nil, fmt.Errorf("no folder can be watched (on Linux, there are more watchers with sysctl fs.inotify.max_user_instances): %w", err)
	}
	s := &source{Watcher: notify, lost: make(chan struct{}, 1)}
	// Errors are always taken: fsnotify may hold its lock while it waits for that.
	s.drain.Go(func() {
		for range notify.Errors {
			select {
			case s.lost <- struct{}{}:
			default:
			}
		}
	})
	return s, nil
}

func (s *source) close() {
	_ = s.Close() // nothing can be done about it
	s.drain.Wait()
}

// loop is a Watcher that runs.
type loop struct {
	*Watcher
	source *source
	opened time.Time
	tree   *tree
	quiet  *quiet
	missed bool // changes were dropped, and with them perhaps new folders
}

// renewal is how often everything is watched anew, at most.
const renewal = time.Second

var errClosed = errors.New("the operating system has ended the watch of all folders")

// open begins with a new source.
func (l *loop) open() (err error) {
	l.source, err = newSource()
	if err != nil {
		return err
	}
	l.opened, l.missed = time.Now(), false
	l.tree.anew(l.source.Watcher)
	return nil
}

func (l *loop) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	l.set()
	for {
		l.arm(timer)
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
			l.set()
		case <-l.source.lost:
			l.missed = true
		case e, ok := <-l.source.Events:
			if !ok {
				return errClosed
			}
			l.tree.event(e)
		case <-timer.C:
		}
		if err := l.renew(); err != nil {
			return err
		}
		l.deliver()
	}
}

func (l *loop) untrue() bool { return l.missed || l.tree.stale }

// renew watches everything anew where that is needed.
func (l *loop) renew() error {
	if !l.untrue() || time.Since(l.opened) < renewal {
		return nil
	}
	l.source.close()
	return l.open()
}

// arm has the timer go off when there is something to do.
func (l *loop) arm(timer *time.Timer) {
	timer.Stop()
	due, ok := l.quiet.next()
	if again := l.opened.Add(renewal); l.untrue() && (!ok || again.Before(due)) {
		due, ok = again, true
	}
	if ok {
		timer.Reset(time.Until(due))
	}
}

// set takes over the folders of Set.
func (l *loop) set() {
	l.mu.Lock()
	dirs := l.dirs
	l.mu.Unlock()
	for _, d := range l.tree.set(dirs) {
		l.quiet.forget(d)
	}
}

func (l *loop) touched(d *Dir, path string) { l.quiet.touch(d, path, time.Now()) }
func (l *loop) rescan(d *Dir)               { l.quiet.touch(d, "", time.Now()) }

// deliver tells what is due: for each folder at once.
func (l *loop) deliver() {
	due := l.quiet.ready(time.Now())
	var order []*Dir
	paths := map[*Dir][]string{}
	for _, t := range due {
		if t.path == "" {
			l.handler.Rescan(t.dir)
			continue
		}
		if paths[t.dir] == nil {
			order = append(order, t.dir)
		}
		paths[t.dir] = append(paths[t.dir], t.path)
	}
	for _, d := range order {
		l.handler.Settled(d, paths[d])
	}
}
