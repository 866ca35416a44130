// Package profile is what a profile file says, before any default: the one
// type that every dialect decodes to, its validation, and the diagnostics of
// what could not be read. It knows no runtime.
package profile

import (
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// Value is a value as written, or not written: unset and zero differ, and
// overriding is per Value.
type Value[T any] struct {
	V   T
	Set bool
	At  source.Origin
}

// Profile is the content of a profile file.
type Profile struct {
	Name    string // catalog key
	NameAt  source.Origin
	Dialect string // roster, knot, opencode, …
	File    string // as the source names it, or "<memory>"
	Body    string // Markdown after the frontmatter; the prompt if SystemPrompt is unset
	BodyAt  source.Origin

	// Changed is when the file that a catalog read was last changed, or the latest of
	// a folder's; zero: there is no file.
	Changed time.Time

	// Extends names the parents as written. Parents are the profiles that the
	// catalog found for them and for theirs, the weakest first, each once; it
	// is set only in profiles that come from a catalog. ExtendsAt has the place
	// of each name.
	Extends   Value[[]string]
	ExtendsAt []source.Origin
	Parents   []*Profile

	// Persona is text that stands before the prompt of every profile of a
	// folder; only directory profiles have it.
	Persona Value[string]

	Title, Description, Summary Value[string]
	Details                     Value[Details]
	Mode                        Value[string] // all, primary, subagent
	Hidden                      Value[bool]

	Provider, Model   Value[string]
	Temperature, TopP Value[float64]
	MaxTokens         Value[int]
	Thinking          Value[string]
	SystemPrompt      Value[string]
	SubagentPrompt    Value[string]
	Tools             Value[Tools]
	ToolSettings      []Setting
	Permission        []permission.Rule // in written order
	DefaultPermission Value[permission.Effect]
	PermissionMode    Value[string] // default, plan, accept-edits, dont-ask or bypass
	Limits            Limits
	Retry             Retry
	ToolExecution     Value[ToolExecution]
	Cache             Value[string]
	Steering          Value[string]
	FollowUp          Value[string]
	Workspace         Value[string]
	SubagentTools     Value[[]string]
	SubagentToolsAdd  bool // `+tools`: added to what the parents list
	SubagentMaxDepth  Value[int]

	// Extra holds every key that is not acted on, with its position: those
	// that this version knows and does not use yet (Known), and those that
	// nobody knows. They survive a conversion back to the same dialect.
	Extra []Extra

	// Code is there in a profile that a program defines; nil: a file does.
	Code *Coded

	revision *revision // see Revision
}

// Coded is what a program says of a profile of its own, beyond what a file can say.
type Coded struct {
	// Own is the program's definition, for whoever runs what the profile comes to.
	Own any
	// PerRequest says that the prompt, and with it maybe the model, is made for each
	// request: the profile as it stands in the catalog has none. Built says that this
	// one was made for a request.
	PerRequest, Built bool
}

// Details tell other agents when to delegate. AddKeyTools says that the key
// tools are added to those of the parents (`+key-tools`).
type Details struct {
	Specialization string   `json:"specialization,omitempty"`
	WhenToUse      string   `json:"when_to_use,omitempty"`
	KeyTools       []string `json:"key_tools,omitempty"`
	AddKeyTools    bool     `json:"-"`
}

// Tools is a tool list. All stands for `*`. Names are our names, groups
// expanded; one may hold a `*`. Written are the items as the file lists them,
// nil when it has a map or no list. Add says that the list is added to what the parents list (`+tools`).
type Tools struct {
	Names   []string
	All     bool
	Add     bool
	Written []string
}

// Setting is the settings of one tool, as a JSON object.
type Setting struct {
	Tool string
	JSON json.RawMessage
	At   source.Origin
}

// Limits are the limits as written; an unset one gets its default.
type Limits struct {
	Turns    Value[int]
	Tokens   Value[int64]
	Duration Value[time.Duration]
	Cost     Value[float64]
}

// Retry is the retry policy as written.
type Retry struct {
	Max    Value[int]
	Base   Value[time.Duration]
	Factor Value[float64]
	Cap    Value[time.Duration]
}

// ToolExecution is the strategy as written.
type ToolExecution struct {
	Strategy string // parallel, sequential, batched
	Size     int
}

// Extra is a key that is kept and not acted on.
type Extra struct {
	Key   string
	YAML  []byte // the value as written
	Known bool
	At    source.Origin
	// Places says where entries of the value are written, by their names, if
	// they stand in files of their own.
	Places map[string]source.Origin
}
