package catalog

import (
	"context"
	"iter"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// reconcile is how often Watch looks without a hint, at least; a look that
	// takes long is made less often.
	reconcile = 2 * time.Second
	// gather is how long Watch waits after a hint, for there are more.
	gather = 50 * time.Millisecond
	// maxWatched bounds the folders that the operating system is asked to
	// watch; what is beyond is seen by looking.
	maxWatched = 8192
)

// Watch ranges over the snapshots of the catalog: the one when the range begins,
// and each that differs from the one before. It ends with ctx. The operating
// system's notices only hasten a look; what they miss is seen by the next.
func (c *Catalog) Watch(ctx context.Context) iter.Seq[*Snapshot] {
	return func(yield func(*Snapshot) bool) {
		n := newNotices()
		defer n.close()
		var last *Snapshot
		for ctx.Err() == nil {
			began := time.Now()
			s := c.Snapshot()
			took := time.Since(began)
			if s != last && !yield(s) {
				return
			}
			last = s
			if n.follow(c) {
				continue // something may have changed before the folder was watched
			}
			n.wait(ctx, took)
		}
	}
}

// notices are the operating system's notices of changes. Without them, when it
// has no more to give, there are none.
type notices struct {
	watcher *fsnotify.Watcher // nil: none to be had
	folders map[string]bool
	walks   int // of the catalog, when the folders were taken from it
}

func newNotices() *notices {
	n := &notices{folders: map[string]bool{}}
	if w, err := fsnotify.NewBufferedWatcher(64); err == nil {
		n.watcher = w
	}
	return n
}

func (n *notices) close() {
	if n.watcher != nil {
		n.watcher.Close()
	}
}

// follow watches the folders that the catalog depends on, and says whether there
// are new ones.
func (n *notices) follow(c *Catalog) bool {
	if n.watcher == nil {
		return false
	}
	c.mu.Lock()
	walks := c.walks
	var now map[string]bool
	if walks != n.walks {
		now = c.folders()
	}
	c.mu.Unlock()
	if walks == n.walks {
		return false
	}
	n.walks = walks
	for folder := range n.folders {
		if !now[folder] {
			delete(n.folders, folder)
			n.watcher.Remove(folder) // it may be gone, which removes it too
		}
	}
	added := false
	for folder := range now {
		if n.folders[folder] || len(n.folders) == maxWatched {
			continue
		}
		if n.watcher.Add(folder) == nil {
			n.folders[folder], added = true, true
		}
	}
	return added
}

// folders lists the folders in which a change may matter. The caller holds mu.
func (c *Catalog) folders() map[string]bool {
	all := map[string]bool{}
	for _, v := range c.visits {
		for _, l := range v.looks {
			if l.folder {
				all[l.path] = true
			} else {
				all[filepath.Dir(l.path)] = true
			}
		}
	}
	return all
}

// wait returns after a notice and those that come with it, after the time for a
// look without one, or when ctx ends. took is how long a look takes: looking
// takes a tenth of a processor at most, and a fiftieth when nothing happens.
func (n *notices) wait(ctx context.Context, took time.Duration) {
	idle := time.NewTimer(max(reconcile, 50*took))
	defer idle.Stop()
	if n.watcher == nil {
		select {
		case <-ctx.Done():
		case <-idle.C:
		}
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-idle.C:
		return
	case e := <-n.watcher.Events:
		n.forget(e)
	case <-n.watcher.Errors: // such as that notices were lost
	}
	more := time.NewTimer(max(gather, 10*took))
	defer more.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-more.C:
			return
		case e := <-n.watcher.Events:
			n.forget(e)
		case <-n.watcher.Errors:
		}
	}
}

// forget has a folder watched anew when another comes to its path.
func (n *notices) forget(e fsnotify.Event) {
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		if n.folders[e.Name] {
			delete(n.folders, e.Name)
			n.walks = -1
		}
	}
}
