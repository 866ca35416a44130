package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/grants"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// expander does what a command asks for while it is expanded, as the profile that is
// going to be asked.
type expander struct {
	app       *App
	c         *command.Command
	call      *CommandCall
	spec      *spec.Spec
	permit    *permission.Engine
	hooks     *hook.Set
	bash      tool.Tool // nil: the command has no lines
	workspace string
	lent      []session.Lent
	notes     []string
}

// expander resolves the profile: as a whole where something is to be run.
func (a *App) expander(ctx context.Context, c *command.Command, out *CommandPrompt, call CommandCall) (*expander, error) {
	from := a.now()
	if from.err != nil {
		return nil, from.err
	}
	p, err := a.profileHere(ctx, from, out.Profile)
	if err != nil {
		return nil, err
	}
	lines := c.Lines()
	in := a.input(from, p, session.Overrides{Set: out.Set, Flags: call.Flags, AllowAll: call.AllowAll})
	in.RulesOnly = len(lines) == 0
	e := &expander{app: a, c: c, call: &call}
	if in.RulesOnly {
		e.spec, _, err = resolve.Spec(in)
	} else {
		e.spec, _, err = a.resolveInput(from, in)
	}
	if err == nil && len(e.spec.Withheld) > 0 {
		err = fmt.Errorf("profile %s cannot be run: %w", e.spec.Name, e.spec.Withheld[0])
	}
	if err != nil {
		return nil, err
	}
	e.workspace = e.spec.Workspace
	if len(lines) > 0 {
		err = e.arm()
	}
	if err = errors.Join(err, e.allow()); err == nil && c.Kind == command.Skill {
		err = e.useSkill()
	}
	return e, err
}

// arm makes what command lines are run with.
func (e *expander) arm() (err error) {
	env := e.app.env(e.spec)
	env.Jobs = nil // nothing is left at work
	env.Exec, env.Hold = e.app.helper()
	if env.Box, err = e.app.box(e.spec); err != nil {
		return err
	}
	if e.bash, err = builtin(env, "bash"); err != nil {
		return err
	}
	e.hooks, err = e.app.hooks(e.spec)
	return err
}

func builtin(env tool.Env, name string) (tool.Tool, error) {
	tools, err := tool.Builtins(env)
	if err != nil {
		return nil, err
	}
	return tools[slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Def().Name == name })], nil
}

// allow compiles the rules: those of the profile, what was allowed for good, and what
// the command says that it does, if its file is trusted.
func (e *expander) allow() (err error) {
	if e.permit, err = e.spec.Permit(e.call.Approve == nil); err != nil {
		return err
	}
	whose := grants.Whose{Tenant: e.call.Tenant, User: e.call.User, Workspace: e.app.dir}
	if whose.Tenant == "" {
		whose.Tenant = LocalTenant
	}
	if whose.User == "" {
		whose.User = LocalTenant
	}
	g := permission.Grants{}
	if g.Workspace, err = e.app.grants.For(whose, e.spec.Name); err != nil {
		e.app.opts.Log.Error("what was allowed for good cannot be read, so it is asked for", "error", err)
		err = nil
	}
	switch {
	case len(e.c.Allows) == 0:
	case !e.c.User && !e.app.Trust().Rules(e.c.File):
		e.notes = append(e.notes, "allowed-tools has no effect: the workspace is not trusted (see roster trust)")
	default:
		if g.Lent, err = permission.CompileLent(e.c.Allows); err != nil {
			e.notes = append(e.notes, "allowed-tools: "+err.Error())
			err = nil
		}
		e.lent = []session.Lent{{Source: "command " + e.c.Name, Rules: rulesOf(e.c.Allows)}}
	}
	e.permit = e.permit.With(g)
	return nil
}

func rulesOf(rules []permission.Rule) (out []session.Rule) {
	for _, r := range rules {
		out = append(out, session.Rule{Tool: r.Tool, Subject: r.Subject, Effect: r.Effect.String(), Layer: string(r.At.Layer), File: r.At.File, Line: r.At.Line})
	}
	return out
}

