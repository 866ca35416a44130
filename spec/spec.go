// Package spec holds a fully resolved profile: plain values that the engine
// runs by, and beside them where each value came from.
package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/source"
)

// Spec is a resolved profile. It is immutable and shared by all runs of it.
type Spec struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Revision    string `json:"revision"` // of the profile
	// ProfileID names the profile across renames, and ConfigID the configuration by
	// which the loops of a session are numbered.
	ProfileID string `json:"profile_id"`
	ConfigID  string `json:"config_id"`
	Mode      string `json:"mode"` // all, primary or subagent

	Model Model `json:"model"`
	// Fallbacks are asked in this order when the model's provider is overloaded
	// or down.
	Fallbacks []Model `json:"fallbacks,omitempty"`
	Params    Params  `json:"params"`

	// Prompt holds the layers of the system prompt in order: persona, profile,
	// index, memory, environment. Empty layers are left out.
	Prompt []Layer `json:"prompt"`

	// Tools are the names of the tools that the profile asks for. All says
	// that it names none, and gets all that its rules allow.
	Tools    []string `json:"tools"`
	AllTools bool     `json:"all_tools,omitempty"`
	// ToolSettings holds the settings of each tool, as JSON objects.
	ToolSettings map[string]json.RawMessage `json:"tool_settings,omitempty"`

	// Rules are the built-in rules, then those of parents, profile and
	// overrides; Host caps them.
	Rules             []permission.Rule `json:"rules"`
	HostRules         []permission.Rule `json:"host_rules,omitempty"`
	HostNow           []permission.Rule `json:"-"` // of a spec that stands in a log: the host's rules of this moment
	DefaultPermission permission.Effect `json:"default_permission"`
	PermissionMode    permission.Mode   `json:"permission_mode,omitempty"`

	Limits        Limits        `json:"limits"`
	Retry         Retry         `json:"retry"`
	ToolExecution ToolExecution `json:"tool_execution"`
	ToolTimeout   time.Duration `json:"tool_timeout,omitempty"` // of one call; 0: the engine's
	Cache         string        `json:"cache"`                  // auto, manual or off
	// CacheBreakpoints are the places that manual marks: system, tools, messages.
	CacheBreakpoints []string `json:"cache_breakpoints,omitempty"`
	// Steering and FollowUp say how many of the messages that wait are delivered
	// at once: OneAtATime or QueueAll.
	Steering string `json:"steering,omitempty"`
	FollowUp string `json:"follow_up,omitempty"`
	// RotateAfter is how long a session may rest before a prompt for it begins it
	// anew; 0: for ever.
	RotateAfter time.Duration `json:"rotate_after,omitempty"`
	Context     Context       `json:"context,omitzero"`
	Habits      Habits        `json:"habits,omitzero"`

	// Hooks are asked on the way, in this order: the profile's, then the host's.
	Hooks []hook.Entry `json:"hooks,omitempty"`

	// Services are called by their OpenAPI documents, in the order of their names.
	Services []service.Entry `json:"services,omitempty"`

	// Subagents bounds what it may give to other agents.
	Subagents Subagents `json:"subagents,omitzero"`
	// Targets are those that it may give tasks to, by name.
	Targets []Target `json:"targets,omitempty"`
	// Switches are those that it may hand its session over to, by name.
	Switches []Target `json:"switches,omitempty"`
	// Above are those that it works for and whose denials it has, the nearest
	// last.
	Above []Denier `json:"above,omitempty"`

	// Servers are the MCP servers that it has the tools of, by name.
	Servers []Server `json:"servers,omitempty"`
	// Skills are those that it may use, by name.
	Skills []Skill `json:"skills,omitempty"`
	// SkillsBudget is how many tokens the list of them in the prompt may have.
	SkillsBudget int `json:"-"`

	// Sandbox is where commands run.
	Sandbox Sandbox `json:"sandbox,omitzero"`

	// Workspace is the absolute directory that tools work in.
	Workspace string `json:"workspace"`
	// Worktree is the tree that Workspace is in; nil: the workspace itself.
	Worktree *Worktree `json:"worktree,omitempty"`

	// Files are those that the prompt was looked for in, relative to the
	// workspace's root: when one changes, the spec may.
	Files []string `json:"-"`
	// Trusted says that the workspace was trusted when this was resolved, so that
	// what its files allow counts.
	Trusted bool `json:"trusted,omitempty"`

	// Coded says that a program defines the profile: with the spec alone, not all of it
	// is there. Code is the rest; nil in a spec that was read from a log.
	Coded bool           `json:"coded,omitempty"`
	Code  *profile.Coded `json:"-"`

	// Withheld says what keeps the spec from being run: what it needs and has no
	// effect, because nobody has trusted the workspace.
	Withheld []error `json:"-"`

	// Origins says for each native key who set it and whom it overrode.
	Origins map[string]Trace `json:"-"`
}

