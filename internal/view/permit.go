package view

import "github.com/rosterrun/roster/permission"

// Permit is a decision on a call. Parts are the simple commands and
// redirections of a shell line, or what else a call needs besides its subject.
type Permit struct {
	Effect permission.Effect `json:"effect"`
	Rule   *PermitRule       `json:"rule"` // the one that decided
	Step   permission.Step   `json:"step"` // of the evaluation that decided
	Reason string            `json:"reason"`
	// Grantable says that an answer may hold for more than one call.
	Grantable bool         `json:"grantable"`
	Parts     []PermitPart `json:"parts"`
}

// PermitRule is a rule and its place.
type PermitRule struct {
	Tool    string            `json:"tool"`
	Subject string            `json:"subject"`
	Effect  permission.Effect `json:"effect"`
	Layer   string            `json:"layer"`
	File    string            `json:"file"`
	Line    int               `json:"line"`
}

// PermitPart is one thing that a call does.
type PermitPart struct {
	Tool    string            `json:"tool"`
	Subject string            `json:"subject"`
	Effect  permission.Effect `json:"effect"`
	Rule    *PermitRule       `json:"rule"`
}

// NewPermit describes a decision.
func NewPermit(d permission.Decision) Permit {
	p := Permit{Effect: d.Effect, Rule: permitRule(d.Rule), Step: d.Step, Reason: d.Reason, Grantable: d.Grantable, Parts: []PermitPart{}}
	for _, part := range d.Parts {
		p.Parts = append(p.Parts, PermitPart{part.Tool, part.Subject, part.Effect, permitRule(part.Rule)})
	}
	return p
}

func permitRule(r *permission.Rule) *PermitRule {
	if r == nil {
		return nil
	}
	return &PermitRule{r.Tool, r.Subject, r.Effect, string(r.At.Layer), r.At.File, r.At.Line}
}
