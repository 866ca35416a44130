package engine

import (
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// Why a model is not told of a tool, besides what a permission.Decision says.
const (
	StepTools   permission.Step = "tools"   // of the profile
	StepNothing permission.Step = "nothing" // to use the tool on

	ReasonTools  = "the profile does not list it under tools"
	ReasonNoTool = "there is no such tool"
)

// Offer is a tool, and whether a model is told of it: unless Effect is deny.
type Offer struct {
	Name       string
	Capability string // that it is of; empty: there is no such tool
	permission.Decision
}

// Offers says of each tool, and of what the spec lists that is none, whether the
// model of a run is told of it, and why.
func Offers(s *spec.Spec, permit *permission.Engine, all []Capability) []Offer {
	var list []Offer
	there := map[string]bool{}
	for i := range all {
		c := &all[i]
		there[c.Name] = true
		for _, t := range c.Tools {
			name := t.Def().Name
			there[name] = true
			list = append(list, Offer{name, c.Name, offer(s, permit, c, t)})
		}
	}
	for _, name := range s.Tools {
		if !there[name] && !standsFor(name, list) {
			there[name] = true
			list = append(list, Offer{name, "", permission.Decision{Step: StepTools, Reason: ReasonNoTool}})
		}
	}
	return list
}

// offer judges one tool. That nothing could be done with it is said last.
func offer(s *spec.Spec, permit *permission.Engine, c *Capability, t tool.Tool) permission.Decision {
	name := t.Def().Name
	if !s.AllTools && !slices.Contains(s.Tools, name) && !slices.Contains(s.Tools, c.Name) && !listedBy(s.Tools, name) {
		return permission.Decision{Step: StepTools, Reason: ReasonTools}
	}
	d := permit.Offer(name)
	if w, ok := t.(tool.Withheld); ok && d.Effect != permission.Deny {
		return permission.Decision{Step: StepNothing, Reason: w.Withheld()}
	}
	return d
}

// listedBy says whether a name with a * in a list stands for a tool.
func listedBy(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return wild(n, tool) })
}

// standsFor says whether a name stands for some of the tools.
func standsFor(name string, tools []Offer) bool {
	return slices.ContainsFunc(tools, func(o Offer) bool { return wild(name, o.Name) })
}

func wild(name, tool string) bool {
	if !strings.Contains(name, "*") {
		return false
	}
	p, err := permission.ParsePattern(name)
	return err == nil && p.Match(tool)
}
