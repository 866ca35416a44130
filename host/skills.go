package host

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
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
	Text *string `json:"text" schema:"required;pattern=\\S"`
}

func skillName(r *http.Request) (string, error) {
	name, err := url.PathUnescape(chi.URLParam(r, "name"))
	if err != nil || name == "" {
		return "", invalid("name", "is not a valid part of a URL")
	}
	return name, nil
}

// forCaller leaves out where on the server a skill is, of one who need not be on it.
func forCaller(r *http.Request, s view.Skill) view.Skill {
	if !identity.From(r.Context()).Open {
		s.Folder = ""
	}
	return s
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
	shown := make([]view.Skill, len(list))
	for i, s := range list {
		shown[i] = forCaller(r, s)
	}
	return writeTagged(w, r, shown)
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
	return writeTagged(w, r, forCaller(r, s))
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
		Name: name, Text: *body.Text, Revision: revision, Plain: !isAdmin(r),
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
	return writeJSON(w, status, forCaller(r, s))
}
