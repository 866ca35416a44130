package host

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/internal/view"
)

// Auditor keeps the audit log; *audit.Log is one, with a store.
type Auditor interface {
	// Add has an entry stored soon, without the call waiting for it. Now stores one
	// before it returns.
	Add(audit.Entry)
	Now(context.Context, audit.Entry) error
	// Entries lists what is stored, the newest first.
	Entries(ctx context.Context, tenant string, q audit.Query) ([]audit.Entry, error)
}

// maxTarget bounds the path in an entry, in bytes.
const maxTarget = 512

// changes says whether a request would change something.
func (o *operation) changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && o.role != reads
}

// audit notes a request whose status is known: if it would change something, or is
// refused. What is done to keys is stored before it is answered.
func (h *Host) audit(w *response, r *http.Request) {
	if h.deps.Audit == nil || !audit.Refused(w.status) && (w.asked == nil || !w.asked.changes(r)) {
		return
	}
	c := w.whose()
	e := audit.Entry{
		Time: w.begun, Tenant: c.Tenant, User: c.User, Key: c.Key, Action: "request", Target: r.Method + " " + r.URL.EscapedPath(),
		Status: w.status, Code: w.code, Request: w.id, Chain: w.chain,
	}
	e.Address, _, _ = net.SplitHostPort(r.RemoteAddr)
	if w.asked != nil {
		e.Action = w.asked.id
	}
	if made := w.Header().Get("Location"); made != "" {
		e.Target += " " + made
	}
	if len(e.Target) > maxTarget {
		e.Target = e.Target[:maxTarget]
	}
	if w.asked == nil || w.asked.role != admins || w.status >= 300 {
		h.deps.Audit.Add(e)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), auditTime)
	defer cancel()
	if err := h.deps.Audit.Now(ctx, e); err != nil {
		h.deps.Log.Error("audit: an entry could not be stored", "error", err, "action", e.Action, "tenant", e.Tenant, "key", e.Key, "request", e.Request)
	}
}

const auditTime = 5 * time.Second

// listAudit lists what was done in the tenant, the newest first.
func (h *Host) listAudit(w *response, r *http.Request) error {
	q, err := auditQuery(r)
	if err != nil {
		return err
	}
	list, err := h.deps.Audit.Entries(r.Context(), identity.From(r.Context()).Tenant, q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, view.NewAudit(q, list))
}

func auditQuery(r *http.Request) (q audit.Query, err error) {
	p := r.URL.Query()
	q.User, q.Key, q.Action = p.Get("user"), p.Get("key"), p.Get("action")
	if v := p.Get("refused"); v != "" {
		if !slices.Contains([]string{"true", "false"}, v) {
			return q, invalid("refused", "takes true or false")
		}
		q.Refused = v == "true"
	}
	if v := p.Get("since"); v != "" {
		if q.Since, err = time.Parse(time.RFC3339, v); err != nil {
			return q, invalid("since", "takes a time such as 2026-01-31T12:00:00Z")
		}
	}
	if q.Before, err = number("before", p.Get("before")); err != nil {
		return q, invalid("before", "takes the id of an entry")
	}
	if v := p.Get("limit"); v != "" {
		if q.Limit, err = strconv.Atoi(v); err != nil || q.Limit < 1 || q.Limit > audit.MaxPage {
			return q, invalid("limit", "takes a number from 1 to "+strconv.Itoa(audit.MaxPage))
		}
	}
	return q, nil
}
