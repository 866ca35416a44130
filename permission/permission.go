// Package permission decides what a tool call may do. A ruleset is an ordered
// list; the last rule that matches decides. The package knows no profile, no
// store and no tool: it is given rules and answers queries.
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
	// Untrusted marks the rules of a workspace that nobody has trusted. Their
	// allow gives no more than the last of the other rules does, and without
	// one it counts as ask.
	Untrusted bool `json:"untrusted,omitempty"`
}

// Query asks for one tool and one subject: a path, a command line, a URL or a
// name, as spec'd for each tool.
type Query struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
}

// Part is the verdict on one query, or on one simple command of a shell line.
type Part struct {
	Query
	Effect Effect `json:"effect"`
	Rule   *Rule  `json:"rule,omitempty"`
}

// Decision is the strictest of its parts. Rule is the rule that decided, nil
// when none matched; Reason is one of a fixed set of texts.
type Decision struct {
	Effect Effect
	Rule   *Rule
	Reason string
	Parts  []Part
}

// Layers is what an Engine is compiled from. Rules holds the built-in rules,
// parents, profile and overrides as one list in that order. Host holds the host
// policy, judged by its own last match: its deny denies, its ask is a floor,
// its allow adds nothing. Default answers when no rule of Rules matches.
// Headless says that nobody can answer: an ask becomes a deny that says so.
type Layers struct {
	Host, Rules []Rule
	Default     Effect
	Headless    bool
}
