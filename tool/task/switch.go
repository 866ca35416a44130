package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

// Switch is the name of the tool that makes the session another profile's. The
// subject of its rules is that profile.
const Switch = "switch_profile"

// NewSwitch makes the tool switch_profile. targets and refuse are as in New.
func NewSwitch(targets []Target, refuse func(name string) string) tool.Tool {
	return &switchTool{
		def:     described(Switch, targets),
		targets: targets, refuse: refuse,
	}
}

type switchTool struct {
	def     *model.ToolDef
	targets []Target
	refuse  func(name string) string
}

func (t *switchTool) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: nothing happens before the batch has ended.
func (t *switchTool) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

// Target implements tool.Switching.
func (t *switchTool) Target(data []byte) (profile, reason string) {
	var in struct{ Profile, Reason string }
	if json.Unmarshal(data, &in) != nil {
		return "", ""
	}
	return in.Profile, in.Reason
}

func (t *switchTool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	name, _ := t.Target(c.Input)
	if c.Switch == nil {
		return nil, errors.New("the profile cannot be switched here")
	}
	if !among(t.targets, name) {
		return nil, errors.New(t.refuse(name) + " You can switch to: " + names(t.targets) + ".")
	}
	if err := c.Switch(name); err != nil {
		return nil, err
	}
	return &switchPlan{name}, nil
}

type switchPlan struct{ to string }

func (p *switchPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: Switch, Subject: p.to}}
}

func (p *switchPlan) Run(context.Context, func(string)) (tool.Result, error) {
	return tool.Text(fmt.Sprintf("From your next answer on you are %s.", p.to)), nil
}

func (p *switchPlan) Close() error { return nil }
