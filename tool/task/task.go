// Package task holds the tools by which an agent gives work to another one, and
// by which it hands its whole conversation over.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

// Name is the tool's name. Rules whose tool pattern is this say who may be
// called.
const Name = "task"

// Target is a profile that may be called.
type Target struct {
	Name    string
	Summary string // one line; may be empty
}

// Bounds of the list in the description, in profiles and in bytes of a summary.
const (
	maxListed  = 200
	maxSummary = 300
)

// New makes the tool. targets are sorted by name. refuse says why a profile that
// is none of them cannot be called, in a sentence for the model.
func New(targets []Target, refuse func(name string) string) tool.Tool {
	return &taskTool{
		def:     described(Name, targets),
		targets: targets, refuse: refuse,
	}
}

// described is what a model is told of a tool, with a list of its targets.
func described(name string, targets []Target) *model.ToolDef {
	def := *tool.Define(name, nil)
	var b strings.Builder
	b.WriteString(def.Description)
	for i, t := range targets {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more, which are not listed here.", len(targets)-i)
			break
		}
		b.WriteString("\n- " + t.Name)
		if s := oneLine(t.Summary); s != "" {
			b.WriteString(": " + s)
		}
	}
	def.Description = b.String()
	return &def
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxSummary {
		s = strings.ToValidUTF8(s[:maxSummary], "") + "…"
	}
	return s
}

type taskTool struct {
	def     *model.ToolDef
	targets []Target
	refuse  func(name string) string
}

func (t *taskTool) Def() *model.ToolDef { return t.def }

// Delegates marks the tool for the engine.
func (t *taskTool) Delegates() {}

// Recovery implements tool.Recoverer: the child goes on where it stood.
func (t *taskTool) Recovery(tool.Call) tool.Recovery { return tool.Resume }

func (t *taskTool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	var in struct{ Description, Prompt, Profile string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	if c.Delegator == nil {
		return nil, errors.New("no agent can be given a task here")
	}
	if !among(t.targets, in.Profile) {
		return nil, errors.New(t.refuse(in.Profile) + " You can give a task to: " + names(t.targets) + ".")
	}
	return &plan{c.Delegator, tool.Task{Profile: in.Profile, Description: in.Description, Prompt: in.Prompt}}, nil
}

// maxNamed bounds how many targets an error names.
const maxNamed = 20

func names(targets []Target) string {
	list := make([]string, 0, maxNamed)
	for _, o := range targets[:min(len(targets), maxNamed)] {
		list = append(list, o.Name)
	}
	more := ""
	if len(targets) > maxNamed {
		more = fmt.Sprintf(" and %d more", len(targets)-maxNamed)
	}
	return strings.Join(list, ", ") + more
}

func among(targets []Target, name string) bool {
	return slices.ContainsFunc(targets, func(o Target) bool { return o.Name == name })
}

type plan struct {
	to   tool.Delegator
	task tool.Task
}

func (p *plan) Needs() []permission.Query {
	return []permission.Query{{Tool: Name, Subject: p.task.Profile}}
}

func (p *plan) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	return p.to.Delegate(ctx, p.task)
}

func (p *plan) Close() error { return nil }
