package host

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/rosterrun/roster/docs/reference"
)

//go:embed docs.html
var docsPage []byte

// openapi answers with the OpenAPI document of what this host serves.
func (h *Host) openapi(w *response, r *http.Request) error {
	doc, err := h.document()
	if err != nil {
		return err
	}
	return writeIfNew(w, r, doc, tagOf(doc, ""))
}

// documentOf makes the document when somebody asks for it first.
func (h *Host) documentOf() func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) { return narrow(reference.OpenAPI, h.operations()) })
}

// narrow takes out of the document what a host that lacks parts does not serve.
func narrow(all []byte, operations []operation) ([]byte, error) {
	served := map[string]bool{}
	for _, o := range operations {
		served[o.path] = true
	}
	var doc struct {
		Version    json.RawMessage            `json:"openapi"`
		Info       json.RawMessage            `json:"info"`
		Tags       json.RawMessage            `json:"tags"`
		Paths      map[string]json.RawMessage `json:"paths"`
		Components json.RawMessage            `json:"components"`
	}
	if err := json.Unmarshal(all, &doc); err != nil {
		return nil, err
	}
	for path := range doc.Paths {
		if !served[path] {
			delete(doc.Paths, path)
		}
	}
	return marshal(doc)
}

// docs answers with a page that shows the document. It fetches nothing but that.
func (h *Host) docs(w *response, r *http.Request) error {
	w.Header().Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "style-src 'unsafe-inline'", "script-src 'unsafe-inline'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; "))
	return writeTypedIfNew(w, r, "text/html; charset=utf-8", docsPage, tagOf(docsPage, ""))
}
