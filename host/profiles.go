package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
)

// profileBrief is a profile in a list: as its file says, before any default.
// Provider is empty if the model's reference does not name one.
type profileBrief struct {
	Name         string   `json:"name"`
	Provider     string   `json:"provider"`
	Model        string   `json:"model"`
	Tools        []string `json:"tools"` // as written; ["*"]: all that its rules allow
	SystemPrompt string   `json:"system_prompt"`
}

// detail is how much clients want to see of a profile.
type detail int

const (
	inBrief   detail = iota
	inFull           // verbose
	asWritten        // verbose=file: model, provider and tools too are as in the file
)

func detailOf(r *http.Request) (detail, error) {
	if r.URL.Query().Get("verbose") == "file" {
		return asWritten, nil
	}
	verbose, err := flag(r, "verbose")
	if verbose {
		return inFull, err
	}
	return inBrief, err
}

// profileView makes what clients see of a profile: in brief or, verbose, all
// that its file says, with the diagnostics of that file.
func profileView(p *profile.Profile, d detail, ds []profile.Diagnostic) any {
	v := view.NewProfile(p, ds)
	if d == asWritten {
		return v
	}
	whole := p.Flatten()
	v.Provider, v.Model = modelOf(whole)
	if whole.Tools.V.Written != nil {
		v.Tools = whole.Tools.V.Written
	}
	if d == inFull {
		return v
	}
	return profileBrief{v.Name, v.Provider, v.Model, v.Tools, v.SystemPrompt}
}

func modelOf(p *profile.Profile) (provider, model string) {
	if p.Provider.V != "" {
		return p.Provider.V, strings.TrimPrefix(p.Model.V, p.Provider.V+"/")
	}
	if provider, model, ok := strings.Cut(p.Model.V, "/"); ok {
		return provider, model
	}
	return "", p.Model.V
}

// HeaderDiagnostics counts, in the answer of GET /profiles, what
// GET /profiles/-/diagnostics lists.
const HeaderDiagnostics = "X-Roster-Diagnostics"

func (h *Host) listProfiles(w *response, r *http.Request) error {
	list, ds, err := h.deps.Profiles(r.Context())
	if err != nil {
		return err
	}
	d, err := detailOf(r)
	if err != nil {
		return err
	}
	byFile := map[string][]profile.Diagnostic{}
	if d != inBrief {
		for _, found := range ds {
			byFile[found.File] = append(byFile[found.File], found)
		}
	}
	views := make([]any, len(list))
	for i, p := range list {
		views[i] = profileView(p, d, byFile[p.File])
	}
	w.Header().Set(HeaderDiagnostics, strconv.Itoa(len(ds)))
	return writeTagged(w, r, views)
}

func (h *Host) getProfile(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	p, err := h.profile(r.Context(), name)
	if err != nil {
		return err
	}
	d, err := detailOf(r)
	if err != nil {
		return err
	}
	data, err := h.profileJSON(r.Context(), p, d)
	if err != nil {
		return err
	}
	w.Header().Set(HeaderRevision, p.Revision())
	return writeIfNew(w, r, data, tagOf(data, p.Revision()))
}

func (h *Host) profilePrompt(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	p, err := h.deps.Prompt(r.Context(), name)
	if errors.Is(err, profile.ProfileNotFound) {
		return profileNotFound(name)
	}
	if err != nil {
		return err
	}
	return writeTagged(w, r, p)
}

func (h *Host) profileTools(w *response, r *http.Request) error {
	t, err := h.toolsOf(r)
	if err != nil {
		return err
	}
	return writeTagged(w, r, t)
}

// profileTargets lists the profiles that a profile may give tasks to.
func (h *Host) profileTargets(w *response, r *http.Request) error {
	t, err := h.toolsOf(r)
	if err != nil {
		return err
	}
	return writeTagged(w, r, t.Targets)
}

