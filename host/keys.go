package host

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/internal/view"
)

type keyList struct {
	Keys []view.Key `json:"keys"`
}

// listKeys lists the keys of the tenant, the newest first.
func (h *Host) listKeys(w *response, r *http.Request) error {
	store, err := h.deps.Keys(r.Context())
	if err != nil {
		return err
	}
	all, err := store.Keys(r.Context(), identity.From(r.Context()).Tenant)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, keyList{view.NewKeys(all)})
}

// createKeyBody is what a new key is to be.
type createKeyBody struct {
	Name     string    `json:"name" schema:"required;max=64;pattern=^[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]+$"`
	TenantID string    `json:"tenantId"`
	UserID   string    `json:"userId"` // whose it is; without it, the name is taken
	Roles    []string  `json:"roles" schema:"required;min=1;enum=viewer|runner|approver|editor|admin"`
	Expires  time.Time `json:"expires"` // without it, never
}

// createKey makes a key of the caller's tenant. Nobody gives away roles that he
// has not.
func (h *Host) createKey(w *response, r *http.Request) error {
	var body createKeyBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	c, err := callerOf(r, body.TenantID, "")
	if err != nil {
		return err
	}
	roles, err := identity.ParseRoles(strings.Join(body.Roles, ","))
	if err != nil {
		return invalid("roles", "names what the key may do: "+err.Error())
	}
	if err := mayGive(c, roles); err != nil {
		return err
	}
	store, err := h.deps.Keys(r.Context())
	if err != nil {
		return err
	}
	text, k, err := key.Issue(r.Context(), store, key.Request{
		Name: body.Name, Tenant: c.Tenant, User: body.UserID, Roles: roles, Expires: body.Expires.UTC(), By: by(c),
	})
	if err != nil {
		return keyError(err)
	}
	w.Header().Set("Location", "/keys/"+k.ID)
	return writeJSON(w, http.StatusCreated, view.NewKey(&k, text))
}

func mayGive(c identity.Caller, roles identity.Role) error {
	if c.Roles&identity.Admin == 0 && roles&^c.Roles != 0 {
		return mayDo(c, roles&^c.Roles)
	}
	return nil
}

// by names who makes a key.
func by(c identity.Caller) string { return cmp.Or(c.User, c.Tenant) }

// revokeKey has a key not taken any more, at once and in every process.
func (h *Host) revokeKey(w *response, r *http.Request) error {
	store, k, err := h.key(r)
	if err == nil {
		_, err = store.RevokeKey(r.Context(), k.Tenant, k.ID, time.Now())
	}
	if err != nil {
		return keyError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rotateKeyBody says how the old key ends.
type rotateKeyBody struct {
	// Grace is for how many seconds longer the old key is taken.
	Grace int `json:"grace" schema:"min=0;max=2592000"`
}

const maxGrace = 30 * 24 * 60 * 60 // seconds

// rotateKey makes a key like another one, which ends.
func (h *Host) rotateKey(w *response, r *http.Request) error {
	var body rotateKeyBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Grace < 0 || body.Grace > maxGrace {
		return invalid("grace", "takes 0 to 2592000 seconds")
	}
	store, old, err := h.key(r)
	if err == nil {
		err = mayGive(identity.From(r.Context()), old.Roles)
	}
	if err != nil {
		return keyError(err)
	}
	text, k, err := key.Rotate(r.Context(), store, old, time.Duration(body.Grace)*time.Second, by(identity.From(r.Context())))
	if err != nil {
		return keyError(err)
	}
	w.Header().Set("Location", "/keys/"+k.ID)
	return writeJSON(w, http.StatusCreated, view.NewKey(&k, text))
}

// key is the key of the caller's tenant that a path names.
func (h *Host) key(r *http.Request) (key.Store, key.Key, error) {
	id := chi.URLParam(r, "id")
	if !key.IsID(id) {
		return nil, key.Key{}, key.ErrNone
	}
	store, err := h.deps.Keys(r.Context())
	if err != nil {
		return nil, key.Key{}, err
	}
	k, err := key.Find(r.Context(), store, identity.From(r.Context()).Tenant, id)
	return store, k, err
}

func keyError(err error) error {
	var bad *key.InvalidError
	switch {
	case errors.Is(err, key.ErrNone):
		return &Error{Status: http.StatusNotFound, Code: "KeyNotFound", Message: "key not found"}
	case errors.As(err, &bad):
		return invalid(cmp.Or(map[string]string{"tenant": "tenantId", "user": "userId"}[bad.Field], bad.Field), bad.Why)
	}
	return err
}
