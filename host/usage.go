package host

import (
	"net/http"
	"strconv"
	"time"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// maxUsage bounds the rows of an answer of /usage.
const maxUsage = 1000

// usage sums up what the caller's tenant has used.
func (h *Host) usage(w *response, r *http.Request) error {
	query, limit, err := usageQuery(r)
	if err != nil {
		return err
	}
	store, err := h.deps.Backend(r.Context())
	if err != nil {
		return err
	}
	sums, err := store.Usage(r.Context(), identity.From(r.Context()).Tenant, query)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, view.NewUsage(&query, sums, limit))
}

func usageQuery(r *http.Request) (q session.UsageQuery, limit int, err error) {
	values := r.URL.Query()
	for _, day := range []struct {
		name string
		to   *session.Day
	}{{"since", &q.From}, {"until", &q.To}} {
		if text := values.Get(day.name); text != "" {
			if *day.to, err = view.UsageDay(text, time.Now()); err != nil {
				return q, 0, invalid(day.name, err.Error())
			}
		}
	}
	q.Profile, q.Model, q.User, q.KeyID = values.Get("profile"), values.Get("model"), values.Get("user"), values.Get("key")
	q.By = []session.UsageBy{session.ByProfile, session.ByModel}
	if values.Has("by") {
		if q.By, err = view.UsageBy(values.Get("by")); err != nil {
			return q, 0, invalid("by", err.Error())
		}
	}
	limit = maxUsage
	if text := values.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxUsage {
			return q, 0, invalid("limit", "takes a number from 1 to "+strconv.Itoa(maxUsage))
		}
	}
	return q, limit, nil
}
