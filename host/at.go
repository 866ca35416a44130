package host

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
)

// At serves one route of the host, such as /chat, whatever the path of the request:
// for programs that have a router of their own.
func (h *Host) At(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// the routing of another chi router is not this one's
		r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil)))
		r.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
		h.ServeHTTP(w, r)
	})
}
