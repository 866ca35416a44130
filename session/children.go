package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
)

// childMark stands between a session's id and the number of its child.
const childMark = "_"

// ChildID is the id of the n-th child of a session, from 1. It says in which
// stream the child is, and where in its tree.
func ChildID(parent string, n int) string { return parent + childMark + strconv.Itoa(n) }

// StreamOf is the stream that a session is in: its root session's id.
func StreamOf(id string) string {
	root, _, _ := strings.Cut(id, childMark)
	return root
}

// Within says whether a session is the given one or below it.
func Within(id, root string) bool {
	return id == root || strings.HasPrefix(id, root) && strings.HasPrefix(id[len(root):], childMark)
}

// Session returns the session with that id, or nil.
func (s *State) Session(id string) *Session {
	if id == s.Root.ID {
		return &s.Root
	}
	return s.Children[id]
}

// child finds the child that an event belongs to, or makes it.
func (s *State) child(e *Event, body Body) (*Session, error) {
	c := s.Children[e.Session]
	start, begins := body.(*Start)
	switch {
	case c != nil && begins:
		return nil, fmt.Errorf("session %s: event %d: session %s begins twice", s.Key, e.Seq, e.Session)
	case c != nil:
		return c, nil
	case !begins:
		return nil, fmt.Errorf("session %s: event %d (%s) is of session %q, which has not begun or has ended", s.Key, e.Seq, e.Type, e.Session)
	}
	parent := s.Session(start.Parent)
	if parent == nil {
		return nil, fmt.Errorf("session %s: event %d: session %q begins below %q, which is not there", s.Key, e.Seq, e.Session, start.Parent)
	}
	c = &Session{ID: e.Session, Parent: start.Parent, Call: start.Call, Depth: parent.Depth + 1}
	if s.Children == nil {
		s.Children = map[string]*Session{}
	}
	s.Children[c.ID] = c
	return c, nil
}

// tellParents counts what happens in a child for those it works for: what it
// uses, what it is denied, which models fail, and that it gets on.
func (s *State) tellParents(c *Session, body Body) {
	for p := s.above(c); p != nil; p = s.above(p) {
		switch b := body.(type) {
		case *Usage:
			p.Usage = p.Usage.Add(b.Usage)
			if p.Loop != nil {
				p.Loop.Usage = p.Loop.Usage.Add(b.Usage)
			}
		case *Fallback:
			p.rest(b)
		case *Message:
			if p.Loop != nil && b.Role == message.Assistant {
				p.Loop.Resumed = 0
			}
		case *ToolAfter:
			if p.Loop == nil {
				continue
			}
			p.Loop.Resumed = 0
			if b.Outcome == Denied {
				p.Loop.Denied++
			}
		}
	}
}

// above is the session that delegated to c; nil for the root.
func (s *State) above(c *Session) *Session {
	if p := s.Session(c.Parent); p != nil && p.Depth < c.Depth { // a broken log may name them in a circle
		return p
	}
	return nil
}

// forget drops the child of a call that has ended, and what is below it.
func (s *State) forget(in *Session, call string) {
	for _, c := range s.Children {
		if c.Parent != in.ID || c.Call != call {
			continue
		}
		for id := range s.Children {
			if Within(id, c.ID) {
				delete(s.Children, id)
			}
		}
	}
}

// Child describes a child session for a list.
type Child struct {
	ID, Parent, Call string
	Depth            int
	Profile, Title   string
	Created, Updated time.Time
	Turns            int
	Usage            message.Usage // of its children too
	Open             bool          // it is at work
	Failed           bool
}

// Status derives the status.
func (c *Child) Status() Status {
	switch {
	case c.Open:
		return Running
	case c.Failed:
		return Failed
	}
	return Idle
}

// Children gathers the children of a stream from its events.
type Children struct {
	list []*Child
	byID map[string]*Child
}

// List gives the children in the order in which they began.
func (c *Children) List() []*Child { return c.list }

// Get returns the child with that id, or nil.
func (c *Children) Get(id string) *Child { return c.byID[id] }

// Apply takes the next event of the stream in.
func (c *Children) Apply(e *Event) error {
	if e.Depth == 0 {
		return nil
	}
	body, err := e.Decode()
	if err != nil {
		return err
	}
	child := c.byID[e.Session]
	if start, ok := body.(*Start); ok && child == nil {
		child = &Child{
			ID: e.Session, Parent: start.Parent, Call: start.Call, Depth: e.Depth,
			Profile: start.Profile, Title: start.Title, Created: e.Time,
		}
		if c.byID == nil {
			c.byID = map[string]*Child{}
		}
		c.byID[child.ID] = child
		c.list = append(c.list, child)
	}
	if child == nil {
		return nil
	}
	child.Updated = e.Time
	switch b := body.(type) {
	case *LoopStart:
		child.Open, child.Failed = true, false
	case *TurnStart:
		child.Turns++
	case *Usage:
		for p, depth := child, child.Depth+1; p != nil && p.Depth < depth; p, depth = c.byID[p.Parent], p.Depth {
			p.Usage = p.Usage.Add(b.Usage)
		}
	case *LoopEnd:
		child.Open, child.Failed = false, b.failed()
	}
	return nil
}
