package host

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// waitingBody is the answer to a prompt whose run waits for a person.
type waitingBody struct {
	SessionID string          `json:"sessionId"`
	Status    session.Status  `json:"status"`
	Approvals []view.Approval `json:"approvals"`
}

func (h *Host) writeWaiting(ctx context.Context, w *response, k session.Key) error {
	list, err := h.deps.Approvals(ctx, k)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusAccepted, waitingBody{k.Stream, session.Waiting, list})
}

// approvals lists all that waits for an answer.
func (h *Host) approvals(w *response, r *http.Request) error {
	tenant, err := tenantName(r.URL.Query().Get("tenantId"))
	if err != nil {
		return err
	}
	list, err := h.deps.Approvals(r.Context(), session.Key{Tenant: tenant})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, list)
}

// sessionApprovals lists what a session and those below it wait for.
func (h *Host) sessionApprovals(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	list, err := h.deps.Approvals(r.Context(), k)
	if err != nil {
		return notFound(err, k)
	}
	list = slices.DeleteFunc(list, func(a view.Approval) bool { return !session.Within(cmp.Or(a.Child, a.SessionID), id) })
	return writeJSON(w, http.StatusOK, list)
}

// approvalBody is the body of an answer.
type approvalBody struct {
	Answer     string `json:"answer"`
	ForSession bool   `json:"forSession"`
	Message    string `json:"message"`
	TenantID   string `json:"tenantId"`
	UserID     string `json:"userId"`
}

// answeredBody says what was answered.
type answeredBody struct {
	ID        string         `json:"id"`
	SessionID string         `json:"sessionId"`
	Answer    session.Answer `json:"answer"`
}

// answerApproval answers one approval. The run goes on by itself.
func (h *Host) answerApproval(w *response, r *http.Request) error {
	var body approvalBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	tenant, err := tenantName(body.TenantID)
	if err != nil {
		return err
	}
	if body.UserID != "" && !plainName(body.UserID) {
		return invalid("userId", badName)
	}
	if strings.TrimSpace(body.Answer) == "" {
		return missing("answer", "once, session, always or no")
	}
	if err := oneOf("answer", body.Answer, "once", "session", "always", "no"); err != nil {
		return err
	}
	by := body.UserID
	if by == "" {
		by = localTenant
	}
	a := view.Answer{Answer: session.Answer(body.Answer), ForSession: body.ForSession, Message: body.Message, By: by}
	done, err := h.deps.Answer(r.Context(), tenant, chi.URLParam(r, "id"), a)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answeredBody{done.ID, done.SessionID, a.Answer})
}
