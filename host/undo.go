package host

import (
	"net/http"
)

// Undo says what of a session's changes to files is taken back.
type Undo struct {
	DryRun bool // only say what it would do
	Redo   bool // the last undo, in the place of what the session has changed
	Last   bool // only what the session's last loop has changed
	Shared bool // also what others may have changed, who ran commands at the same time
	// Plan is that of a dry run: if something else would be done now, nothing is.
	// Empty: whatever it comes to.
	Plan string
	User string // whose doing it is
}

// undoBody is the body of undo, which may be empty.
type undoBody struct {
	DryRun   bool   `json:"dryRun"`
	Redo     bool   `json:"redo"`
	Last     bool   `json:"last"`
	Shared   bool   `json:"shared"`
	Plan     string `json:"plan"`
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

func (h *Host) undo(w *response, r *http.Request) error {
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	var body undoBody
	if len(data) > 0 {
		if err := decode(data, &body); err != nil {
			return err
		}
	}
	k, c, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	out, err := h.deps.Undo(r.Context(), k, Undo{body.DryRun, body.Redo, body.Last, body.Shared, body.Plan, c.User})
	if err != nil {
		return notFound(err, k)
	}
	return writeJSON(w, http.StatusOK, out)
}