func (h *Host) toolsOf(r *http.Request) (view.Tools, error) {
	name, err := profileName(r)
	if err != nil {
		return view.Tools{}, err
	}
	t, err := h.deps.Tools(r.Context(), name)
	if errors.Is(err, profile.ProfileNotFound) {
		err = profileNotFound(name)
	}
	return t, err
}

// profilePermit judges the call that the query describes: ?tool=&subject=.
func (h *Host) profilePermit(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if q.Get("tool") == "" {
		return missing("tool", "name the tool of the call, and with subject what it is used on")
	}
	p, err := h.deps.Permit(r.Context(), name, q.Get("tool"), q.Get("subject"))
	if errors.Is(err, profile.ProfileNotFound) {
		return profileNotFound(name)
	}
	if err != nil {
		return err
	}
	return writeTagged(w, r, p)
}

// profileName is the name in the path of a request. What is no name is that of
// no profile.
func profileName(r *http.Request) (string, error) {
	name, err := pathText(r, "name")
	if err != nil {
		return "", err
	}
	if profile.CheckName(name) != nil {
		return "", profileNotFound(name)
	}
	return name, nil
}

// pathText is a parameter of the path, with %2F for a slash in it.
func pathText(r *http.Request, param string) (string, error) {
	text, err := url.PathUnescape(chi.URLParam(r, param))
	if err != nil {
		return "", invalid(param, "is not a valid part of a URL")
	}
	return text, nil
}

func (h *Host) profile(ctx context.Context, name string) (*profile.Profile, error) {
	p, err := h.deps.Profile(ctx, name)
	if errors.Is(err, profile.ProfileNotFound) && !unloaded(err) {
		return nil, profileNotFound(name)
	}
	return p, err
}

// profileJSON is the answer of GET /profiles/{name}. Its tag changes with all
// that the profile says, also with what the answer leaves out.
func (h *Host) profileJSON(ctx context.Context, p *profile.Profile, d detail) ([]byte, error) {
	var ds []profile.Diagnostic
	if d != inBrief {
		_, all, err := h.deps.Profiles(ctx)
		if err != nil {
			return nil, err
		}
		for _, found := range all {
			if found.File == p.File {
				ds = append(ds, found)
			}
		}
	}
	return marshal(profileView(p, d, ds))
}

// HeaderRevision is the revision of the profile in an answer; If-Match takes it
// as it takes the answer's ETag.
const HeaderRevision = "X-Roster-Revision"

func (h *Host) diagnostics(w *response, r *http.Request) error {
	_, ds, err := h.deps.Profiles(r.Context())
	if err != nil {
		return err
	}
	return writeTagged(w, r, ds)
}

// writeTagged answers with JSON and its ETag, or with 304 if the client has it.
func writeTagged(w *response, r *http.Request, v any) error {
	data, err := marshal(v)
	if err != nil {
		return err
	}
	return writeIfNew(w, r, data, tagOf(data, ""))
}

// tagOf is the ETag of an answer, and of what else it depends on.
func tagOf(data []byte, more string) string {
	sum := sha256.New()
	sum.Write(data)
	sum.Write([]byte(more))
	return `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
}

func writeIfNew(w *response, r *http.Request, data []byte, tag string) error {
	return writeTypedIfNew(w, r, "application/json", data, tag)
}

func writeTypedIfNew(w *response, r *http.Request, kind string, data []byte, tag string) error {
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeTyped(w, http.StatusOK, kind, data)
}

// matches says whether an If-None-Match header names the tag.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// flag reads a parameter that is there or not: ?verbose, ?verbose=true.
func flag(r *http.Request, name string) (bool, error) {
	q := r.URL.Query()
	if !q.Has(name) {
		return false, nil
	}
	switch v := q.Get(name); v {
	case "", "1", "true":
		return true, nil
	case "0", "false":
		return false, nil
	default:
		return false, invalid(name, "must be true or false, not "+quote(v))
	}
}
