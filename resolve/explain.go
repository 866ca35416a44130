package resolve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// Explanation says what a profile resolved to, and why.
type Explanation struct {
	Name     string           `json:"name"`
	Revision string           `json:"revision"`
	Fields   map[string]Field `json:"fields"` // by native key
	// Diagnostics are what it was resolved in spite of.
	Diagnostics []profile.Diagnostic `json:"diagnostics,omitempty"`
}

// Field is one value, who set it, and whom that overrode, the nearest last.
type Field struct {
	Value     any     `json:"value"`
	Origin    Place   `json:"origin"`
	Overrides []Place `json:"overrides"`
}

// Place is where a value was written. Line is 0 if it is not from a file.
type Place struct {
	Layer  source.Layer `json:"layer"`
	File   string       `json:"file"`
	Line   int          `json:"line"`
	Column int          `json:"column,omitempty"`
}

func place(o source.Origin) Place { return Place(o) }

func (p Place) String() string {
	o := source.Origin{File: p.File, Line: p.Line}
	if o.File == "" {
		return "-"
	}
	return o.String()
}

// value is one native key of a spec.
type value struct {
	key string
	get func(*spec.Spec) any
}

// values lists every native key that a spec has a value for, in the order in
// which people read them.
func values() []value {
	return []value{
		{"name", func(s *spec.Spec) any { return s.Name }},
		{"revision", func(s *spec.Spec) any { return s.Revision }},
		{"profile-id", func(s *spec.Spec) any { return s.ProfileID }},
		{"config-id", func(s *spec.Spec) any { return s.ConfigID }},
		{"title", func(s *spec.Spec) any { return s.Title }},
		{"description", func(s *spec.Spec) any { return s.Description }},
		{"mode", func(s *spec.Spec) any { return s.Mode }},
		{"provider", func(s *spec.Spec) any { return s.Model.Provider }},
		{"model", func(s *spec.Spec) any { return s.Model.String() }},
		{"fallbacks", func(s *spec.Spec) any { return modelNames(s.Fallbacks) }},
		{"context-window", func(s *spec.Spec) any { return s.Model.ContextWindow }},
		{"max-output", func(s *spec.Spec) any { return s.Model.MaxOutput }},
		{"input-price", func(s *spec.Spec) any { return s.Model.Price.Input }},
		{"output-price", func(s *spec.Spec) any { return s.Model.Price.Output }},
		{"cache-read-price", func(s *spec.Spec) any { return s.Model.Price.CacheRead }},
		{"cache-write-price", func(s *spec.Spec) any { return s.Model.Price.CacheWrite }},
		{"thinking-levels", func(s *spec.Spec) any { return s.Model.Thinking }},
		{"temperature", func(s *spec.Spec) any { return optional(s.Params.Temperature) }},
		{"top-p", func(s *spec.Spec) any { return optional(s.Params.TopP) }},
		{"max-tokens", func(s *spec.Spec) any { return optional(notZero(s.Params.MaxTokens)) }},
		{"thinking", func(s *spec.Spec) any {
			return s.Model.Level(s.Params.Thinking, s.Params.Temperature != nil || s.Params.TopP != nil)
		}},
		{spec.Persona, func(s *spec.Spec) any { return layer(s, spec.Persona) }},
		{"system-prompt", func(s *spec.Spec) any { return layer(s, spec.Profile) }},
		{spec.Environment, func(s *spec.Spec) any { return layer(s, spec.Environment) }},
		{"tools", tools},
		{"tool-settings", func(s *spec.Spec) any { return s.ToolSettings }},
		{"permission", func(s *spec.Spec) any { return rulesOf(s.Rules) }},
		{"policy.permission", func(s *spec.Spec) any { return rulesOf(s.HostRules) }},
		{"default-permission", func(s *spec.Spec) any { return s.DefaultPermission }},
		{"permission-mode", func(s *spec.Spec) any { return s.PermissionMode }},
		{"limits.turns", func(s *spec.Spec) any { return optional(notZero(s.Limits.Turns)) }},
		{"limits.tokens", func(s *spec.Spec) any { return optional(notZero(s.Limits.Tokens)) }},
		{"limits.duration", func(s *spec.Spec) any { return duration(s.Limits.Duration) }},
		{"limits.cost", func(s *spec.Spec) any { return optional(notZero(s.Limits.Cost)) }},
		{"limits.final-answer", func(s *spec.Spec) any { return s.Limits.FinalAnswer }},
		{"retry.max", func(s *spec.Spec) any { return s.Retry.Max }},
		{"retry.base", func(s *spec.Spec) any { return duration(s.Retry.Base) }},
		{"retry.factor", func(s *spec.Spec) any { return s.Retry.Factor }},
		{"retry.cap", func(s *spec.Spec) any { return duration(s.Retry.Cap) }},
		{"tool-execution", toolExecution},
		{"tool-timeout", func(s *spec.Spec) any { return duration(s.ToolTimeout) }},
		{"subagents.max-depth", func(s *spec.Spec) any { return s.Subagents.MaxDepth }},
		{"subagents.max-parallel", func(s *spec.Spec) any { return optional(notZero(s.Subagents.MaxParallel)) }},
		{"subagents.tools", subagentTools},
		{"subagents.prompt", func(s *spec.Spec) any { return s.Subagents.Prompt }},
		{"subagents.inherit-denies", func(s *spec.Spec) any { return s.Subagents.InheritDenies }},
		{"context.window", func(s *spec.Spec) any { return optional(notZero(s.Context.Window)) }},
		{"context.reserve", func(s *spec.Spec) any { return optional(s.Context.Reserve) }},
		{"context.compact-at", func(s *spec.Spec) any { return s.Context.CompactAt }},
		{"context.keep-first", func(s *spec.Spec) any { return s.Context.KeepFirst }},
		{"context.keep-recent", func(s *spec.Spec) any { return s.Context.KeepRecent }},
		{"context.strategy", func(s *spec.Spec) any { return s.Context.Strategy }},
		{"context.max-result", func(s *spec.Spec) any { return optional(notZero(s.Context.MaxResult)) }},
		{"context.summariser", summariser},
		{"context.providers", func(s *spec.Spec) any { return s.Context.Providers }},
		{"subagents.planning", func(s *spec.Spec) any { return phases(s.Subagents.Planning) }},
		{"planning", func(s *spec.Spec) any { return phases(s.Habits.Planning) }},
		{"habits.planning-reflect", func(s *spec.Spec) any { return s.Habits.PlanningReflect }},
		{"habits.iteration-budget", func(s *spec.Spec) any { return s.Habits.IterationBudget }},
		{"habits.goal-anchoring", func(s *spec.Spec) any { return optional(notZero(s.Habits.GoalAnchoring)) }},
		{"habits.anti-stall", func(s *spec.Spec) any { return optional(notZero(s.Habits.AntiStall)) }},
		{"habits.step-validation", func(s *spec.Spec) any { return s.Habits.StepValidation }},
		{"habits.adaptive-replan", func(s *spec.Spec) any { return s.Habits.AdaptiveReplan }},
		{"skills", skillNames},
		{"skills-budget", func(s *spec.Spec) any { return s.SkillsBudget }},
		{spec.Index, func(s *spec.Spec) any { return layer(s, spec.Index) }},
		{"sandbox.kind", func(s *spec.Spec) any { return cmp.Or(s.Sandbox.Kind, "default") }},
		{"sandbox.preset", func(s *spec.Spec) any { return s.Sandbox.Preset }},
		{"sandbox.read", func(s *spec.Spec) any { return s.Sandbox.Read }},
		{"sandbox.network", func(s *spec.Spec) any { return !s.Sandbox.NoNetwork }},
		{"sandbox.image", func(s *spec.Spec) any { return s.Sandbox.Image }},
		{"hooks", func(s *spec.Spec) any { return hooksIn(s) }},
		{profile.Servers, func(s *spec.Spec) any { return serversIn(s) }},
		{"openapi", func(s *spec.Spec) any { return servicesIn(s) }},
		{"cache", func(s *spec.Spec) any { return s.Cache }},
		{"cache-breakpoints", func(s *spec.Spec) any { return s.CacheBreakpoints }},
		{rotateAfter, func(s *spec.Spec) any { return duration(s.RotateAfter) }},
		{"steering", func(s *spec.Spec) any { return s.Steering }},
		{"follow-up", func(s *spec.Spec) any { return s.FollowUp }},
		{"workspace", workplace},
	}
}

