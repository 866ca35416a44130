package host

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// agentCard describes a profile to agents.
func (h *Host) agentCard(w *response, r *http.Request) error {
	name := ""
	if chi.URLParam(r, "name") != "" {
		var err error
		if name, err = profileName(r); err != nil {
			return err
		}
		if _, err := h.profile(r.Context(), name); err != nil {
			return err
		}
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	card, err := h.deps.A2A.Card(r.Context(), name, scheme+"://"+r.Host, h.deps.Identify != nil)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, card)
}

// agentRequest leaves a request to the server of the Agent2Agent protocol. Its
// streams stay open as long as the client and the host do.
func (h *Host) agentRequest(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	if _, err := h.profile(r.Context(), name); err != nil {
		return err
	}
	ctx, stop := whichever(r.Context(), h.streams)
	defer stop()
	r.Body = h.body(w, r)
	h.deps.A2A.Handler(name).ServeHTTP(patient{w}, r.WithContext(ctx))
	return nil
}
