package roster

import (
	"context"
	"errors"
	"net/http"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool/skill"
)

// serveSkills gives a host the skills.
func (a *App) serveSkills(d *host.Deps) {
	d.Skills = func(ctx context.Context, name string) ([]view.Skill, error) {
		list, _, err := a.SkillList(ctx, name)
		return list, err
	}
	d.Skill = func(_ context.Context, name string) (view.Skill, error) {
		s, err := a.Skill(name)
		return s, skillError(err)
	}
	d.SaveSkill = func(ctx context.Context, e host.SkillEdit) (view.Skill, bool, error) {
		created, err := a.saveSkill(ctx, e)
		if err != nil {
			return view.Skill{}, false, skillError(err)
		}
		s, err := a.Skill(e.Name)
		return s, created, skillError(err)
	}
}

// saveSkill writes the SKILL.md of a skill of the workspace that has the revision, or
// without one a new skill, and says whether it is new.
func (a *App) saveSkill(ctx context.Context, e host.SkillEdit) (created bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return a.now().skills.Save(e.Name, e.Text, e.Revision, e.Plain)
}

// skillError is an error of a skill as the host answers it.
func skillError(err error) error {
	is := func(status int, code string) error {
		e := &host.Error{Status: status, Code: code, Message: err.Error()}
		if parse := (*profile.ParseError)(nil); errors.As(err, &parse) {
			e.Diagnostics = parse.Diagnostics
			if len(parse.Diagnostics) > 0 && parse.Diagnostics[0].Name != "" {
				e.Code = parse.Diagnostics[0].Name
			}
		}
		return e
	}
	missing, parse := (*skill.NotFoundError)(nil), (*profile.ParseError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return is(http.StatusNotFound, "SkillNotFound")
	case errors.As(err, &parse):
		return is(http.StatusBadRequest, string(profile.SchemaValidation))
	case errors.Is(err, skill.ErrReadOnly):
		return is(http.StatusForbidden, "ReadOnly")
	case errors.Is(err, skill.ErrAllows):
		return is(http.StatusForbidden, string(profile.ExecutingKey))
	case errors.Is(err, skill.ErrExists):
		return is(http.StatusConflict, "SkillExists")
	case errors.Is(err, skill.ErrRevision):
		return is(http.StatusPreconditionFailed, "RevisionMismatch")
	}
	return err
}
