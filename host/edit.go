package host

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// maxProfile bounds the body of a request that has a profile, in bytes.
const maxProfile = profile.MaxFile

// maxKeys bounds the keys of such a body: while a profile is written, no other is.
const maxKeys = 1000

// created is the answer when a profile was made.
type created struct {
	Created bool `json:"created"`
}

// createProfile makes the profile that the path names.
func (h *Host) createProfile(w *response, r *http.Request) error {
	name, err := url.PathUnescape(chi.URLParam(r, "name"))
	if err != nil {
		return invalid("name", "is not a valid part of a URL")
	}
	keys, _, err := h.readKeys(w, r, r.URL.Query().Get("dialect"))
	if err != nil {
		return err
	}
	return h.create(w, r, name, keys)
}

// createNamed makes the profile that the body names.
func (h *Host) createNamed(w *response, r *http.Request) error {
	keys, members, err := h.readKeys(w, r, r.URL.Query().Get("dialect"))
	if err != nil {
		return err
	}
	var name string
	if raw, ok := members["name"]; ok && raw.Kind() == jsontext.KindString {
		var text []byte
		text, err = jsontext.AppendUnquote(nil, raw)
		name = string(text)
	} else if ok {
		err = invalid("name", "must be a JSON string")
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return &Error{Status: http.StatusBadRequest, Code: string(profile.MissingName), Field: "name", Message: "name must not be empty"}
	}
	return h.create(w, r, name, keys)
}

func (h *Host) create(w *response, r *http.Request, name string, keys []byte) error {
	if err := profile.CheckName(name); err != nil {
		return &Error{Status: http.StatusBadRequest, Code: string(profile.SchemaValidation), Field: "name", Message: bareName(err)}
	}
	p, err := h.deps.Edit(r.Context(), Edit{Name: name, Keys: keys, New: true, Dialect: r.URL.Query().Get("dialect")})
	if err != nil {
		e := h.editError(name, err)
		if e.Code == string(profile.ProfileExists) && r.Header.Get("If-None-Match") != "" {
			e.Status = http.StatusPreconditionFailed
		}
		return e
	}
	if _, err := h.tagged(w, r, p); err != nil {
		return err
	}
	w.Header().Set("Location", "/profiles/"+url.PathEscape(name))
	return writeJSON(w, http.StatusCreated, created{true})
}

// putProfile changes keys of a profile that the client has seen as it is.
func (h *Host) putProfile(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	if r.Header.Get("If-Match") == "" {
		return &Error{
			Status: http.StatusPreconditionRequired, Code: "MissingIfMatch", Field: "If-Match",
			Message: "If-Match is missing: send the ETag, or the " + HeaderRevision + " in quotes, of the profile that you have read",
		}
	}
	dialect := ""
	if old, err := h.profile(r.Context(), name); err == nil { // else ifMatch says so
		dialect = old.Dialect
	}
	keys, _, err := h.readKeys(w, r, dialect)
	if err != nil {
		return err
	}
	revision, err := h.ifMatch(r, name)
	if err != nil {
		return err
	}
	p, err := h.deps.Edit(r.Context(), Edit{Name: name, Keys: keys, Revision: revision})
	if err != nil {
		return h.editError(name, err)
	}
	return h.answerProfile(w, r, p)
}

