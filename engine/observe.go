package engine

import (
	"sync"

	"github.com/rosterrun/roster/session"
)

// observers are told of what the agents do that work for those whom they observe.
type observers struct {
	mu   sync.Mutex
	list []observer
}

type observer struct {
	of   string // the session; those below it are told of
	tell func(session.Event)
}

// add begins to observe a session, if its blueprint has an observer.
func (o *observers) add(id string, b *Blueprint) {
	if b.Observe == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, observer{id, b.Observe})
}

// tell is for the root's run, which yields the events of all in order. An observer
// that panics is not told any more.
func (o *observers) tell(e session.Event) {
	if e.Depth == 0 {
		return
	}
	o.mu.Lock()
	list := o.list
	o.mu.Unlock()
	for i := range list {
		x := list[i]
		if e.Session == x.of || !session.Within(e.Session, x.of) {
			continue
		}
		if _, err := safelyAs("the observer", func() (struct{}, error) { x.tell(e); return struct{}{}, nil }); err != nil {
			o.drop(x.of)
		}
	}
}

func (o *observers) drop(of string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := make([]observer, 0, len(o.list))
	for _, x := range o.list {
		if x.of != of {
			left = append(left, x)
		}
	}
	o.list = left
}
