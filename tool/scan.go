package tool

import (
	"context"
	"strings"
	"sync"
)

const (
	maxBatch   = 32 // files that one goroutine takes at once
	maxWaiting = 4  // batches for each goroutine that wait for an earlier one
)

// scan is the search of files for lines. Files are searched side by side, and
// what is found is put together in their order, so that the result is the same
// every time.
type scan struct {
	*grepPlan
	files []foundFile
	size  int // files in a batch

	mu      sync.Mutex
	wake    *sync.Cond
	next    int              // the batch to take
	merged  int              // batches that are in the result
	waiting map[int][]inFile // batches that were done before an earlier one
	room    int              // batches that may be ahead of those in the result
	ended   bool

	result scanned
}

// scanned is what a scan comes to.
type scanned struct {
	text    strings.Builder
	matches int
	more    bool // the limit was reached, and there are more
	binary  int
	long    int // lines longer than grepBuffer, searched in pieces
}

// inFile is what one file comes to.
type inFile struct {
	subject    string
	lines      []string // as they are shown
	binary     bool
	long       int
	unreadable bool
}

// enough says whether no more can be shown.
func (p *grepPlan) enough(lines, bytes int) bool { return lines > p.limit || bytes > maxReadBytes }

func (p *grepPlan) scan(ctx context.Context) (*scanned, error) {
	n := workers()
	s := &scan{grepPlan: p, files: p.search.found.files, waiting: map[int][]inFile{}, room: n * maxWaiting}
	s.wake = sync.NewCond(&s.mu)
	s.size = max(1, min(len(s.files)/(4*n), maxBatch))
	n = min(n, s.batches())
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { s.work(ctx) })
	}
	wg.Wait()
	return &s.result, ctx.Err()
}

func (s *scan) batches() int { return (len(s.files) + s.size - 1) / s.size }

func (s *scan) work(ctx context.Context) {
	w := newScanner(ctx, s.grepPlan)
	for {
		batch, ok := s.take(ctx)
		if !ok {
			return
		}
		s.done(batch, w.batch(s.files[batch*s.size:min(len(s.files), (batch+1)*s.size)]))
	}
}

// take gives a batch to search, when not too many wait for an earlier one: that
// is at work then, so it will end.
func (s *scan) take(ctx context.Context) (batch int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.next-s.merged >= s.room && !s.ended {
		s.wake.Wait()
	}
	if s.ended || s.next == s.batches() || ctx.Err() != nil {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// done takes the results of a batch, and merges those whose turn it is.
func (s *scan) done(batch int, found []inFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[batch] = found
	for {
		found, ok := s.waiting[s.merged]
		if !ok {
			break
		}
		delete(s.waiting, s.merged)
		s.merged++
		for i := range found {
			s.merge(&found[i])
		}
	}
	s.wake.Broadcast()
}

func (s *scan) merge(f *inFile) {
	r := &s.result
	if s.ended {
		return
	}
	for _, line := range f.lines {
		if s.enough(r.matches+1, r.text.Len()) {
			r.more, s.ended = true, true
			return
		}
		r.matches++
		r.text.WriteString(line)
	}
	r.long += f.long
	if f.binary {
		r.binary++
	}
	if f.unreadable {
		s.search.unread(f.subject)
	}
}
