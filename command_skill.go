package roster

import (
	"context"
	"encoding/json"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/skill"
)

// skillCommand is a skill that a person calls as a command; nil: there is none that he
// can. He is told of it as the model would be, and the same rules are lent.
func (a *App) skillCommand(name string) *command.Command {
	x, err := a.Skills().Get(name)
	if err != nil || x.OnlyModel {
		return nil
	}
	return &command.Command{
		Name: x.Name, Kind: command.Skill, File: x.File, At: source.Origin{File: x.File, Line: 1, Column: 1}, User: x.Own,
		Description: x.Description, Hint: x.ArgumentHint, Allows: x.Allowed,
		Fetch: func(ctx context.Context, arguments string) ([]message.Part, error) {
			input, err := json.Marshal(map[string]string{"name": x.Name, "arguments": arguments})
			if err != nil {
				return nil, err
			}
			plan, err := skill.New(a.dir, []skill.Use{{Skill: x}}, nil).Prepare(ctx, tool.Call{ID: "command:" + x.Name, Input: input})
			if err != nil {
				return nil, err
			}
			defer plan.Close()
			r, err := plan.Run(ctx, func(string) {})
			return r.Parts, err
		},
	}
}

// useSkill says whether the profile's rules let a skill be used, and lends what it
// says that it does.
func (e *expander) useSkill() error {
	d := e.permit.Decide(permission.Query{Tool: skill.Name, Subject: e.c.Name})
	if d.Effect == permission.Deny { // what would be asked for a person has called himself
		return e.denied(e.c.At, "skill "+e.c.Name, d.Reason)
	}
	x, err := e.app.Skills().Get(e.c.Name)
	if err != nil {
		return err
	}
	allowed := e.c.Allows
	if len(e.lent) == 0 {
		allowed = nil
	}
	e.lent = nil
	if lent := x.Lent("", e.workspace, allowed); lent != nil {
		e.lent = []session.Lent{*lent}
	}
	return nil
}