func (h *Host) deleteProfile(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	revision, err := h.ifMatch(r, name)
	if err != nil {
		return err
	}
	if err := h.deps.Delete(r.Context(), name, revision); err != nil {
		return h.editError(name, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// HeaderNote says, in quotes, what of a history could not be read.
const HeaderNote = "X-Roster-Note"

func (h *Host) profileHistory(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	all, ds, err := h.deps.History(r.Context(), name)
	if err != nil {
		return h.editError(name, err)
	}
	for i := range ds {
		w.Header().Add(HeaderNote, strconv.QuoteToASCII(ds[i].Message))
	}
	return writeTagged(w, r, all)
}

// diffBody is what changed between two versions.
type diffBody struct {
	Diff string `json:"diff"` // unified; empty: nothing
}

func (h *Host) profileDiff(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	text, err := h.deps.Diff(r.Context(), name, q.Get("from"), q.Get("to"))
	if err != nil {
		return h.editError(name, err)
	}
	return writeTagged(w, r, diffBody{text})
}

// rollbackBody is the body of rollback.
type rollbackBody struct {
	Revision string `json:"revision" schema:"required;min=1"` // of GET /profiles/{name}/history
}

func (h *Host) rollback(w *response, r *http.Request) error {
	name, err := profileName(r)
	if err != nil {
		return err
	}
	var body rollbackBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Revision == "" {
		return missing("revision", "GET /profiles/{name}/history lists them")
	}
	revision, err := h.ifMatch(r, name)
	if err != nil {
		return err
	}
	p, err := h.deps.Rollback(r.Context(), name, body.Revision, revision, h.mayBringBack(r, name))
	if err != nil {
		return h.editError(name, err)
	}
	return h.answerProfile(w, r, p)
}

// checkBody is the body of POST /profiles/-/check.
type checkBody struct {
	Path string `json:"path"` // below the workspace, with slashes; it says the dialect
	Text string `json:"text"` // of the file
}

// check says what the catalog would make of a text; nothing is saved or run.
func (h *Host) check(w *response, r *http.Request) error {
	var body checkBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if p := body.Path; p != "" && (path.IsAbs(p) || path.Clean(p) != p || strings.HasPrefix(p, "..") || strings.ContainsAny(p, "\\\x00")) {
		return invalid("path", "must be a path below the workspace, with slashes, such as profiles/reviewer.md")
	}
	answer, err := h.deps.Check(r.Context(), body.Path, body.Text)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

// readKeys reads a body that is an object of a profile's keys. What executes is
// only for administrators, though it has no effect until it is trusted.
func (h *Host) readKeys(w *response, r *http.Request, dialect string) ([]byte, map[string]jsontext.Value, error) {
	data, err := h.readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxProfile {
		return nil, nil, &http.MaxBytesError{Limit: maxProfile}
	}
	var members map[string]jsontext.Value
	if err := decode(data, &members); err != nil {
		return nil, nil, err
	}
	if members == nil {
		return nil, nil, malformed("the body is a JSON null: send an object")
	}
	if len(members) > maxKeys {
		return nil, nil, malformed(fmt.Sprintf("the body has %d keys, more than %d", len(members), maxKeys))
	}
	if err := h.mayExecute(r, data, dialect == "config"); err != nil {
		return nil, nil, err
	}
	return data, members, nil
}

// mayExecute refuses executing keys of callers that are no administrators.
func (h *Host) mayExecute(r *http.Request, object []byte, variables bool) error {
	if isAdmin(r) {
		return nil
	}
	return executing(trust.InObject(object, variables))
}

// mayBringBack is what mayExecute is for a version that becomes current again:
// what the profile does not have now is as if it were sent.
func (h *Host) mayBringBack(r *http.Request, name string) func([]*profile.Profile) error {
	if isAdmin(r) {
		return nil
	}
	return func(then []*profile.Profile) error {
		if p, err := h.profile(r.Context(), name); err == nil {
			return executing(added([]*profile.Profile{p}, then))
		}
		return executing(added(nil, then))
	}
}

// maySay is what mayExecute is for the text of a file.
func (h *Host) maySay(r *http.Request) func(before, after []*profile.Profile) error {
	if isAdmin(r) {
		return nil
	}
	return func(before, after []*profile.Profile) error { return executing(added(before, after)) }
}

// added are the executing keys of profiles that those before do not have.
func added(before, after []*profile.Profile) (keys []string) {
	has := map[[2]string]bool{}
	for _, p := range before {
		for _, i := range trust.OfProfile(p) {
			has[[2]string{i.Key, i.Digest}] = i.Digest != ""
		}
	}
	for _, p := range after {
		for _, i := range trust.OfProfile(p) {
			if !has[[2]string{i.Key, i.Digest}] {
				keys = append(keys, i.Key)
			}
		}
	}
	return keys
}

func executing(keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return &Error{
		Status: http.StatusForbidden, Code: string(profile.ExecutingKey), Field: quoted(keys[0]),
		Message: quoted(strings.Join(keys, ", ")) + " would start, reach or read something: that needs the role admin",
	}
}

// quoted makes one line of a text from outside.
func quoted(s string) string { return strings.Trim(quote(s), `"`) }

// ifMatch gives the revision that If-Match asks for: it takes revisions, and the
// tags of GET /profiles/{name}. It is empty without the header, or for any.
func (h *Host) ifMatch(r *http.Request, name string) (string, error) {
	header := strings.TrimSpace(r.Header.Get("If-Match"))
	if header == "" {
		return "", nil
	}
	p, err := h.profile(r.Context(), name)
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(header, ",") {
		tag := strings.TrimSpace(part)
		if tag == "*" || tag == `"`+p.Revision()+`"` {
			return p.Revision(), nil
		}
		for _, d := range []detail{inBrief, inFull, asWritten} {
			data, err := h.profileJSON(r.Context(), p, d)
			if err != nil {
				return "", err
			}
			if tag == tagOf(data, p.Revision()) {
				return p.Revision(), nil
			}
		}
	}
	return "", &Error{
		Status: http.StatusPreconditionFailed, Code: string(profile.RevisionMismatch),
		Message: "profile changed: " + name + " has revision " + p.Revision() + ": read it again",
	}
}

// answerProfile answers with a profile as GET does.
func (h *Host) answerProfile(w *response, r *http.Request, p *profile.Profile) error {
	data, err := h.tagged(w, r, p)
	if err != nil {
		return err
	}
	return writeBytes(w, http.StatusOK, data)
}

// tagged sets the headers by which a client refers to the profile that it has,
// and gives the answer that they are for.
func (h *Host) tagged(w *response, r *http.Request, p *profile.Profile) ([]byte, error) {
	data, err := h.profileJSON(r.Context(), p, inBrief)
	if err != nil {
		return nil, err
	}
	w.Header().Set(HeaderRevision, p.Revision())
	w.Header().Set("ETag", tagOf(data, p.Revision()))
	return data, nil
}

// editError makes an answer of what keeps a profile from being written.
func (h *Host) editError(name string, err error) *Error {
	var parse *profile.ParseError
	if refused := (*Error)(nil); errors.As(err, &refused) {
		return refused
	}
	answer := func(status int, code profile.ErrorName) *Error {
		return &Error{Status: status, Code: string(code), Message: err.Error()}
	}
	switch {
	case errors.Is(err, profile.ProfileNotFound) && !unloaded(err):
		return profileNotFound(name)
	case errors.Is(err, profile.ProfileExists):
		return answer(http.StatusConflict, profile.ProfileExists)
	case errors.Is(err, profile.RevisionMismatch):
		return answer(http.StatusPreconditionFailed, profile.RevisionMismatch)
	case errors.Is(err, profile.RevisionNotFound):
		return answer(http.StatusNotFound, profile.RevisionNotFound)
	case errors.Is(err, profile.ReadOnly):
		return answer(http.StatusForbidden, profile.ReadOnly)
	case errors.As(err, &parse):
		e := refusal(parse.Diagnostics)
		if unloaded(err) { // the file is at fault, not the request
			e.Status, e.Field, e.Diagnostics = http.StatusConflict, "", parse.Diagnostics
			e.Message = "the profile's file does not load: " + e.Message + ": repair it, or roll back"
		}
		return e
	case errors.Is(err, profile.SchemaValidation):
		return &Error{Status: http.StatusBadRequest, Code: string(profile.SchemaValidation), Message: bareName(err)}
	}
	return h.explain(err)
}

// refusal answers for what is wrong with a profile that was sent: the first
// problem gives the code and the field.
func refusal(ds []profile.Diagnostic) *Error {
	e := &Error{Status: http.StatusBadRequest, Code: string(profile.SchemaValidation)}
	var said []string
	for i := range ds {
		d := &ds[i]
		if d.Severity != profile.SeverityError {
			continue
		}
		if len(said) == 0 {
			e.Code, e.Field = d.Name, strings.ReplaceAll(d.Key, "-", "_")
		}
		if d.Code == profile.CodeByHand {
			e.Status = http.StatusConflict
		}
		said = append(said, sentence(d))
	}
	e.Message = strings.Join(said, "; ")
	return e
}

// sentence says what is wrong with a key that was sent.
func sentence(d *profile.Diagnostic) string {
	switch d.Code {
	case profile.CodeEmptyProvider:
		return "provider must not be empty"
	case profile.CodeEmptyModel:
		return "model must not be empty"
	case profile.CodeNoSystemPrompt:
		return "system_prompt must not be empty"
	case profile.CodeNeedDescription:
		return "description must not be empty"
	}
	if d.Hint == "" {
		return d.Message
	}
	return d.Message + " (" + d.Hint + ")"
}

// bareName is the text of an error without the name of its kind.
func bareName(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+string(profile.SchemaValidation))
}
