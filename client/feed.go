package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// Fed is an event of the feed of all sessions.
type Fed struct {
	Event
	// Position is where the event stands in the feed: with it as FeedOptions.After a
	// program goes on behind the event, also after a restart of it or of the server.
	Position string
}

// FeedFromStart is the position before the first event of a feed.
const FeedFromStart = "0"

// FeedOptions say which events of the feed are shown.
type FeedOptions struct {
	// After is the Position after which to begin; empty: with what happens from now on.
	After string
	// Types are those of the events that are wanted, such as loop.end; none: all.
	Types []string
}

// Feed yields the stored events of all sessions of the caller's tenant in the order in
// which they were committed, and goes on as they come. It connects again where it was
// cut off, so that each event comes once; an error ends it, such as one of a position
// that is none of this feed.
func (c *Client) Feed(ctx context.Context, o FeedOptions) iter.Seq2[Fed, error] {
	return func(yield func(Fed, error) bool) {
		q := url.Values{}
		if o.After != "" {
			q.Set("after", o.After)
		}
		if len(o.Types) > 0 {
			q.Set("type", strings.Join(o.Types, ","))
		}
		s := &stream{c: c, feed: true, req: request{method: http.MethodGet, path: "/events", query: q}}
		s.run(ctx, func(e Event, err error) bool { return yield(Fed{e, s.position}, err) })
	}
}
