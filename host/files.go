package host

import (
	"net/http"
	"strconv"
)

// Bounds of GET /files.
const (
	defaultFiles = 20
	maxFiles     = 50
	maxPart      = 200 // bytes
)

// Files are names of files of the workspace, those first that fit best.
type Files struct {
	Files []string `json:"files"` // paths below the workspace, with slashes
	// More says that there are others, or that not all could be looked at in time.
	More bool `json:"more,omitempty"`
}

// files lists files by a part of their paths, for who writes @file into a prompt.
func (h *Host) files(w *response, r *http.Request) error {
	q, limit := r.URL.Query(), defaultFiles
	if len(q.Get("q")) > maxPart {
		return invalid("q", "is longer than "+strconv.Itoa(maxPart)+" bytes")
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxFiles {
			return invalid("limit", "must be a number from 1 to "+strconv.Itoa(maxFiles)+", not "+quote(text))
		}
		limit = n
	}
	found, err := h.deps.Files(r.Context(), q.Get("q"), limit)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}
