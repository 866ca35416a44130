// Package view holds the JSON forms in which profiles are shown, by the command
// line and over HTTP alike. They only grow.
package view

import (
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// Item is a profile in a list.
type Item struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Dialect     string   `json:"dialect"`
	Mode        string   `json:"mode"`
	Model       string   `json:"model"` // as the profile writes it, led by its provider; empty if it names none
	Tools       []string `json:"tools"` // ["*"]: all that its rules allow
	Source      Source   `json:"source"`
	Revision    string   `json:"revision"`
	Warnings    int      `json:"warnings"`
}

// Source says where a profile is from.
type Source struct {
	File string `json:"file"`
}

// Profile is all that a profile's file says. What it does not say is left out,
// except for the members without omitempty.
type Profile struct {
	Name              string                     `json:"name"`
	Title             string                     `json:"title,omitempty"`
	Description       string                     `json:"description,omitempty"`
	Summary           string                     `json:"summary,omitempty"`
	Details           *profile.Details           `json:"details,omitempty"`
	Mode              string                     `json:"mode"`
	Hidden            bool                       `json:"hidden,omitempty"`
	Extends           []string                   `json:"extends,omitempty"`
	Provider          string                     `json:"provider"`
	Model             string                     `json:"model"`
	Temperature       *float64                   `json:"temperature,omitempty"`
	TopP              *float64                   `json:"top_p,omitempty"`
	MaxTokens         int                        `json:"max_tokens,omitempty"`
	Thinking          string                     `json:"thinking,omitempty"`
	Tools             []string                   `json:"tools"`
	ToolSettings      map[string]json.RawMessage `json:"tool_settings,omitempty"`
	Permission        []permission.Rule          `json:"permission,omitempty"`
	DefaultPermission string                     `json:"default_permission,omitempty"`
	PermissionMode    string                     `json:"permission_mode,omitempty"`
	Hooks             []Hook                     `json:"hooks,omitempty"` // with those of its parents
	Limits            map[string]any             `json:"limits,omitempty"`
	Workspace         string                     `json:"workspace,omitempty"`
	// SystemPrompt is the prompt: the key's text or, without the key, the body.
	SystemPrompt   string               `json:"system_prompt"`
	SubagentPrompt string               `json:"subagent_prompt,omitempty"`
	Extra          map[string]string    `json:"extra,omitempty"` // keys that are kept and not acted on, as YAML without its secrets
	Dialect        string               `json:"dialect"`
	Source         Source               `json:"source"`
	Revision       string               `json:"revision"`
	Body           string               `json:"body"`
	Diagnostics    []profile.Diagnostic `json:"diagnostics"`
}

// Hook is a hook of a profile and where it stands. URL has no query, which may
// hold a secret.
type Hook struct {
	On      hook.Event `json:"on"`
	Command string     `json:"command,omitempty"`
	URL     string     `json:"url,omitempty"`
	Match   string     `json:"match,omitempty"`
	File    string     `json:"file"`
	Line    int        `json:"line"`
}

func hooks(p *profile.Profile) (list []Hook) {
	for _, l := range p.Layers() {
		h, err := l.Hooks()
		if h == nil || err != nil {
			continue
		}
		entries, err := trust.Everything().Hooks(l.Name, h.Key, h.Value, h.Place)
		if err != nil {
			continue // such a profile does not load
		}
		for _, e := range entries {
			v := Hook{On: e.On, Command: e.Command, Match: e.Match, File: e.At.File, Line: e.At.Line}
			if e.URL != "" {
				v.URL = e.Does()
			}
			list = append(list, v)
		}
	}
	return list
}

// Version is a version of a profile's file. Revision is that of a commit, or a
// digest of the text; Source is file, git or saves.
type Version struct {
	Revision string    `json:"revision"`
	Time     time.Time `json:"time"`
	Author   string    `json:"author,omitempty"`
	Message  string    `json:"message"`
	Source   string    `json:"source"`
	Current  bool      `json:"current"` // the file holds it
}

// Checked is what the catalog would make of a file: loaded, refused or ignored.
type Checked struct {
	Path        string               `json:"path"`
	Status      string               `json:"status"`
	Dialect     string               `json:"dialect"`
	Name        string               `json:"name"`
	Names       []string             `json:"names,omitempty"` // when it has several profiles
	Diagnostics []profile.Diagnostic `json:"diagnostics"`
}

// Report is what was found in files.
type Report struct {
	Files   []Checked `json:"files"`
	Summary Summary   `json:"summary"`
}

