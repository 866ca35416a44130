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
	Capability string `json:"capability"` // that it comes with; empty: there is no such tool
}

// Capability is a set of tools that come together.
type Capability struct {
	Name    string      `json:"name"` // that a profile may list for all of its tools
	Summary string      `json:"summary"`
	Tools   []CapableOf `json:"tools"`
}

// CapableOf is a tool that there is.
type CapableOf struct {
	Name    string            `json:"name"`
	Summary string            `json:"summary"`
	Effect  permission.Effect `json:"effect"` // without rules
	Named   bool              `json:"named"`  // it is offered only where a profile lists it by this name
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
func NewTool(name, capability string, d permission.Decision) Tool {
	return Tool{name, d.Effect != permission.Deny, verdict(d), capability}
}

// NewTarget describes a profile of which d says what becomes of calling it.
func NewTarget(t spec.Target, d permission.Decision) Target {
	return Target{t.Name, t.Summary, verdict(d)}
}

func verdict(d permission.Decision) Verdict {
	return Verdict{d.Effect, permitRule(d.Rule), d.Step, d.Reason}
}