// Model is a resolved model reference.
type Model struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
	// ContextWindow and MaxOutput are in tokens; 0: not known.
	ContextWindow int   `json:"context_window"`
	MaxOutput     int   `json:"max_output"`
	Price         Price `json:"price"`
	// NoSampling says that the model refuses temperature and top-p.
	NoSampling bool `json:"no_sampling,omitempty"`
	// Thinking are the levels of thinking that it has; nil: nobody knows.
	Thinking []string `json:"thinking,omitzero"`
	// ThinksAlone says that it refuses temperature and top-p while it thinks.
	ThinksAlone bool `json:"thinks_alone,omitempty"`
}

// String gives provider/model-id; empty where there is no model.
func (m Model) String() string {
	if m.ID == "" {
		return ""
	}
	return m.Provider + "/" + m.ID
}

// Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Params are the sampling parameters; nil and 0 leave the provider's default.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Thinking    string   `json:"thinking,omitempty"` // as asked for; Model.Level says what comes of it
}

// Layer is one layer of the system prompt.
type Layer struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// The names of the layers, in their order.
const (
	Persona     = "persona"
	Profile     = "profile"
	Index       = "index"
	Memory      = "memory"
	Environment = "environment"
)

// separator stands between persona and profile.
const separator = "\n\n---\n\n"

// System is the system prompt as the blocks of a request, in order. Persona and
// profile are one block.
func (s *Spec) System() []string {
	blocks := make([]string, 0, len(s.Prompt))
	persona := false
	for _, l := range s.Prompt {
		if persona && l.Name == Profile {
			blocks[len(blocks)-1] += separator + l.Text
		} else {
			blocks = append(blocks, l.Text)
		}
		persona = l.Name == Persona
	}
	return blocks
}

// Limits end a loop. 0 means no limit. Duration counts active time only.
type Limits struct {
	Turns    int           `json:"turns"`
	Tokens   int64         `json:"tokens"`
	Duration time.Duration `json:"duration_ns"`
	Cost     float64       `json:"cost"` // US dollars
	// FinalAnswer has the model sum up in one more call, without tools, when a
	// limit ends the loop.
	FinalAnswer bool `json:"final_answer,omitempty"`
	// Set says where each limit was set ("turns" → file:line), for messages.
	Set map[string]string `json:"set,omitempty"`
}

// Retry is the policy for model calls that fail: Max further tries, the first
// after Base, each then Factor times later, at most Cap, with jitter.
type Retry struct {
	Max    int           `json:"max"`
	Base   time.Duration `json:"base_ns"`
	Factor float64       `json:"factor"`
	Cap    time.Duration `json:"cap_ns"`
}

// ToolExecution says how the calls of one turn run: parallel, sequential or
// batched by Size.
type ToolExecution struct {
	Strategy string `json:"strategy"`
	Size     int    `json:"size,omitempty"`
}

// How many waiting messages a turn takes.
const (
	OneAtATime = "one-at-a-time"
	QueueAll   = "all"
)

// Subagents bounds what an agent may give to others.
type Subagents struct {
	// MaxDepth is how many levels of agents may work below this one.
	MaxDepth int `json:"max_depth"`
	// MaxParallel is how many of them work at a time; 0: no bound.
	MaxParallel int `json:"max_parallel,omitempty"`
	// Tools is what they may be offered at most; nil: what is theirs.
	Tools  []string `json:"tools"`
	Prompt string   `json:"prompt,omitempty"` // added to theirs
	// InheritDenies lets what is denied here be denied to them.
	InheritDenies bool `json:"inherit_denies,omitempty"`
	// Planning is theirs.
	Planning Planning `json:"planning,omitzero"`
}

// Target is a profile that an agent may give tasks, or its session, to.
type Target struct {
	Name    string `json:"name"`
	Summary string `json:"summary,omitempty"`
}

// Denier is an agent whose denials hold for those that work for it.
type Denier struct {
	Name    string            `json:"name"`
	Rules   []permission.Rule `json:"rules"`
	Default permission.Effect `json:"default"`
}

// Trace says who set a field, and whom it overrode, the nearest last.
type Trace struct {
	Origin   source.Origin   `json:"origin"`
	Overrode []source.Origin `json:"overrides,omitempty"`
	// Written is the value with its variables not filled in, if it has some:
	// what they hold is not shown.
	Written string `json:"written,omitempty"`
}

// Permit compiles what the profile may do. headless says that nobody can answer
// an ask.
func (s *Spec) Permit(headless bool) (*permission.Engine, error) {
	e, err := permission.Compile(permission.Layers{
		Host: s.HostRules, HostNow: s.HostNow, Rules: s.Rules, Default: s.DefaultPermission, Mode: s.PermissionMode,
		Headless: headless, Profile: s.Name, Workspace: s.Workspace,
	})
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", s.Name, err)
	}
	above := make([]*permission.Engine, len(s.Above))
	for i, o := range s.Above {
		above[i], err = permission.Compile(permission.Layers{Rules: o.Rules, Default: o.Default, Profile: o.Name, Workspace: s.Workspace})
		if err != nil {
			return nil, fmt.Errorf("profile %s, which delegates to %s: %w", o.Name, s.Name, err)
		}
	}
	return e.Under(above...), nil
}

// Encode returns the canonical JSON of the spec, without origins, as it is kept
// in the log, and its digest.
func (s *Spec) Encode() (data []byte, digest string, err error) {
	data, err = json.Marshal(s)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:]), nil
}
