package host

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/internal/view"
)

// request shows what the model was sent for a turn, counted over the session; with
// ?for= what it was asked aside.
func (h *Host) request(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	turn, err := strconv.Atoi(chi.URLParam(r, "turn"))
	if err != nil || turn < 1 {
		return invalid("turn", "takes a number from 1")
	}
	if _, err := h.summary(r.Context(), k); err != nil {
		return err
	}
	sent, err := h.deps.Request(r.Context(), k, id, turn, r.URL.Query().Get("for"))
	var none *view.RequestError
	switch {
	case errors.As(err, &none) && none.None:
		return &Error{Status: http.StatusNotFound, Code: "NoRequest", Message: err.Error()}
	case err != nil:
		return err
	}
	return writeJSON(w, http.StatusOK, sent)
}
