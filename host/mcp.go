package host

import "net/http"

// mcp leaves a request to the server of the Model Context Protocol. Its streams
// stay open as long as the client and the host do.
func (h *Host) mcp(w *response, r *http.Request) error {
	ctx, stop := whichever(r.Context(), h.streams)
	defer stop()
	r.Body = h.body(w, r)
	h.deps.MCP.ServeHTTP(patient{w}, r.WithContext(ctx))
	return nil
}

// patient gives the client its time for each piece of what is written, rather
// than for all of it.
type patient struct{ *response }

// Write implements http.ResponseWriter.
func (w patient) Write(b []byte) (int, error) {
	w.extend()
	return w.response.Write(b)
}

// Flush implements http.Flusher.
func (w patient) Flush() { _ = w.control.Flush() }
