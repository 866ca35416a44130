package host

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
)

// profileSpec shows what a profile resolves to, and where each value is written.
func (h *Host) profileSpec(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	e, err := h.deps.Explain(r.Context(), name)
	if errors.Is(err, profile.ProfileNotFound) && !unloaded(err) {
		return profileNotFound(name)
	}
	if err != nil {
		return err
	}
	return writeTagged(w, r, e)
}

func (h *Host) listModels(w *response, r *http.Request) error {
	list, err := h.deps.Models(r.Context())
	if err != nil {
		return err
	}
	return writeTagged(w, r, list)
}

// getModel shows what a reference stands for.
func (h *Host) getModel(w *response, r *http.Request) error {
	ref, err := url.PathUnescape(chi.URLParam(r, "ref"))
	if err != nil {
		return invalid("ref", "is not a valid part of a URL")
	}
	m, err := h.deps.Model(r.Context(), ref)
	if err != nil {
		e := *h.explain(err)
		if e.Status == http.StatusBadRequest { // it is the resource that is asked for
			e.Status = http.StatusNotFound
		}
		return &e
	}
	return writeTagged(w, r, m)
}

// listTools lists what agents can do at most.
func (h *Host) listTools(w *response, r *http.Request) error {
	list, err := h.deps.Capabilities(r.Context())
	if err != nil {
		return err
	}
	return writeTagged(w, r, list)
}

// doctor says how what a run would need stands.
func (h *Host) doctor(w *response, r *http.Request) error {
	found, err := h.deps.Doctor(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}

// schema answers with the JSON Schema of a native profile's frontmatter.
func (h *Host) schema(w *response, r *http.Request) error {
	data := schema.JSON()
	return writeIfNew(w, r, data, tagOf(data, ""))
}

// createSession begins a session with its first prompt, and does not wait for the
// answer.
func (h *Host) createSession(w *response, r *http.Request) error {
	sub, err := h.start(w, r, newSession)
	if err != nil {
		return err
	}
	w.Header().Set("X-Session-Id", sub.Key.Stream)
	w.Header().Set("Location", "/sessions/"+sub.Key.Stream)
	return writeJSON(w, http.StatusCreated, acceptedBody{sub.Key.Stream, sub.Post})
}

// export answers with a session as lines of JSON, which import takes.
func (h *Host) export(w *response, r *http.Request) error {
	if _, err := pathSession(r); err != nil {
		return err
	}
	k, _, err := pathKey(r)
	if err != nil {
		return err
	}
	if err := h.exists(r.Context(), k); err != nil {
		return err
	}
	w.Header().Set("Content-Type", ndjson)
	w.Header().Set("Content-Disposition", `attachment; filename="`+k.Stream+`.jsonl"`)
	if err := h.deps.Export(r.Context(), k, patient{w}); err != nil {
		if w.status != 0 {
			panic(http.ErrAbortHandler) // the client must not take what it got for the whole session
		}
		w.Header().Del("Content-Disposition")
		return notFound(err, k)
	}
	return nil
}

const ndjson = "application/x-ndjson"

// imported adds a session that export has written, under its own id.
func (h *Host) imported(w *response, r *http.Request) error {
	k, err := h.deps.Import(r.Context(), identity.From(r.Context()).Tenant, h.body(w, r))
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/sessions/"+k.Stream)
	return writeJSON(w, http.StatusCreated, acceptedBody{SessionID: k.Stream})
}
