package host

import (
	"net/http"
	"sync"
	"time"

	"github.com/rosterrun/roster/host/openai"
)

// chunkWriter sends the chunks of an answer to one client, and a comment where
// nothing else was sent for a while. The status goes with the first of them. It is
// safe for concurrent use.
type chunkWriter struct {
	w      *response
	chunks *openai.Chunks
	every  time.Duration
	ping   *time.Timer

	mu            sync.Mutex // of w
	last          time.Time  // of the last write
	begun, closed bool
}

func newChunkWriter(h *Host, w *response, c *openai.Chunks) *chunkWriter {
	s := &chunkWriter{w: w, chunks: c, every: h.deps.PingEvery, last: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ping = time.AfterFunc(s.every, s.keepAlive)
	return s
}

// Close ends the pings: nothing is written by itself after it.
func (s *chunkWriter) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.ping.Stop()
}

// SetHead has the chunks from now on begin in another way.
func (s *chunkWriter) SetHead(c *openai.Chunks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks = c
}

// Begun says whether the status is sent.
func (s *chunkWriter) Begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// Write sends chunks. A client that left is noticed by its request's context.
func (s *chunkWriter) Write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(b)
}

// write is called with mu held.
func (s *chunkWriter) write(b []byte) {
	s.last = time.Now()
	_ = s.w.control.SetWriteDeadline(s.last.Add(writeTime)) // a recorder in a test has none
	if !s.begun {
		s.begun = true
		head := s.w.Header()
		head.Set("Content-Type", "text/event-stream")
		head.Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
		b = append(s.chunks.Begin(nil), b...)
	}
	if _, err := s.w.Write(b); err == nil {
		_ = s.w.control.Flush() // the client may be gone: there is nobody to tell
	}
}

func (s *chunkWriter) keepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	idle := time.Since(s.last)
	if idle >= s.every {
		s.write([]byte(": ping\n\n"))
		idle = 0
	}
	s.ping.Reset(s.every - idle)
}