// Summary counts files, and warnings in all of them.
type Summary struct {
	Loaded   int `json:"loaded"`
	Refused  int `json:"refused"`
	Ignored  int `json:"ignored"`
	Warnings int `json:"warnings"`
}

// Add adds a file that is loaded or refused.
func (r *Report) Add(f Checked) {
	r.Files = append(r.Files, f)
	if f.Status == "refused" {
		r.Summary.Refused++
	} else {
		r.Summary.Loaded++
	}
	for _, d := range f.Diagnostics {
		if d.Severity == profile.SeverityWarning {
			r.Summary.Warnings++
		}
	}
}

// NewItem describes a profile for a list, with what it inherits. ds are the
// diagnostics of its file.
func NewItem(p *profile.Profile, ds []profile.Diagnostic) Item {
	p = p.Flatten()
	i := Item{
		Name: p.Name, Title: p.Title.V, Description: p.Description.V,
		Dialect: p.Dialect, Mode: mode(p), Model: Model(p), Tools: tools(p),
		Source: Source{p.File}, Revision: p.Revision(),
	}
	for _, d := range ds {
		if d.Severity == profile.SeverityWarning {
			i.Warnings++
		}
	}
	return i
}

// Item is the profile in a list.
func (p *Profile) Item() Item {
	i := Item{
		Name: p.Name, Title: p.Title, Description: p.Description, Dialect: p.Dialect, Mode: p.Mode,
		Model: reference(p.Provider, p.Model), Tools: p.Tools, Source: p.Source, Revision: p.Revision,
	}
	for _, d := range p.Diagnostics {
		if d.Severity == profile.SeverityWarning {
			i.Warnings++
		}
	}
	return i
}

// NewProfile describes a profile in full, with what it inherits.
func NewProfile(p *profile.Profile, ds []profile.Diagnostic) Profile {
	body, hooks := p.Body, hooks(p)
	p = p.Flatten()
	v := Profile{
		Name: p.Name, Title: p.Title.V, Description: p.Description.V, Summary: p.Summary.V,
		Mode: mode(p), Hidden: p.Hidden.V,
		Provider: p.Provider.V, Model: p.Model.V,
		Temperature: optional(p.Temperature), TopP: optional(p.TopP), MaxTokens: p.MaxTokens.V, Thinking: p.Thinking.V,
		Tools: tools(p), Permission: p.Permission, Hooks: hooks, Limits: limits(p), Workspace: p.Workspace.V,
		SystemPrompt: p.Body, SubagentPrompt: p.SubagentPrompt.V,
		Dialect: p.Dialect, Source: Source{p.File}, Revision: p.Revision(), Body: body,
		Extends: p.Extends.V, Diagnostics: append([]profile.Diagnostic{}, ds...),
	}
	if p.SystemPrompt.Set {
		v.SystemPrompt = p.SystemPrompt.V
	}
	if p.Details.Set {
		v.Details = &p.Details.V
	}
	if p.DefaultPermission.Set {
		v.DefaultPermission = p.DefaultPermission.V.String()
	}
	v.PermissionMode = p.PermissionMode.V
	for _, s := range p.ToolSettings {
		if v.ToolSettings == nil {
			v.ToolSettings = map[string]json.RawMessage{}
		}
		v.ToolSettings[s.Tool] = s.JSON
	}
	for _, e := range p.Extra {
		if v.Extra == nil {
			v.Extra = map[string]string{}
		}
		v.Extra[e.Key] = profile.MaskExtra(e)
	}
	return v
}

// Model is the model reference that a profile writes: provider/model-id where
// it has both.
func Model(p *profile.Profile) string {
	return reference(p.Provider.V, p.Model.V)
}

func reference(provider, model string) string {
	if provider != "" && model != "" {
		return provider + "/" + model
	}
	return model
}

func mode(p *profile.Profile) string {
	if p.Mode.V == "" {
		return "all"
	}
	return p.Mode.V
}

func tools(p *profile.Profile) []string {
	if !p.Tools.Set || p.Tools.V.All {
		return []string{"*"}
	}
	return append([]string{}, p.Tools.V.Names...)
}

func optional[T any](v profile.Value[T]) *T {
	if !v.Set {
		return nil
	}
	return &v.V
}

func limits(p *profile.Profile) map[string]any {
	m := map[string]any{}
	if v := p.Limits.Turns; v.Set {
		m["turns"] = v.V
	}
	if v := p.Limits.Tokens; v.Set {
		m["tokens"] = v.V
	}
	if v := p.Limits.Duration; v.Set {
		m["duration"] = v.V.String()
	}
	if v := p.Limits.Cost; v.Set {
		m["cost"] = v.V
	}
	return m
}
