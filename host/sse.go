package host

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rosterrun/roster/dispatch"
)

// flushBytes bounds how much of a batch is gathered before it is written.
const flushBytes = 32 << 10

// pingText is a comment, which clients pass over.
const pingText = ": ping\n\n"

// sse writes an event stream (text/event-stream) to one client. Its events are
// written by one goroutine; pings come in between by themselves.
type sse struct {
	host  *Host
	w     *response
	timer *time.Timer

	mu     sync.Mutex // of w
	ping   []byte     // what is written when there is nothing else
	last   time.Time  // of the last write
	closed bool
}

// newSSE sends the head of the answer. Close must be called.
func (h *Host) newSSE(w *response) (*sse, error) {
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("X-Accel-Buffering", "no")
	s := &sse{host: h, w: w, ping: []byte(pingText), last: time.Now()}
	w.extend()
	w.WriteHeader(http.StatusOK)
	if err := w.control.Flush(); err != nil {
		return nil, err
	}
	w.streams = true
	h.stats.streams.Add(1)
	s.timer = time.AfterFunc(h.deps.PingEvery, s.keepAlive)
	return s, nil
}

// Close ends the pings; nothing is written after it.
func (s *sse) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.host.stats.streams.Add(-1)
	}
	s.closed = true
	s.timer.Stop()
}

// keepAlive writes a ping if nothing else was written for a while.
func (s *sse) keepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	every := s.host.deps.PingEvery
	idle := time.Since(s.last)
	if idle >= every {
		if s.write(s.ping) != nil || s.w.control.Flush() != nil {
			return // the request's context ends, and the stream with it
		}
		idle = 0
	}
	s.timer.Reset(every - idle)
}

// setPing sets what is written when there is nothing else.
func (s *sse) setPing(ping []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ping = ping
}

// write is called with mu held.
func (s *sse) write(b []byte) error {
	s.last = time.Now()
	_ = s.w.control.SetWriteDeadline(s.last.Add(writeTime)) // a recorder in a test has none
	_, err := s.w.Write(b)
	return err
}

// send writes a batch of n events, each as frame appends it, and flushes it.
func (s *sse) send(n int, frame func(dst []byte, i int) []byte) error {
	buf, _ := s.host.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer s.host.buffers.Put(buf)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := (*buf)[:0]
	for i := range n {
		out = frame(out, i)
		if len(out) < flushBytes {
			continue
		}
		if err := s.write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	if cap(out) <= 2*flushBytes {
		*buf = out
	}
	if len(out) > 0 {
		if err := s.write(out); err != nil {
			return err
		}
	}
	return s.w.control.Flush()
}

// fail ends the stream with an event that says why, if it has to say something.
func (s *sse) fail(err error) {
	var behind *dispatch.FellBehind
	var out []byte
	switch {
	case errors.As(err, &behind):
		s.host.stats.fellBehind.Add(1)
		out = appendBehind(out, strconv.FormatInt(behind.From, 10))
	case errors.Is(err, context.Canceled):
		return // the client left or the server shuts down
	default:
		e := s.host.explain(err)
		data, merr := marshal(e)
		if merr != nil {
			return
		}
		out = appendFrame(out, "stream.failed", data)
		s.host.deps.Log.Error("stream failed", "request", s.w.id, "chainId", s.w.chain, "error", err)
	}
	s.end(out)
}

// end writes the last event of a stream.
func (s *sse) end(out []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.write(out) == nil {
		_ = s.w.control.Flush() // the client may be gone: there is nobody to tell
	}
}

// appendBehind says from where a reader who is too slow goes on, as JSON.
func appendBehind(dst []byte, from string) []byte {
	dst = append(dst, "event: fell_behind\ndata: {\"from\":"...)
	dst = append(dst, from...)
	return append(dst, "}\n\n"...)
}

// appendFrame appends one event of the stream, without an id.
func appendFrame(dst []byte, name string, data []byte) []byte {
	return appendData(appendHead(dst, name, 0), data)
}

// appendData ends an event whose data may have several lines.
func appendData(dst, data []byte) []byte {
	for {
		line, rest, more := bytes.Cut(data, []byte{'\n'})
		dst = append(dst, line...)
		if !more {
			return append(dst, "\n\n"...)
		}
		dst = append(dst, "\ndata: "...)
		data = rest
	}
}

// appendHead begins an event. Stored ones of a session have their number as id.
func appendHead(dst []byte, name string, seq int64) []byte {
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	if seq > 0 {
		dst = append(dst, "\nid: "...)
		dst = strconv.AppendInt(dst, seq, 10)
	}
	return append(dst, "\ndata: "...)
}
