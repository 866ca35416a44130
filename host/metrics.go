package host

import (
	"bytes"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/identity"
)

// Request is a request that was answered.
type Request struct {
	// ID is the request's, and Chain that of all events that it brings about.
	ID, Chain string
	// Parent is the span of the client that asked: of its traceparent; empty: none.
	Parent        string
	Method, Route string // the route with {parameters}; empty: there is none
	Status        int
	Begun         time.Time
	Took          time.Duration
	Stream        bool // it was open until one of both sides had enough
	Tenant        string
}

// Stats is what a Host counts.
type Stats struct {
	Streams    int64 // that are open
	FellBehind int64 // that were closed since it began, as their readers were too slow
}

type stats struct{ streams, fellBehind atomic.Int64 }

// Stats gives what is counted. It is safe for concurrent use.
func (h *Host) Stats() Stats { return Stats{h.stats.streams.Load(), h.stats.fellBehind.Load()} }

// metrics writes what is counted of all tenants together: an admin of one of them,
// whose profiles and costs are not the others' business, is not told.
func (h *Host) metrics(w *response, r *http.Request) error {
	if c := identity.From(r.Context()); c.Tenant != localTenant && !c.Open {
		return &Error{
			Status: http.StatusForbidden, Code: "ForeignIdentity",
			Message: "the metrics are those of all tenants together: they take an admin of the tenant local, and you are of " + quote(c.Tenant),
		}
	}
	var b bytes.Buffer
	if err := h.deps.Metrics(&b, h.Stats()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client may have left
	return nil
}

// tell tells of a request that was answered.
func (h *Host) tell(w *response, r *http.Request) {
	if h.deps.Requested == nil {
		return
	}
	h.deps.Requested(Request{
		ID: w.id, Chain: w.chain, Parent: w.parent, Method: r.Method, Route: w.route, Status: w.status,
		Begun: w.begun, Took: time.Since(w.begun), Stream: w.streams, Tenant: w.whose().Tenant,
	})
}
