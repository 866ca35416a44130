package host

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
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
	list, err := h.deps.Approvals(r.Context(), session.Key{Tenant: identity.From(r.Context()).Tenant})
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
	Answer     string `json:"answer" schema:"required;enum=once|session|always|no"`
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
	c, err := callerOf(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	if strings.TrimSpace(body.Answer) == "" {
		return missing("answer", "once, session, always or no")
	}
	if err := oneOf("answer", body.Answer, "once", "session", "always", "no"); err != nil {
		return err
	}
	a := view.Answer{Answer: session.Answer(body.Answer), ForSession: body.ForSession, Message: body.Message, By: cmp.Or(c.User, localTenant)}
	done, err := h.deps.Answer(r.Context(), c.Tenant, chi.URLParam(r, "id"), a)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answeredBody{done.ID, done.SessionID, a.Answer})
}

// replyBody is the body of an answer to a question. Without an ID it answers the
// only one that the session asks.
type replyBody struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Answer   string `json:"answer" schema:"enum=text|no"`
	Message  string `json:"message"`
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

// answerQuestion answers what a session asks. The run goes on by itself.
func (h *Host) answerQuestion(w *response, r *http.Request) error {
	var body replyBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	k, c, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	a := view.Answer{Answer: session.AnswerText, Text: body.Text, Message: body.Message, By: cmp.Or(c.User, localTenant)}
	if body.Answer != "" {
		if err := oneOf("answer", body.Answer, "text", "no"); err != nil {
			return err
		}
		a.Answer = session.Answer(body.Answer)
	}
	if a.Answer == session.AnswerText && strings.TrimSpace(a.Text) == "" {
		return missing("text", "what the session asks for, or answer no")
	}
	id, err := h.questionOf(r.Context(), k, body.ID)
	if err != nil {
		return err
	}
	done, err := h.deps.Answer(r.Context(), k.Tenant, id, a)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answeredBody{done.ID, done.SessionID, a.Answer})
}

// questionOf finds the question of a session that is meant: the one of the id, or
// else the only one.
func (h *Host) questionOf(ctx context.Context, k session.Key, id string) (string, error) {
	if id != "" {
		if stream, _, ok := session.ParseAskID(id); !ok || stream != k.Stream {
			return "", invalid("id", quote(id)+" is no question of this session")
		}
		return id, h.exists(ctx, k)
	}
	list, err := h.deps.Approvals(ctx, k)
	if err != nil {
		return "", notFound(err, k)
	}
	var ids []string
	for i := range list {
		if list[i].Question != "" {
			ids = append(ids, list[i].ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", &Error{Status: http.StatusNotFound, Code: "ApprovalNotFound", Message: "the session asks no question now"}
	case 1:
		return ids[0], nil
	}
	return "", invalid("id", "the session asks several questions: name one of "+strings.Join(ids, ", "))
}
