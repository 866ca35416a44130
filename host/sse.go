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
	"github.com/rosterrun/roster/session"
)

// flushBytes bounds how much of a batch is gathered before it is written.
const flushBytes = 32 << 10

// sse writes an event stream (text/event-stream) to one client. Its events are
// written by one goroutine; pings come in between by themselves.
type sse struct {
	host   *Host
	w      *response
	frames frames
	ping   *time.Timer

	mu     sync.Mutex // of w
	last   time.Time  // of the last write
	closed bool
}

// newSSE sends the head of the answer. Close must be called.
func (h *Host) newSSE(w *response, k session.Key) (*sse, error) {
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("X-Session-Id", k.Stream)
	head.Set("X-Accel-Buffering", "no")
	s := &sse{host: h, w: w, frames: frames{host: h, key: k}, last: time.Now()}
	w.extend()
	w.WriteHeader(http.StatusOK)
	if err := w.control.Flush(); err != nil {
		return nil, err
	}
	s.ping = time.AfterFunc(h.deps.PingEvery, s.keepAlive)
	return s, nil
}

// Close ends the pings; nothing is written after it.
func (s *sse) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.ping.Stop()
}

// keepAlive writes a comment if nothing else was written for a while.
func (s *sse) keepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	every := s.host.deps.PingEvery
	idle := time.Since(s.last)
	if idle >= every {
		if s.write([]byte(": ping\n\n")) != nil || s.w.control.Flush() != nil {
			return // the request's context ends, and the stream with it
		}
		idle = 0
	}
	s.ping.Reset(every - idle)
}

// write is called with mu held.
func (s *sse) write(b []byte) error {
	s.last = time.Now()
	_ = s.w.control.SetWriteDeadline(s.last.Add(writeTime)) // a recorder in a test has none
	_, err := s.w.Write(b)
	return err
}

// send writes a batch of events and flushes it.
func (s *sse) send(ctx context.Context, events []session.Event) error {
	buf, _ := s.host.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer s.host.buffers.Put(buf)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := (*buf)[:0]
	for i := range events {
		out = s.frames.append(ctx, out, &events[i])
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
	if err := s.write(out); err != nil {
		return err
	}
	return s.w.control.Flush()
}

// fail ends the stream with an event that says why, if it has to say something.
func (s *sse) fail(err error) {
	var behind *dispatch.FellBehind
	var out []byte
	switch {
	case errors.As(err, &behind):
		out = append(out, "event: fell_behind\ndata: {\"from\":"...)
		out = strconv.AppendInt(out, behind.From, 10)
		out = append(out, "}\n\n"...)
	case errors.Is(err, context.Canceled):
		return // the client left or the server shuts down
	default:
		e := s.host.explain(err)
		data, merr := marshal(e)
		if merr != nil {
			return
		}
		out = appendFrame(out, "stream.failed", 0, data)
		s.host.deps.Log.Error("stream failed", "request", s.w.id, "chainId", s.w.chain, "session", s.frames.key.Stream, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.write(out) == nil {
		_ = s.w.control.Flush() // the client may be gone: there is nobody to tell
	}
}

// appendFrame appends one event of the stream. Stored events have their number
// as id.
func appendFrame(dst []byte, name string, seq int64, data []byte) []byte {
	dst = appendHead(dst, name, seq)
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

func appendHead(dst []byte, name string, seq int64) []byte {
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	if seq > 0 {
		dst = append(dst, "\nid: "...)
		dst = strconv.AppendInt(dst, seq, 10)
	}
	return append(dst, "\ndata: "...)
}
