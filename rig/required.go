package rig

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
)

// required reports what a knot needs and does not have.
func (r *reader) required() {
	k := r.k
	alone := k.Agent.Ref == "" && k.Agent.Config != nil
	var wrong *resolve.AgentError
	if errors.As(k.Agent.Check(), &wrong) {
		code := profile.CodeKnotAgents
		if wrong.Kind == profile.MissingAgentConfigOrProfileRef {
			code = profile.CodeKnotNoAgent
		}
		r.Report(code, wrong.At, "agent-profile-ref", wrong.Message, wrong.Hint)
	}
	if alone {
		r.alone(k.Agent.Config)
	}
	if k.Task() == "" {
		r.Report(profile.CodeNoKnotPrompt, r.Top(), "prompt-template", "the knot has no instructions", "write them below the frontmatter, or as prompt-template.instructions")
	}
	if strings.TrimSpace(r.Text("strand-dir").V) == "" && r.At("schedule").Line == 0 {
		at := r.At("strand-dir")
		if at.Line == 0 {
			at = r.Top()
		}
		r.Report(profile.CodeNoStrandDir, at, "strand-dir", "the knot has no strand-dir and no schedule", "write strand-dir: FOLDER, relative to the workspace, or strand-dir: event:PRODUCER:ID")
	}
}

// alone reports what an agent-config lacks that no profile stands behind. A key that is
// blank is reported where it is read.
func (r *reader) alone(p *profile.Profile) {
	at := r.At("agent-config")
	if r.Blank("agent-config.goal") {
		r.Report(profile.CodeEmptyGoal, r.At("agent-config.goal"), "agent-config.goal", "the goal is blank", "write it, or leave it out: it is the instructions then")
	}
	if r.At("agent-config.provider").Line == 0 && !strings.Contains(p.Model.V, "/") {
		r.Report(profile.CodeEmptyProvider, at, "agent-config.provider", "the agent has no provider", "write provider: openai, or another, or model: PROVIDER/MODEL")
	}
	if r.At("agent-config.model").Line == 0 {
		r.Report(profile.CodeEmptyModel, at, "agent-config.model", "the agent has no model", "write model: …")
	}
}

// idle warns of keys that have no effect in a knot as it is.
func (r *reader) idle() {
	say := func(key, why string) {
		if at := r.At(key); at.Line > 0 {
			r.Report(profile.CodeKnotIdle, at, key, key+" has no effect "+why, "take it out")
		}
	}
	in := r.k.Input
	if in.V.ID == "" && in.Set || !in.Set && r.k.Schedule.Set {
		say("event-description", "in a knot that waits for no event")
	}
	if in.V.ID != "" || !in.Set && r.k.Schedule.Set {
		for _, key := range []string{"on", "ignore", "debounce"} {
			say(key, "in a knot that watches no folder")
		}
	}
	if r.At("schedule").Line+r.At("quiet-hours").Line+r.At("budget.cost-per-day").Line == 0 {
		say("time-zone", "without schedule, quiet-hours and budget.cost-per-day")
	}
}

// order is that of the errors of a knot.
var order = [...]profile.ErrorName{
	profile.InvalidFormat, profile.MissingName,
	profile.BothProfileAndConfig, profile.MissingAgentConfigOrProfileRef,
	profile.EmptyGoal, profile.EmptyProvider, profile.EmptyModel,
	profile.MissingPromptTemplate, profile.MissingStrandDir,
}

// badForm names the errors of a file that cannot be read.
func badForm(ds []profile.Diagnostic) []profile.Diagnostic {
	for i := range ds {
		if ds[i].Severity == profile.SeverityError {
			ds[i].Name = string(profile.InvalidFormat)
		}
	}
	return ds
}

// inOrder sorts the diagnostics: named errors in their order, other errors, and the
// rest, each by line. Keys that stand twice have the name of what cannot be read.
func inOrder(ds []profile.Diagnostic) []profile.Diagnostic {
	rank := func(d *profile.Diagnostic) int {
		if d.Severity != profile.SeverityError {
			return len(order) + 1
		}
		if i := slices.Index(order[:], profile.ErrorName(d.Name)); i >= 0 {
			return i
		}
		return len(order)
	}
	for i := range ds {
		if ds[i].Name == string(profile.InvalidYAML) {
			ds[i].Name = string(profile.InvalidFormat)
		}
	}
	slices.SortStableFunc(ds, func(a, b profile.Diagnostic) int {
		return cmp.Or(rank(&a)-rank(&b), a.Line-b.Line, a.Column-b.Column)
	})
	return ds
}
