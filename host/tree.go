package host

import (
	"net/http"
)

// revertBody is the body of revert, which may be empty.
type revertBody struct {
	Message  string `json:"message"` // from which the session goes on; empty: from before its last prompt
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

// revertedBody says what the last message of a session is now; empty: there is
// none.
type revertedBody struct {
	SessionID string `json:"sessionId"`
	Message   string `json:"message"`
}

func (h *Host) revert(w *response, r *http.Request) error {
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	var body revertBody
	if len(data) > 0 {
		if err := decode(data, &body); err != nil {
			return err
		}
	}
	k, _, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	last, err := h.deps.Revert(r.Context(), k, body.Message)
	if err != nil {
		return notFound(err, k)
	}
	return writeJSON(w, http.StatusOK, revertedBody{k.Stream, last})
}

// rerun has a prompt answered anew, and does not wait for the answer. The
// message of the body is the id of the prompt's; without one it is the last.
func (h *Host) rerun(w *response, r *http.Request) error {
	id, err := pathSession(r)
	if err != nil {
		return err
	}
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	var body askBody
	if len(data) > 0 {
		if err := decode(data, &body); err != nil {
			return err
		}
	}
	switch {
	case body.SessionID != "" && body.SessionID != id:
		return invalid("sessionId", "names another session than the path")
	case len(body.Attachments) > 0:
		return invalid("attachments", "cannot be given: the prompt is answered anew as it was")
	case body.Command != nil:
		return invalid("command", "cannot be given: the prompt is answered anew as it was")
	case body.OnBusy != "" && body.OnBusy != "reject":
		return invalid("onBusy", "cannot be given: a session that runs is not answered anew")
	}
	body.SessionID = id
	ask, err := body.frame(r)
	if err == nil {
		err = h.complete(w, r, &body, &ask)
	}
	if err != nil {
		return err
	}
	sub, err := h.deps.Rerun(r.Context(), ask.Key, body.Message, ask)
	if err != nil {
		return notFound(err, ask.Key)
	}
	w.Header().Set("X-Session-Id", sub.Key.Stream)
	return writeJSON(w, http.StatusAccepted, acceptedBody{sub.Key.Stream, sub.Post})
}

// tree answers with all messages of a session, on every branch.
func (h *Host) tree(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	if _, err := h.summary(r.Context(), k); err != nil {
		return err
	}
	list, err := h.deps.Tree(r.Context(), k, id)
	if err != nil {
		return notFound(err, k)
	}
	return writeJSON(w, http.StatusOK, list)
}

// deleteSession removes a session with its events, for good.
func (h *Host) deleteSession(w *response, r *http.Request) error {
	if _, err := pathSession(r); err != nil {
		return err
	}
	k, _, err := pathKey(r)
	if err != nil {
		return err
	}
	if err := h.deps.Prune(r.Context(), k); err != nil {
		return notFound(err, k)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
