package host

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/profile"
)

// serverBody describes an MCP server: a command that is started on this machine, or
// the address of one that is there. Secrets are written as ${VARIABLE}.
type serverBody struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"` // that the command gets
	Dir     string            `json:"dir"` // in which it is started; empty: the workspace
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // that the address is sent
	Timeout string            `json:"timeout"` // of one call, as 30s; empty: the usual one
}

func (b *serverBody) server(name string) (profile.Server, error) {
	s := profile.Server{Name: name, Command: b.Command, Args: b.Args, Env: pairs(b.Env), Dir: b.Dir, URL: b.URL, Headers: pairs(b.Headers)}
	if b.Timeout != "" {
		var err error
		if s.Timeout, err = time.ParseDuration(b.Timeout); err != nil || s.Timeout <= 0 {
			return s, invalid("timeout", "must be a duration over 0, such as 30s, not "+quote(b.Timeout))
		}
	}
	if err := s.Check(); err != nil {
		return s, &Error{Status: http.StatusBadRequest, Code: "InvalidServer", Message: err.Error()}
	}
	return s, nil
}

func pairs(m map[string]string) (list []profile.Pair) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, profile.Pair{Name: name, Value: m[name]})
	}
	return list
}

func serverName(r *http.Request) (string, error) {
	name, err := url.PathUnescape(chi.URLParam(r, "name"))
	if err != nil {
		return "", invalid("name", "is not a valid part of a URL")
	}
	if err := profile.ServerName(name); err != nil {
		return "", invalid("name", "is not right: "+err.Error())
	}
	return name, nil
}

func noServer(name string) *Error {
	return &Error{Status: http.StatusNotFound, Code: "ServerNotFound", Message: "there is no MCP server " + quote(name)}
}

// listServers lists the MCP servers of the workspace, or with ?profile= those that
// it has.
func (h *Host) listServers(w *response, r *http.Request) error {
	name := r.URL.Query().Get("profile")
	list, err := h.deps.Servers(r.Context(), name)
	if err != nil {
		return h.editError(name, err)
	}
	return writeTagged(w, r, list)
}

func (h *Host) getServer(w *response, r *http.Request) error {
	name, err := serverName(r)
	if err != nil {
		return err
	}
	list, err := h.deps.Servers(r.Context(), "")
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Name == name {
			return writeTagged(w, r, s)
		}
	}
	return noServer(name)
}

func (h *Host) createServer(w *response, r *http.Request) error { return h.saveServer(w, r, true) }
func (h *Host) putServer(w *response, r *http.Request) error    { return h.saveServer(w, r, false) }

// saveServer writes a server into the configuration. It starts nothing.
func (h *Host) saveServer(w *response, r *http.Request, isNew bool) error {
	name, err := serverName(r)
	if err != nil {
		return err
	}
	var body serverBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	s, err := body.server(name)
	if err != nil {
		return err
	}
	list, err := h.deps.Servers(r.Context(), "")
	if err != nil {
		return err
	}
	status := http.StatusCreated
	for _, there := range list {
		if there.Name != name {
			continue
		}
		if isNew {
			return &Error{Status: http.StatusConflict, Code: "ServerExists", Message: "there is an MCP server " + quote(name) + ": PUT changes it"}
		}
		status = http.StatusOK
	}
	if err := h.deps.SaveServer(r.Context(), s); err != nil {
		return err
	}
	if status == http.StatusCreated {
		w.Header().Set("Location", "/mcp-servers/"+url.PathEscape(name))
	}
	return writeJSON(w, status, serverSaved{name})
}

// serverSaved names a server that was written.
type serverSaved struct {
	Name string `json:"name"`
}

func (h *Host) deleteServer(w *response, r *http.Request) error {
	name, err := serverName(r)
	if err == nil {
		err = h.deps.DropServer(r.Context(), name)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *Host) restartServer(w *response, r *http.Request) error {
	name, err := serverName(r)
	if err != nil {
		return err
	}
	if err := h.deps.RestartServer(r.Context(), name); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, serverSaved{name})
}
