// Package permission decides what a tool call may do. A ruleset is an ordered
// list; the last rule that matches decides. Then comes the mode of the run, and
// for what is still a question what people answered before; the host's policy
// caps it all. The package knows no profile, no store and no tool: it is given
// rules and answers queries.
package permission

import "github.com/rosterrun/roster/source"

// Effect is what a rule or a decision says. The zero value denies; a stricter
// effect is smaller.
type Effect uint8

const (
	Deny Effect = iota
	Ask
	Allow
)

// Rule says what happens to a call whose tool and subject match. In patterns
// `*` stands for any run of characters (also "/"), `?` for exactly one
// character, everything else for itself; case counts.
type Rule struct {
	Tool    string        `json:"tool"`
	Subject string        `json:"subject"`
	Effect  Effect        `json:"effect"`
	At      source.Origin `json:"at,omitzero"`
	// Untrusted marks the rules of a workspace that nobody has trusted, and those
	// of a request. Their allow gives no more than the last of the other rules
	// does, and without one it counts as ask.
	Untrusted bool `json:"untrusted,omitempty"`
}

// Query asks for one tool and one subject: a path, a command line, a URL or a
// name, as spec'd for each tool. Dir is for a command line: the directory that
// it runs in, relative to the workspace or, outside of that, absolute; empty:
// the workspace.
type Query struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
	Dir     string `json:"dir,omitempty"`
}

// Part is the verdict on one query, or on one simple command or redirection of
// a shell line: what rules, mode and host say of it, before anybody is asked.
type Part struct {
	Query
	Effect Effect `json:"effect"`
	Rule   *Rule  `json:"rule,omitempty"`
}

// Step is a step of the evaluation.
type Step string

const (
	StepNone           Step = "none" // nothing could be judged
	StepRule           Step = "rule"
	StepDefault        Step = "default"
	StepTrust          Step = "trust" // an allow of an untrusted workspace counts as ask
	StepMode           Step = "mode"
	StepLent           Step = "lent" // a rule of what is in use, over a question
	StepDenial         Step = "session denial"
	StepSessionGrant   Step = "session grant"
	StepWorkspaceGrant Step = "workspace grant"
	StepHost           Step = "host"
	StepHeadless       Step = "headless"
	StepAbove          Step = "delegating agent" // whose denials are inherited
	StepState          Step = "state directory"  // which no rule can open
)

// Decision is the strictest of its parts. Step decided it, looking at Rule,
// which is nil when none matched; Reason is one of a fixed set of texts.
// Grantable says of an Ask that an answer may hold for more than this call.
type Decision struct {
	Effect    Effect
	Rule      *Rule
	Step      Step
	Reason    string
	Grantable bool
	Parts     []Part
}

// Layers is what an Engine is compiled from. Rules holds the built-in rules,
// parents, profile and overrides as one list in that order. Host holds the host
// policy, judged by its own last match: its deny denies, its ask is a floor,
// its allow adds nothing. Default answers when no rule of Rules matches.
// Headless says that nobody can answer: an ask becomes a deny that says so.
type Layers struct {
	Host, Rules []Rule
	// HostNow is the host policy of this moment, for a run that began under
	// another: of the two the stricter verdict counts.
	HostNow  []Rule
	Default  Effect
	Mode     Mode
	Headless bool
	// Profile is whose grants count.
	Profile string
	// Workspace is the absolute directory where the paths in command lines
	// begin. Empty: a path that is written out in full is outside.
	Workspace string
}

// Grant is an answer that holds for more than one call: Allow for a session or
// a workspace, or Deny for a session. It is for exactly the subject that was
// shown. A denial counts for every profile.
type Grant struct {
	Profile string `json:"profile"`
	Query
	Effect Effect `json:"effect"`
}

// Grants are the answers that hold where a call is judged.
type Grants struct {
	Session, Workspace []Grant
	// Binding lets the session's denials hold also for what the rules allow, as
	// they do for an agent that works for another.
	Binding bool
	// Lent are further rules; nil: there are none.
	Lent *Lent
}
