package host

import (
	"errors"
	"net/http"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// SourceEdit is the text of a file of profiles that is to be written. Revision is the one
// that the file must have; empty: any. Force saves also what does not load. Check is
// asked whether the file may hold the profiles of the text in the place of those before.
type SourceEdit struct {
	Path, Text, Revision string
	Force                bool
	Check                func(before, after []*profile.Profile) error
}

// Source is a file of profiles as it is written.
type Source struct {
	Path     string   `json:"path"` // below the workspace, with slashes
	Text     string   `json:"text"`
	Revision string   `json:"revision"` // names the text
	Dialect  string   `json:"dialect"`
	Status   string   `json:"status"` // loaded, or refused
	Names    []string `json:"names"`  // of its profiles
	// Diagnostics are those of the file as it is.
	Diagnostics []profile.Diagnostic `json:"diagnostics"`
	Writable    bool                 `json:"writable"`
}

// sourceBody is the body of PUT /profiles/-/source.
type sourceBody struct {
	Text *string `json:"text" schema:"required"`
}

func sourcePath(r *http.Request) (string, error) {
	at := r.URL.Query().Get("path")
	if at == "" {
		return "", missing("path", "it is that of a file in GET /profiles/-/diagnostics, or of source in GET /profiles/{name}?verbose")
	}
	return at, nil
}

// profileSource answers with the text of a file, also of one that does not load.
func (h *Host) profileSource(w *response, r *http.Request) error {
	at, err := sourcePath(r)
	if err != nil {
		return err
	}
	s, err := h.deps.Source(r.Context(), at)
	if err != nil {
		return h.editError(at, err)
	}
	data, err := marshal(s)
	if err != nil {
		return err
	}
	w.Header().Set(HeaderRevision, s.Revision)
	return writeIfNew(w, r, data, `"`+s.Revision+`"`)
}

// putSource writes the text of a file that the client has seen as it is.
func (h *Host) putSource(w *response, r *http.Request) error {
	at, err := sourcePath(r)
	if err != nil {
		return err
	}
	header := strings.TrimSpace(r.Header.Get("If-Match"))
	if header == "" {
		return &Error{
			Status: http.StatusPreconditionRequired, Code: "MissingIfMatch", Field: "If-Match",
			Message: "If-Match is missing: send the ETag of the text that you have read",
		}
	}
	force, err := flag(r, "force")
	if err != nil {
		return err
	}
	var body sourceBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Text == nil {
		return missing("text", "it is the whole file")
	}
	if len(*body.Text) > profile.MaxFile {
		return invalid("text", "is longer than a file may be")
	}
	e := SourceEdit{Path: at, Text: *body.Text, Force: force, Check: h.maySay(r)}
	if header != "*" {
		e.Revision = strings.Trim(header, `"`)
	}
	s, err := h.deps.SaveSource(r.Context(), e)
	if err != nil {
		return h.sourceError(at, err)
	}
	w.Header().Set(HeaderRevision, s.Revision)
	w.Header().Set("ETag", `"`+s.Revision+`"`)
	return writeJSON(w, http.StatusOK, s)
}

// sourceError is editError with all that is wrong with the text.
func (h *Host) sourceError(at string, err error) *Error {
	e := h.editError(at, err)
	var parse *profile.ParseError
	if errors.As(err, &parse) && e.Status == http.StatusBadRequest {
		e.Field, e.Diagnostics = "text", parse.Diagnostics
	}
	return e
}
