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

const schema = `{
  "type": "object",
  "properties": {
    "description": {"type": "string", "description": "The task in three to five words, for people"},
    "prompt": {"type": "string", "minLength": 1, "description": "The task: all that the agent has to know, and what its answer has to say"},
    "profile": {"type": "string", "minLength": 1, "description": "Which agent"}
  },
  "required": ["prompt", "profile"],
  "additionalProperties": false
}`

const intro = "Give a task to another agent and get its answer. It begins with nothing but your prompt, has its own tools and " +
	"permissions, and cannot ask you back. Calls in one answer run at the same time. The agents are:\n"

// Bounds of the list in the description, in profiles and in bytes of a summary.
const (
	maxListed  = 200
	maxSummary = 300
)

// New makes the tool. targets are sorted by name. refuse says why a profile that
// is none of them cannot be called, in a sentence for the model.
func New(targets []Target, refuse func(name string) string) tool.Tool {
	return &taskTool{
		def:     &model.ToolDef{Name: Name, Description: described(intro, targets), Schema: []byte(schema)},
		targets: targets, refuse: refuse,
	}
}

// described lists the targets of a tool in its description.
func described(intro string, targets []Target) string {
	var b strings.Builder
	b.WriteString(intro)
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
	return b.String()
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
