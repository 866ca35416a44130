package runner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// callTime is how long a job about a file waits at most for calls that may have written it.
const callTime = 10 * time.Second

// calls are those of the runs of a rig, in this process, that are under way and may change
// files. It is safe for concurrent use.
type calls struct {
	mu    sync.Mutex
	under map[*call]struct{}
}

// call is one of them.
type call struct{ ended chan struct{} }

func (c *calls) add() *call {
	one := &call{make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under == nil {
		c.under = map[*call]struct{}{}
	}
	c.under[one] = struct{}{}
	return one
}

// drop says that a call has ended, once.
func (c *calls) drop(one *call) {
	c.mu.Lock()
	delete(c.under, one)
	c.mu.Unlock()
	close(one.ended)
}

func (c *calls) now() []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.under))
}

// awaitCalls waits for the calls that are under way, callTime at most. A file is seen as
// soon as it is written, and whose it is becomes known at the end of the call that wrote
// it: a job that began before would stand behind nobody, and knots that go in a circle
// would never end.
func (n *running) awaitCalls(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for _, c := range n.calls.now() {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return
		}
	}
}
