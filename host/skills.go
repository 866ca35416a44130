package host

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/profile"
)

// SkillEdit is the text of a skill's SKILL.md that is to be written. Without Revision
// the skill is new.
type SkillEdit struct {
	Name, Text, Revision string
	// Plain refuses allowed-tools: the caller may not send what executes.
	Plain bool
}

// skillBody is the body of PUT /skills/{name}.
type skillBody struct {
	Text *string `json:"text"`
}

func skillName(r *http.Request) (string, error) {
	name, err := url.PathUnescape(chi.URLParam(r, "name"))
	if err != nil || name == "" {
		return "", invalid("name", "is not a valid part of a URL")
	}
	return name, nil
}

// listSkills lists the skills, or with ?profile= those that it may use.
func (h *Host) listSkills(w *response, r *http.Request) error {
	name := r.URL.Query().Get("profile")
	list, err := h.deps.Skills(r.Context(), name)
	if err != nil {
		if name != "" {
			return h.editError(name, err)
		}
		return err
	}
	return writeTagged(w, r, list)
}

func (h *Host) getSkill(w *response, r *http.Request) error {
	name, err := skillName(r)
	if err != nil {
		return err
	}
	s, err := h.deps.Skill(r.Context(), name)
	if err != nil {
		return err
	}
	w.Header().Set(HeaderRevision, s.Revision)
	return writeTagged(w, r, s)
}

// putSkill writes a skill that the client has seen as it is, or a new one.
func (h *Host) putSkill(w *response, r *http.Request) error {
	name, err := skillName(r)
	if err != nil {
		return err
	}
	var body skillBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Text == nil || strings.TrimSpace(*body.Text) == "" {
		return missing("text", "it is the whole SKILL.md")
	}
	if len(*body.Text) > profile.MaxFile {
		return invalid("text", "is longer than a file may be")
	}
	revision := strings.Trim(strings.TrimPrefix(r.Header.Get("If-Match"), "W/"), `"`)
	if revision == "*" {
		return invalid("If-Match", "takes the "+HeaderRevision+" of the skill that you have read")
	}
	s, created, err := h.deps.SaveSkill(r.Context(), SkillEdit{
		Name: name, Text: *body.Text, Revision: revision, Plain: h.deps.Admin != nil && !h.deps.Admin(r),
	})
	if err != nil {
		return err
	}
	w.Header().Set(HeaderRevision, s.Revision)
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		w.Header().Set("Location", "/skills/"+url.PathEscape(name))
	}
	return writeJSON(w, status, s)
}