// run gives what a command line writes.
func (e *expander) run(ctx context.Context, line string, at source.Origin) (string, error) {
	if err := e.trusted(at); err != nil {
		return "", err
	}
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return "", err
	}
	m := hook.Moment{Event: hook.BeforeTool, Profile: e.spec.Name, Model: e.spec.Model.String(), Workspace: e.workspace,
		Call: "command:" + e.c.Name, Tool: "bash", Input: input}
	if e.hooks.Has(hook.BeforeTool, "bash") {
		said := e.hooks.Ask(ctx, m)
		if said.Decision == hook.Deny {
			return "", e.denied(at, line, "by the hook at "+said.By+": "+said.Reason)
		}
		if len(said.Input) > 0 {
			m.Input = said.Input
		}
	}
	text, err := e.judged(ctx, m, at, line)
	if err != nil || !e.hooks.Has(hook.AfterTool, "bash") {
		return text, err
	}
	m.Event, m.Outcome, m.Text = hook.AfterTool, string(session.OK), text
	switch said := e.hooks.Ask(ctx, m); said.Decision {
	case hook.Deny:
		return "[what it wrote is withheld by the hook at " + said.By + "]", nil
	case hook.Rewrite:
		return said.Text, nil
	}
	return text, nil
}

// trusted says whether the lines of the command may run at all.
func (e *expander) trusted(at source.Origin) error {
	if e.c.User {
		return nil
	}
	for _, i := range commandItems(e.c) {
		if i.At != at {
			continue
		}
		if err := e.app.Trust().Gate(i); err != nil {
			return fmt.Errorf("/%s: %w", e.c.Name, err)
		}
	}
	return nil
}

func (e *expander) denied(at source.Origin, what, why string) error {
	return errorAt(e.c, at, command.ErrDenied, "%s: denied: %s", render.Visible(what), why)
}

// judged prepares a call of bash, has it judged, and runs it.
func (e *expander) judged(ctx context.Context, m hook.Moment, at source.Origin, line string) (string, error) {
	plan, err := e.bash.Prepare(ctx, tool.Call{ID: m.Call, Input: m.Input, Permit: e.permit})
	if err != nil {
		return "", errorAt(e.c, at, err, "%v", err)
	}
	defer plan.Close()
	d := e.permit.Decide(plan.Needs()...)
	if e.hooks.Has(hook.OnPermission, "bash") {
		m.Event = hook.OnPermission
		m.Permission = &hook.Permission{Effect: d.Effect.String(), Reason: d.Reason, Answerable: d.Effect == permission.Ask && d.Grantable}
		d = hooked(d, e.hooks.Ask(ctx, m))
	}
	if err := e.decided(ctx, d, plan, "bash", m.Input, at, line); err != nil {
		return "", err
	}
	r, err := plan.Run(ctx, func(string) {})
	if err != nil {
		return "", errorAt(e.c, at, err, "%s: %v", render.Visible(line), err)
	}
	if text := message.PartsText(r.Parts); text != "[no output]" {
		return text, ctx.Err()
	}
	return "", ctx.Err()
}

// hooked brings a verdict together with what hooks say of it.
func hooked(d permission.Decision, said hook.Answer) permission.Decision {
	switch {
	case d.Effect == permission.Deny:
	case said.Decision == hook.Deny:
		d.Effect, d.Reason = permission.Deny, "by the hook at "+said.By+": "+said.Reason
	case said.Decision == hook.Ask && d.Effect == permission.Allow:
		d.Effect, d.Rule, d.Reason = permission.Ask, nil, "asked for by the hook at "+said.By
	case said.Decision == hook.Approve && d.Effect == permission.Ask && d.Grantable:
		d.Effect = permission.Allow
	}
	return d
}

// decided is nil if something may be done, also because a person says so.
func (e *expander) decided(ctx context.Context, d permission.Decision, plan tool.Plan, name string, input []byte, at source.Origin, what string) error {
	switch {
	case d.Effect == permission.Allow:
		return nil
	case d.Effect == permission.Deny:
		return e.denied(at, what, because(d))
	case e.call.Approve == nil:
		return e.denied(at, what, "it would have to be asked for, and nobody is there")
	}
	ok, err := e.call.Approve(ctx, e.approval(d, plan, name, input))
	if err == nil && !ok {
		err = e.denied(at, what, "you said no")
	}
	return err
}

