package mcp

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pingTimeout is how long a server may take at most to say that it is there.
const pingTimeout = 10 * time.Second

// doubt asks a server whether it is still there, after something has gone wrong. If
// it is not, the connection is made anew.
func (s *session) doubt() {
	c := s.client
	c.mu.Lock()
	up := c.session == s
	c.mu.Unlock()
	if !up || !s.doubted.CompareAndSwap(false, true) {
		return
	}
	begun := c.pool.begin(func() {
		defer s.doubted.Store(false)
		ctx, cancel := context.WithTimeout(s.ctx, min(pingTimeout, s.server.timeout()))
		defer cancel()
		err := s.sdk.Ping(ctx, nil)
		if err == nil || answered(err) != nil || s.ctx.Err() != nil {
			return
		}
		if errors.Is(err, context.DeadlineExceeded) && c.busy() {
			return // it may be at work on another call, and nothing else
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("it does not answer any more")
		}
		c.end(s, s.plainly(err))
	})
	if !begun {
		s.doubted.Store(false)
	}
}

// busy says whether calls are under way.
func (c *Client) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls > 0
}

// sending is what became of the request that carries a call over HTTP. The library
// loses it now and then: the refusal that ends a connection also ends the calls on it,
// each with whichever word comes first.
type sending struct {
	begun   atomic.Bool
	refused atomic.Bool // the server did not know the session
}

type sendingKey struct{}

func (h *sending) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, sendingKey{}, h)
}

// sendingOf is what is known of a request; it is nobody's where no call is meant.
func sendingOf(ctx context.Context) *sending {
	if h, ok := ctx.Value(sendingKey{}).(*sending); ok {
		return h
	}
	return &sending{}
}

// forgotten says whether a call has failed because the server does not know the
// session any more: it may have been started again. The call has had no effect.
func (s *session) forgotten(err error, call *sending) bool {
	return errors.Is(err, sdk.ErrSessionMissing) || call.refused.Load() ||
		s.web != nil && !call.begun.Load() && errors.Is(err, sdk.ErrConnectionClosed)
}

// end asks for another connection in place of a session, and says why.
func (c *Client) end(s *session, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		tell(c.restart, why)
	}
}

// renew waits until a session that is to end has ended.
func (c *Client) renew(ctx context.Context, s *session, why error) error {
	c.end(s, why)
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