// workplace is the directory that tools work in, or which kind of one they will.
func workplace(s *spec.Spec) any {
	if t := s.Worktree; t != nil && t.Dir == "" {
		return spec.InWorktree
	}
	return s.Workspace
}

func skillNames(s *spec.Spec) any {
	list := make([]string, len(s.Skills))
	for i, x := range s.Skills {
		list[i] = x.Name
	}
	return list
}

func summariser(s *spec.Spec) any {
	if s.Context.Summariser == nil {
		return ""
	}
	return s.Context.Summariser.Name
}

func modelNames(models []spec.Model) []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.String()
	}
	return names
}

func optional[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

func notZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func duration(d time.Duration) any {
	if d == 0 {
		return nil
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func layer(s *spec.Spec, name string) any {
	for _, l := range s.Prompt {
		if l.Name == name {
			return l.Text
		}
	}
	return ""
}

func tools(s *spec.Spec) any {
	if s.AllTools {
		return "*"
	}
	return s.Tools
}

func subagentTools(s *spec.Spec) any {
	if s.Subagents.Tools == nil {
		return "*"
	}
	return s.Subagents.Tools
}

// phases names the phases of planning that are on; none: there is no planning.
func phases(p spec.Planning) any {
	list := []string{}
	for _, x := range []struct {
		on   bool
		name string
	}{{p.Mandatory, "mandatory"}, {p.Analysis, "analysis"}, {p.Review, "review"}, {p.Plan, "plan"}} {
		if x.on {
			list = append(list, x.name)
		}
	}
	return list
}

func toolExecution(s *spec.Spec) any {
	if s.ToolExecution.Size == 0 {
		return s.ToolExecution.Strategy
	}
	return map[string]any{"strategy": s.ToolExecution.Strategy, "size": s.ToolExecution.Size}
}

// Rule is a permission rule with its place.
type Rule struct {
	Tool    string            `json:"tool"`
	Subject string            `json:"subject"`
	Effect  permission.Effect `json:"effect"`
	// Counts is ask for an allow of a workspace that nobody has trusted, as far
	// as it goes beyond the rules of others; else it is the effect.
	Counts permission.Effect `json:"counts"`
	Place
}

func rulesOf(rules []permission.Rule) any {
	out := make([]Rule, len(rules))
	for i, r := range rules {
		out[i] = Rule{r.Tool, r.Subject, r.Effect, r.Effect, place(r.At)}
		if r.Untrusted && permission.Beyond(r, rules) {
			out[i].Counts = permission.Ask
		}
	}
	return out
}

// Explain says where each value of a spec is from. The spec must come from
// Spec, as the diagnostics: one that was read from a log has no origins.
func Explain(s *spec.Spec, ds ...profile.Diagnostic) Explanation {
	e := Explanation{Name: s.Name, Revision: s.Revision, Diagnostics: ds, Fields: make(map[string]Field, len(s.Origins))}
	for _, v := range values() {
		e.Fields[v.key] = field(s, v.key, v.get(s))
	}
	for tool, settings := range s.ToolSettings {
		key := "tool-settings." + tool
		e.Fields[key] = field(s, key, settings)
	}
	return e
}

func field(s *spec.Spec, key string, value any) Field {
	trace := s.Origins[key]
	if trace.Written != "" {
		value = trace.Written
	}
	switch v := value.(type) { // an empty list is [] for every front
	case []string:
		value = append([]string{}, v...)
	case map[string]json.RawMessage:
		if v == nil {
			value = map[string]json.RawMessage{}
		}
	}
	f := Field{Value: value, Origin: place(trace.Origin), Overrides: []Place{}}
	for _, o := range trace.Overrode {
		f.Overrides = append(f.Overrides, place(o))
	}
	return f
}

// UnmarshalJSON reads an explanation as it is marshalled. Lists of rules, hooks and
// servers have their types again, and what WriteText prints is the same.
func (e *Explanation) UnmarshalJSON(data []byte) error {
	var j struct {
		Name     string
		Revision string
		Fields   map[string]struct {
			Value     json.RawMessage
			Origin    Place
			Overrides []Place
		}
		Diagnostics []profile.Diagnostic
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = Explanation{Name: j.Name, Revision: j.Revision, Fields: make(map[string]Field, len(j.Fields)), Diagnostics: j.Diagnostics}
	for key, f := range j.Fields {
		v, err := valueOf(key, f.Value)
		if err != nil {
			return fmt.Errorf("the value of %s: %w", key, err)
		}
		e.Fields[key] = Field{Value: v, Origin: f.Origin, Overrides: f.Overrides}
	}
	return nil
}

// valueOf reads the value of a key. What has no type of its own stays JSON.
func valueOf(key string, data json.RawMessage) (any, error) {
	switch key {
	case "permission", "policy.permission":
		return read[[]Rule](data)
	case "hooks":
		return read[[]Hook](data)
	case profile.Servers:
		return read[[]Server](data)
	case "openapi":
		return read[[]Service](data)
	case "tool-settings":
		return read[map[string]json.RawMessage](data)
	case "tool-execution":
		if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '{' {
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.UseNumber()
			v := map[string]any{}
			return v, dec.Decode(&v)
		}
	}
	switch {
	case len(data) == 0 || string(data) == "null":
		return nil, nil
	case data[0] == '"':
		return read[string](data)
	case data[0] == '[':
		if list, err := read[[]string](data); err == nil {
			return list, nil
		}
	}
	return data, nil
}

func read[T any](data []byte) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}

// WriteText prints the explanation as a table: key, value, place and layer,
// and whom the value overrode. A rule has a line of its own.
func (e Explanation) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, key := range e.keys() {
		f := e.Fields[key]
		if rules, ok := f.Value.([]Rule); ok && len(rules) > 0 {
			for _, r := range rules {
				counts := ""
				if r.Counts != r.Effect {
					counts = "  (untrusted: asks beyond the built-in rules)"
				}
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s%s\n", key, cell(fmt.Sprintf("%s %q %s", r.Tool, r.Subject, r.Effect)), r.Place, r.Layer, counts)
			}
			continue
		}
		if hooks, ok := f.Value.([]Hook); ok && len(hooks) > 0 {
			for _, h := range hooks {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", key, cell(h.String()), h.Place, h.Layer)
			}
			continue
		}
		if servers, ok := f.Value.([]Server); ok && len(servers) > 0 {
			for _, s := range servers {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", key, cell(s.String()), s.Place, s.Layer)
			}
			continue
		}
		over := ""
		if n := len(f.Overrides); n > 0 {
			over = "  (over " + f.Overrides[n-1].named() + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s%s\n", key, cell(show(f.Value)), f.Origin, f.Origin.Layer, over)
	}
	return tw.Flush()
}

func (p Place) named() string {
	if p.File == "" {
		return string(p.Layer)
	}
	return p.String()
}

// keys gives the keys in the order of values, those of tools after their group.
func (e Explanation) keys() []string {
	var keys []string
	for _, v := range values() {
		keys = append(keys, v.key)
		if v.key != "tool-settings" {
			continue
		}
		var own []string
		for key := range e.Fields {
			if strings.HasPrefix(key, "tool-settings.") {
				own = append(own, key)
			}
		}
		slices.Sort(own)
		if len(own) > 0 {
			keys = append(keys[:len(keys)-1], own...)
		}
	}
	return keys
}

func show(v any) string {
	switch v := v.(type) {
	case nil, []Rule, []Hook, []Server, map[string]json.RawMessage:
		return "none" // the last two only when empty: their items have lines of their own
	case json.RawMessage:
		return string(v)
	case string:
		return cmp.Or(v, "none")
	case []string:
		return cmp.Or(strings.Join(v, ", "), "none")
	case map[string]any:
		return fmt.Sprintf("%v, size %v", v["strategy"], v["size"])
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprintf("%v", v)
}

// cell makes one line of a value, cut to a width that a terminal can show.
func cell(text string) string {
	const width = 60
	text = strings.TrimSpace(text)
	first, rest, more := strings.Cut(text, "\n")
	first = strings.Map(func(r rune) rune {
		if r == '\t' || r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, first)
	runes := []rune(first)
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	if more && rest != "" {
		return first + " …"
	}
	return first
}
