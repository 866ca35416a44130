package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
)

// subscriptions are the sessions that clients want to hear of. Each is followed
// once, however many want it.
type subscriptions struct {
	mu      sync.Mutex
	of      map[string]*followed
	clients map[*sdk.ServerSession]bool // whose end is waited for
}

type followed struct {
	by   map[*sdk.ServerSession]bool
	stop context.CancelFunc
}

// subscribe begins to follow a session for a client.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	k, _, _, ok := s.sessionOf(uri)
	if !ok {
		return sdk.ResourceNotFoundError(uri)
	}
	store, err := s.opts.Host.Backend(ctx)
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, k)
	if errors.Is(err, session.ErrNoStream) {
		return sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return err
	}
	c := &s.subs
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.of[uri]
	if f == nil {
		if len(c.of) >= maxSubscriptions {
			return fmt.Errorf("%d sessions are followed, and no more are: unsubscribe from one", len(c.of))
		}
		if c.of == nil {
			c.of, c.clients = map[string]*followed{}, map[*sdk.ServerSession]bool{}
		}
		f = &followed{by: map[*sdk.ServerSession]bool{}}
		ctx, f.stop = context.WithCancel(s.ctx)
		c.of[uri] = f
		s.job(func() { s.followSession(ctx, uri, k, sum.Last) })
	}
	f.by[req.Session] = true
	if !c.clients[req.Session] {
		c.clients[req.Session] = true
		s.job(func() { s.forget(req.Session) })
	}
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	c := &s.subs
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(req.Params.URI, req.Session)
	return nil
}

// drop ends the subscription of a client. c.mu is held.
func (c *subscriptions) drop(uri string, client *sdk.ServerSession) {
	f := c.of[uri]
	if f == nil {
		return
	}
	if delete(f.by, client); len(f.by) == 0 {
		f.stop()
		delete(c.of, uri)
	}
}

// forget ends the subscriptions of a client when it is gone.
func (s *Server) forget(client *sdk.ServerSession) {
	_ = client.Wait()
	c := &s.subs
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, client)
	for uri := range c.of {
		c.drop(uri, client)
	}
}

// followSession tells of what is said in a session, until ctx ends.
func (s *Server) followSession(ctx context.Context, uri string, k session.Key, after int64) {
	for {
		var behind *dispatch.FellBehind
		for batch, err := range s.opts.Host.Follow(ctx, k, after) {
			if errors.As(err, &behind) {
				break
			}
			if err != nil {
				if ctx.Err() == nil {
					s.opts.Log.Error("a session that an MCP client follows", "session", k.Stream, "error", err)
				}
				return
			}
			if !changes(batch) {
				continue
			}
			if err := s.mcp.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.opts.Log.Debug("an MCP client was not told", "uri", uri, "error", err)
			}
		}
		if behind == nil {
			return
		}
		after = behind.From
	}
}

// changes says whether events change what a session reads as.
func changes(batch []session.Event) bool {
	for i := range batch {
		switch batch[i].Type {
		case "message", "revert", "compaction", "loop.end":
			return true
		}
	}
	return false
}
