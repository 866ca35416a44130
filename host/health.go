package host

import (
	"context"
	"net/http"
	"time"
)

// readyTime bounds how long the parts may take to answer.
const readyTime = 2 * time.Second

type statusBody struct {
	Status string `json:"status"`
}

// health says that the server answers.
func (h *Host) health(w *response, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, statusBody{"ok"})
}

// ready says whether prompts can be taken and stored, and if not, which part fails.
func (h *Host) ready(w *response, r *http.Request) error {
	if h.streams.Err() != nil {
		return &Error{Status: http.StatusServiceUnavailable, Code: "ShuttingDown", Part: "server", Message: "the server shuts down"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if _, _, err := h.deps.Profiles(ctx); err != nil {
		return h.notReady("catalog", err)
	}
	if err := h.tryStore(ctx); err != nil {
		return h.notReady("store", err)
	}
	return writeJSON(w, http.StatusOK, statusBody{"ready"})
}

func (h *Host) tryStore(ctx context.Context) error {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return err
	}
	return store.Writable(ctx)
}

// notReady says why a part fails where nobody is asked who he is; otherwise anybody
// could read what the error says of the machine.
func (h *Host) notReady(part string, err error) *Error {
	e := &Error{Status: http.StatusServiceUnavailable, Code: "NotReady", Part: part, Message: part + ": " + err.Error()}
	if h.deps.Identify != nil {
		h.deps.Log.Error("the server is not ready", "part", part, "error", err)
		e.Message = part + " fails: the log of the server says why"
	}
	return e
}
