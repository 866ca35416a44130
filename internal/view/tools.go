package view

import (
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/spec"
)

// Tools says what the model of a profile's runs is told of.
type Tools struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Tools    []Tool `json:"tools"`
	// Targets are the profiles that it may give tasks to, Switches those that it
	// may hand its session over to.
	Targets  []Target `json:"targets"`
	Switches []Target `json:"switches"`
}

// Tool is a tool that is offered, or withheld: then its effect is deny.
type Tool struct {
	Name    string `json:"name"`
	Offered bool   `json:"offered"`
	Verdict
}

// Target is a profile that another one may reach, and what becomes of that.
type Target struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Verdict
}

// Verdict is a decision without its parts.
type Verdict struct {
	Effect permission.Effect `json:"effect"`
	Rule   *PermitRule       `json:"rule"`
	Step   permission.Step   `json:"step"`
	Reason string            `json:"reason"`
}

// NewTool describes a tool of which d says whether it is offered.
func NewTool(name string, d permission.Decision) Tool {
	return Tool{name, d.Effect != permission.Deny, verdict(d)}
}

// NewTarget describes a profile of which d says what becomes of calling it.
func NewTarget(t spec.Target, d permission.Decision) Target {
	return Target{t.Name, t.Summary, verdict(d)}
}

func verdict(d permission.Decision) Verdict {
	return Verdict{d.Effect, permitRule(d.Rule), d.Step, d.Reason}
}
