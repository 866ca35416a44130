package host

import (
	"bytes"
	"sync"

	"github.com/rosterrun/roster/session"
)

// What is kept of what the readers of one session were written lately.
const (
	crowdFrames = 128
	crowdBytes  = 1 << 20
)

// crowd is the readers of one session, who share what is written to them: each
// event is encoded once. Readers who stand together have the same events, at the
// same addresses.
type crowd struct {
	readers int // guarded by the host

	mu     sync.Mutex
	size   int                       // readers as frames count them
	frames map[*session.Event]*frame // nil: nobody shares
	order  []*session.Event          // the oldest first; some have no frame any more
	bytes  int
}

// frame is what readers are written of an event. It is kept for as many as stood
// there when it was made: who comes later, or is behind, may find it no more.
type frame struct {
	text []byte
	left int // readers who have not taken it
}

// join counts a reader of a session in.
func (h *Host) join(k session.Key) *crowd {
	h.crowdsMu.Lock()
	defer h.crowdsMu.Unlock()
	c := h.crowds[k]
	if c == nil {
		if h.crowds == nil {
			h.crowds = map[session.Key]*crowd{}
		}
		c = &crowd{}
		h.crowds[k] = c
	}
	c.readers++
	c.resize(c.readers)
	return c
}

// leave counts a reader out.
func (h *Host) leave(k session.Key, c *crowd) {
	h.crowdsMu.Lock()
	defer h.crowdsMu.Unlock()
	if c.readers--; c.readers == 0 {
		delete(h.crowds, k)
	}
	c.resize(c.readers)
}

// resize has frames kept while there are several readers: one has nobody to share with.
func (c *crowd) resize(readers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.size = readers; {
	case readers < 2:
		c.frames, c.order, c.bytes = nil, nil, 0
	case c.frames == nil:
		c.frames = map[*session.Event]*frame{}
	}
}

// append adds what write makes of an event, or what it made for another reader.
func (c *crowd) append(dst []byte, e *session.Event, write func([]byte) []byte) []byte {
	c.mu.Lock()
	if c.frames == nil {
		c.mu.Unlock()
		return write(dst)
	}
	defer c.mu.Unlock()
	if f := c.frames[e]; f != nil {
		dst = append(dst, f.text...)
		if f.left--; f.left == 0 {
			c.drop(e)
		}
		return dst
	}
	from := len(dst)
	dst = write(dst)
	c.keep(e, dst[from:])
	return dst
}

func (c *crowd) keep(e *session.Event, text []byte) {
	c.frames[e] = &frame{bytes.Clone(text), c.size - 1}
	c.order, c.bytes = append(c.order, e), c.bytes+len(text)
	for len(c.order) > 0 && (c.frames[c.order[0]] == nil || len(c.order) > crowdFrames || c.bytes > crowdBytes) {
		c.drop(c.order[0])
		c.order[0] = nil // the events behind it are in the same array
		c.order = c.order[1:]
	}
}

func (c *crowd) drop(e *session.Event) {
	if f := c.frames[e]; f != nil {
		c.bytes -= len(f.text)
		delete(c.frames, e)
	}
}
