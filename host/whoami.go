package host

import (
	"net/http"
	"strings"

	"github.com/rosterrun/roster/identity"
)

// whoBody is who asks, and what he asks.
type whoBody struct {
	TenantID string `json:"tenantId"`
	// UserID is absent for the one user of this machine.
	UserID string   `json:"userId,omitempty"`
	Roles  []string `json:"roles"` // viewer, runner, approver, editor, admin
	// Auth says that callers have to show who they are.
	Auth      bool   `json:"auth"`
	Version   string `json:"version"`   // of the server's program
	Workspace string `json:"workspace"` // the name of its folder, without the path
	// Budgets are what the caller may spend, and his tenant; absent: no bound is set.
	Budgets []Budget `json:"budgets,omitempty"`
}

// Budget is what may be spent in a time, and what of it is spent.
type Budget struct {
	Of   string  `json:"of" schema:"enum=tenant|caller"` // of all callers of the tenant together, or of this one
	What string  `json:"what" schema:"enum=cost|tokens"` // US dollars, or tokens in and out
	Per  string  `json:"per" schema:"enum=day|month"`    // of UTC
	Most float64 `json:"most"`
	Used float64 `json:"used"`
}

// whoami says who the server takes the caller for.
func (h *Host) whoami(w *response, r *http.Request) error {
	version, workspace, err := h.deps.Place(r.Context())
	if err != nil {
		return err
	}
	c := identity.From(r.Context())
	var budgets []Budget
	if h.deps.Budgets != nil {
		if budgets, err = h.deps.Budgets(r.Context(), c); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, whoBody{
		TenantID: c.Tenant, UserID: c.User, Roles: strings.Split(c.Roles.String(), ","), Auth: h.deps.Identify != nil, Version: version, Workspace: workspace, Budgets: budgets,
	})
}
