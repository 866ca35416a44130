package host

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
)

// writeTime bounds how long a client may take to accept what is written.
const writeTime = 30 * time.Second

// response is an http.ResponseWriter that knows its request's ids and what was
// written.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	id      string // of the request
	chain   string // that all events of the request share
	parent  string // the span of who asks; empty: none
	route   string // the route that it is for; empty: there is none
	streams bool   // it has no end by itself
	openai  bool   // errors have the form of the OpenAI protocol
	begun   time.Time
	status  int // 0: nothing written
	bytes   int64
	code    string          // of the error that is the answer
	begin   func()          // is called once, when the status is known
	asked   *operation      // nil: none that is known
	caller  identity.Caller // of it, if there is one
	let     *http.Request   // the request, whose context says who is meant; nil: nobody was let in
}

func newResponse(w http.ResponseWriter, r *http.Request) *response {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	res := &response{
		ResponseWriter: w, control: http.NewResponseController(w), begun: time.Now(),
		id: hex.EncodeToString(random[:8]), chain: traceID(r.Header.Get("Traceparent")),
		openai: strings.HasPrefix(r.URL.Path, "/v1/"),
	}
	if res.chain == "" {
		res.chain = hex.EncodeToString(random[8:])
	} else {
		res.parent = r.Header.Get("Traceparent")[36:52]
	}
	head := w.Header()
	head.Set("X-Request-Id", res.id)
	head.Set("X-Chain-Id", res.chain)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-cache")
	return res
}

// whose is who a request is counted for: who sends it, or whom its body names.
func (w *response) whose() identity.Caller {
	if w.let == nil {
		return w.caller
	}
	return identity.From(w.let.Context())
}

// Unwrap serves http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) set(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if w.begin != nil {
		w.begin()
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	w.set(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(b []byte) (int, error) {
	w.set(http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// extend gives the client its time to accept what is written next. A writer
// without deadlines, such as a recorder in a test, has none to extend.
func (w *response) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(writeTime)) }

// traceID returns the trace id of a W3C traceparent header, or "".
func traceID(header string) string {
	const size = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(header) < size || header[2] != '-' || header[35] != '-' || header[52] != '-' || header[:2] == "ff" {
		return ""
	}
	id := header[3:35]
	zero := true
	for i := range len(id) {
		c := id[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return ""
		}
		zero = zero && c == '0'
	}
	if zero {
		return ""
	}
	return id
}

// finish turns a panic into an answer and logs the request.
func (h *Host) finish(w *response, r *http.Request) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		h.deps.Log.ErrorContext(r.Context(), "panic in a handler", "request", w.id, "chainId", w.chain,
			"method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
		if w.status != 0 {
			panic(http.ErrAbortHandler) // the client must not take what it got for the whole answer
		}
		h.writeError(w, &Error{Status: http.StatusInternalServerError, Code: "Internal", Message: "internal error; the log of the server has it under this request id"})
	}
	h.tell(w, r)
	if !h.deps.Log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	h.deps.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
		slog.String("request", w.id), slog.String("chainId", w.chain),
		slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes),
		slog.Duration("time", time.Since(w.begun)))
}

func noRoute(_ *response, r *http.Request) error {
	return &Error{Status: http.StatusNotFound, Code: "NoRoute", Message: "there is no " + r.Method + " " + r.URL.Path}
}

// wrongMethod names the methods that a path takes; to OPTIONS that is the answer.
func (h *Host) wrongMethod(w *response, r *http.Request) error {
	path := r.URL.EscapedPath()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if h.mux.Match(chi.NewRouteContext(), method, path) {
			w.Header().Add("Allow", method)
		}
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return &Error{Status: http.StatusMethodNotAllowed, Code: "WrongMethod", Message: r.URL.Path + " does not take " + r.Method}
}
