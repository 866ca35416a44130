package session

import (
	"cmp"
	"context"
	"iter"
)

// Position is a place in a tenant's feed. The zero Position is its beginning.
// Commits count up, in the order of the feed; between two numbers there may be
// gaps.
type Position struct {
	Commit int64 // that the event was part of
	Seq    int64 // of the event in its stream
}

// Compare says whether p is before (-1), at (0) or after (+1) o.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.Commit, o.Commit), cmp.Compare(p.Seq, o.Seq))
}

// Fed is an event in a tenant's feed.
type Fed struct {
	Key   Key
	At    Position
	Event Event
}

// Feed is what was committed for a tenant, over all streams, in one order that
// never changes: that of the commits, with the events of each stream by number.
// What was there before a store kept feeds stands at the beginning, stream by
// stream. It stands beside Store in each backend.
type Feed interface {
	// ReadFeed yields the tenant's committed events after a position. Whoever
	// goes on from the last position that he was given misses nothing: a commit
	// that ends later stands later. What is pruned is left out.
	ReadFeed(ctx context.Context, tenant string, after Position) iter.Seq2[Fed, error]
	// FeedEnd is the position of the newest event, also if that has been pruned
	// since.
	FeedEnd(ctx context.Context, tenant string) (Position, error)
}