// because says why something is denied, with the rule that says so and its place.
func because(d permission.Decision) string {
	if d.Rule == nil {
		return d.Reason
	}
	return fmt.Sprintf("%s: %s %q: %s (%s)", d.Reason, d.Rule.Tool, d.Rule.Subject, d.Rule.Effect, d.Rule.At)
}

// approval is the question for a person.
func (e *expander) approval(d permission.Decision, plan tool.Plan, name string, input []byte) Approval {
	v := Approval{
		AgentID: e.spec.Name, Call: "command:" + e.c.Name, Tool: name, Arguments: input,
		Reason: d.Reason, Answers: []session.Answer{session.AnswerOnce, session.AnswerNo}, Asked: clock.Stamp(clock.From(context.Background())),
		Needs: []session.Subject{}, Parts: []session.AskedPart{},
	}
	if d.Rule != nil {
		v.Rule = &rulesOf([]permission.Rule{*d.Rule})[0]
	}
	for _, q := range e.permit.Asks(plan.Needs()...) {
		line := q.Tool + " " + q.Subject
		if q.Dir != "" {
			line += " (in " + q.Dir + ")"
		}
		v.Shown = append(v.Shown, render.Visible(line))
		v.Needs = append(v.Needs, session.Subject{Tool: q.Tool, Subject: q.Subject, Dir: q.Dir})
	}
	return v
}

// file gives a file that the command or its arguments name, as the profile may read
// it.
func (e *expander) file(ctx context.Context, f command.File) ([]message.Part, error) {
	full := f.Path
	if !filepath.IsAbs(full) {
		full = filepath.Join(e.workspace, full)
	}
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fs.ErrNotExist
	}
	env := e.app.env(e.spec)
	if f.Inline {
		env.Settings = maps.Clone(env.Settings)
		if env.Settings == nil {
			env.Settings = map[string]json.RawMessage{}
		}
		env.Settings["read"] = json.RawMessage(`{"line-numbers":false,"limit":100000,"max-line-length":100000}`)
	}
	read, err := builtin(env, "read")
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(map[string]string{"path": f.Path})
	if err != nil {
		return nil, err
	}
	plan, err := read.Prepare(ctx, tool.Call{ID: "command:" + e.c.Name, Input: input, Permit: e.permit})
	if err != nil {
		return nil, errorAt(e.c, e.c.At, err, "@%s: %v", f.Path, err)
	}
	defer plan.Close()
	needs := plan.Needs()
	outside := slices.ContainsFunc(needs, func(q permission.Query) bool { return q.Tool == permission.ExternalDirectory })
	d := e.verdict(needs)
	if d.Effect != permission.Ask || !f.Asked || !e.call.Typed || outside {
		if err := e.decided(ctx, d, plan, "read", input, e.c.At, "@"+f.Path); err != nil {
			return nil, err
		}
	}
	r, err := plan.Run(ctx, func(string) {})
	if err != nil {
		return nil, errorAt(e.c, e.c.At, err, "@%s: %v", f.Path, err)
	}
	if f.Inline {
		return r.Parts, nil
	}
	return tidy(r.Parts), nil
}

// tidy takes white space from the end of a text.
func tidy(parts []message.Part) []message.Part {
	if len(parts) == 1 {
		if t, ok := parts[0].(message.Text); ok {
			return []message.Part{message.Text{Text: strings.TrimRight(t.Text, "\n")}}
		}
	}
	return parts
}

// verdict is that of the rules as if somebody were there: what a person has named
// himself he need not be asked for.
func (e *expander) verdict(needs []permission.Query) permission.Decision {
	if !e.call.Typed || e.call.Approve != nil {
		return e.permit.Decide(needs...)
	}
	attended, err := e.spec.Permit(false)
	if err != nil {
		return permission.Decision{Effect: permission.Deny, Reason: err.Error()}
	}
	return attended.Decide(needs...)
}
