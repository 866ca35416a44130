package engine

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Capability is something that an agent can do: tools that come together, with what
// a model is told of them in common and what they start. It is shared by all runs.
type Capability struct {
	// Name stands for all of its tools where a profile lists tools.
	Name    string
	Summary string // one line, for people
	Tools   []tool.Tool
	// Builtin are the built-in tools, or groups of them, that it stands for in a profile
	// that a program defines. It then has no Tools.
	Builtin []string
	// Keys are what such a profile says with it: keys of profiles, and their values as
	// text. They are not read where a profile only lists the capability.
	Keys map[string]string
	// Fragment is added to the system prompt of who is offered one of the tools, and
	// Context and Transform to the requests; empty or nil: nothing.
	Fragment  string
	Context   ContextProvider
	Transform Transform
	// Open starts what the calls of one run share, such as a browser; nil: nothing.
	// It is called when a plan first asks for it (tool.Call.Opened), once in a run; after
	// an error the next call tries again. ctx is that of the call, and what is started
	// outlives it. It is closed when the run ends, waits for a person or is handed over
	// to another profile; Close returns soon, and its error is nobody's.
	Open func(ctx context.Context, s Scope) (io.Closer, error)
}

// Scope says for which run a Capability is opened.
type Scope struct {
	Key       session.Key // of the stream
	Session   string      // of the stream; the root or a child
	Depth     int         // of the session; 0: the root
	User      string      // whose prompt it is; empty: the one user of this machine
	Chain     string      // the request that all of this is done for, as events name it
	Profile   string
	Workspace string
	Permit    *permission.Engine // what the agent may do
	Box       sandbox.Box        // where its commands run
}

// opening is a capability that a run has opened, or is about to.
type opening struct {
	of *Capability
	mu sync.Mutex
	io.Closer
}

// openings are those of one run. The zero value has none.
type openings struct {
	mu   sync.Mutex
	list []*opening
}

func (o *openings) of(c *Capability) *opening {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.list {
		if x.of == c {
			return x
		}
	}
	x := &opening{of: c}
	o.list = append(o.list, x)
	return x
}

// opener is Call.Opened of a tool; nil: its capability has nothing to open.
func (r *run) opener(t offered) func(context.Context) (io.Closer, error) {
	if t.of.Open == nil {
		return nil
	}
	s := Scope{
		Key: r.st.Key, Session: r.id, Depth: r.depth, User: r.st.Root.User, Chain: r.chain,
		Profile: r.Spec.Name, Workspace: r.Spec.Workspace, Permit: r.permit, Box: r.Box,
	}
	x := r.opened.of(t.of)
	return func(ctx context.Context) (io.Closer, error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.Closer != nil {
			return x.Closer, nil
		}
		c, err := safelyAs("the capability "+t.of.Name, func() (io.Closer, error) { return t.of.Open(ctx, s) })
		if err == nil && c == nil {
			err = fmt.Errorf("the capability %s gave nothing", t.of.Name)
		}
		if err != nil {
			return nil, err
		}
		x.Closer = c
		return c, nil
	}
}

// closeOpened closes what the run has opened, the newest first, while others may go
// on.
func (r *run) closeOpened() {
	if len(r.opened.list) == 0 {
		return
	}
	list := r.opened.list
	r.opened.list = nil
	r.mu.Unlock()
	defer r.mu.Lock()
	for i := len(list) - 1; i >= 0; i-- {
		if c := list[i].Closer; c != nil {
			_, _ = safelyAs("the capability", func() (struct{}, error) { return struct{}{}, c.Close() })
		}
	}
}
