// Package wiretest holds what the tests of the adapters share: a provider on
// loopback that answers what a test says.
package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rosterrun/roster/internal/wire"
)

// Client returns a client whose connections are closed at the end of the test.
func Client(tb testing.TB) *http.Client {
	c := wire.NewClient()
	tb.Cleanup(c.CloseIdleConnections)
	return c
}

// Serve starts a provider and returns its address.
func Serve(tb testing.TB, h http.HandlerFunc) string {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return s.URL
}

// Recorded returns a file of testdata.
func Recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Stream answers every request with the events of body, each on its own.
func Stream(body []byte) http.HandlerFunc {
	events := bytes.SplitAfter(body, []byte("\n\n"))
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			_, _ = w.Write(ev)
			w.(http.Flusher).Flush()
		}
	}
}

// Reply answers every request with body.
func Reply(kind string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body)
	}
}
