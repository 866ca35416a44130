package memory

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/page"
)

// feed is the commits of one tenant. Its lock is taken after a stream's.
type feed struct {
	mu    sync.Mutex
	parts [][]commit // by pos; none is empty, and what is full is not copied again
	count int
	end   session.Position
	gone  int // commits of streams that were pruned
}

// partSize is how many commits a part of a feed holds.
const partSize = 256

// commit is events that were added to a stream together.
type commit struct {
	pos         int64
	stream      *stream // nil: pruned
	first, last int64
}

// add puts a commit at the end. The caller holds the stream's lock.
func (f *feed) add(st *stream, first, last int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end = session.Position{Commit: f.end.Commit + 1, Seq: last}
	f.keep(commit{f.end.Commit, st, first, last})
}

func (f *feed) keep(c commit) {
	n := len(f.parts)
	if n == 0 || len(f.parts[n-1]) == partSize {
		f.parts = append(f.parts, make([]commit, 0, partSize))
		n++
	}
	f.parts[n-1] = append(f.parts[n-1], c)
	f.count++
}

// minGone is how many commits of pruned streams are let be at least.
const minGone = 64

// drop takes a stream out that is pruned. As it looks at all commits, those that
// are left are brought together only once half of them are gone.
func (f *feed) drop(st *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, part := range f.parts {
		for i := range part {
			if part[i].stream == st {
				part[i].stream = nil
				f.gone++
			}
		}
	}
	if f.gone <= max(minGone, f.count/2) {
		return
	}
	all := f.parts
	f.parts, f.count, f.gone = nil, 0, 0
	for _, part := range all {
		for _, c := range part {
			if c.stream != nil {
				f.keep(c)
			}
		}
	}
}

// next returns the commits from a position's on, a few of them.
func (f *feed) next(from int64) []commit {
	f.mu.Lock()
	defer f.mu.Unlock()
	var some []commit
	n, _ := slices.BinarySearchFunc(f.parts, from, func(p []commit, pos int64) int { return cmp.Compare(p[len(p)-1].pos, pos) })
	for _, part := range f.parts[n:] {
		i, _ := slices.BinarySearchFunc(part, from, func(c commit, pos int64) int { return cmp.Compare(c.pos, pos) })
		some = append(some, part[i:min(len(part), i+page.Events-len(some))]...)
		if len(some) == page.Events {
			break
		}
	}
	return some
}

// feed returns the tenant's, or nil.
func (s *Store) feed(ctx context.Context, tenant string) (*feed, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.feedsMu.Lock()
	defer s.feedsMu.Unlock()
	return s.feeds[tenant], nil
}

// fed notes a commit. The caller holds the stream's lock.
func (s *Store) fed(st *stream, first int64) {
	s.feedsMu.Lock()
	f := s.feeds[st.key.Tenant]
	if f == nil {
		f = &feed{}
		s.feeds[st.key.Tenant] = f
	}
	s.feedsMu.Unlock()
	f.add(st, first, st.sum.Last)
}

// ReadFeed implements session.Feed. Events that are committed while it goes on
// are yielded too.
func (s *Store) ReadFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[session.Fed, error] {
	return page.Feed(ctx, after, func(after session.Position) ([]session.Fed, bool, error) {
		f, err := s.feed(ctx, tenant)
		if err != nil || f == nil {
			return nil, false, err
		}
		return f.page(after)
	})
}

// page returns the next events, and whether there may be more.
func (f *feed) page(after session.Position) (fed []session.Fed, more bool, err error) {
	for more = true; more && len(fed) == 0; {
		commits := f.next(after.Commit)
		more = len(commits) == page.Events
		size := 0
		for _, c := range commits {
			seq := c.first
			if c.pos == after.Commit {
				seq = after.Seq + 1
			}
			for ; c.stream != nil && seq <= c.last; seq++ {
				e := c.stream.event(seq)
				fed = append(fed, session.Fed{Key: c.stream.key, At: session.Position{Commit: c.pos, Seq: seq}, Event: e})
				if size += len(e.Data); size >= page.Bytes {
					return fed, true, nil
				}
			}
			after = session.Position{Commit: c.pos, Seq: c.last}
		}
	}
	return fed, more, nil
}

// FeedEnd implements session.Feed.
func (s *Store) FeedEnd(ctx context.Context, tenant string) (session.Position, error) {
	f, err := s.feed(ctx, tenant)
	if err != nil || f == nil {
		return session.Position{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end, nil
}
