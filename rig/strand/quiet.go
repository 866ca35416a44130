package strand

import (
	"container/heap"
	"time"
)

// longest is how long a path that is touched again and again is waited for.
const longest = time.Minute

// touch is a path that waits until it has not been touched for a while. The empty
// path is the whole folder.
type touch struct {
	dir   *Dir
	path  string
	first time.Time
	due   time.Time
	seq   uint64 // of two that are due at once, the one that was touched first goes first
	place int    // in the heap
}

// quiet holds paths back until they are quiet, and in a bound: too many are
// forgotten, and their folders wait as a whole.
type quiet struct {
	most  int
	known map[*Dir]map[string]*touch
	queue touches
	seq   uint64
}

func newQuiet(most int) *quiet { return &quiet{most: most, known: map[*Dir]map[string]*touch{}} }

// touch begins the wait for a path anew, but not for longer than longest in all.
func (q *quiet) touch(d *Dir, path string, now time.Time) {
	paths := q.known[d]
	if paths == nil {
		paths = map[string]*touch{}
		q.known[d] = paths
	}
	if t := paths[path]; t != nil {
		if path == "" {
			return // a look finds what comes before it
		}
		t.due = now.Add(d.o.Debounce)
		if last := t.first.Add(longest); last.Before(t.due) {
			t.due = last
		}
		heap.Fix(&q.queue, t.place)
		return
	}
	if path != "" && len(q.queue) >= q.most {
		if paths[""] == nil { // else it is looked at anyway
			q.overflow(now)
		}
		return
	}
	q.seq++
	t := &touch{dir: d, path: path, first: now, due: now.Add(d.o.Debounce), seq: q.seq}
	paths[path] = t
	heap.Push(&q.queue, t)
}

// overflow forgets all paths; their folders are to be looked at.
func (q *quiet) overflow(now time.Time) {
	dirs := q.known
	q.known, q.queue = map[*Dir]map[string]*touch{}, nil
	for d := range dirs {
		q.touch(d, "", now)
	}
}

// forget takes out what waits for a folder.
func (q *quiet) forget(d *Dir) {
	for _, t := range q.known[d] {
		heap.Remove(&q.queue, t.place)
	}
	delete(q.known, d)
}

// ready takes out what is due, in the order in which it became so.
func (q *quiet) ready(now time.Time) (out []*touch) {
	for len(q.queue) > 0 && !q.queue[0].due.After(now) {
		t := heap.Pop(&q.queue).(*touch)
		if delete(q.known[t.dir], t.path); len(q.known[t.dir]) == 0 {
			delete(q.known, t.dir)
		}
		out = append(out, t)
	}
	return out
}

// next is when the first is due.
func (q *quiet) next() (due time.Time, ok bool) {
	if len(q.queue) == 0 {
		return time.Time{}, false
	}
	return q.queue[0].due, true
}

// touches is a heap, by when they are due.
type touches []*touch

func (h touches) Len() int { return len(h) }

func (h touches) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].seq < h[j].seq
}

func (h touches) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *touches) Push(x any) {
	t := x.(*touch)
	t.place = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *touches) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
