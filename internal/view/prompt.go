package view

import (
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
)

// Prompt is the head of every request of a profile's runs, as it would be sent
// now. All tokens are estimates.
type Prompt struct {
	Name     string       `json:"name"`
	Revision string       `json:"revision"`
	Model    string       `json:"model"`
	Layers   []Layer      `json:"layers"`
	Tools    []PromptTool `json:"tools"`
	// System holds the blocks of the system prompt exactly as they are sent;
	// the layers are parts of them.
	System []string `json:"system"`
	Tokens int64    `json:"tokens"`
	// Cache is auto, manual or off. Reused are the tokens that a call need not
	// pay in full which follows another one of the session.
	Cache  string `json:"cache"`
	Reused int64  `json:"reused"`
	// Diagnostics are what the prompt was made in spite of.
	Diagnostics []profile.Diagnostic `json:"diagnostics"`
}

// Layer is one layer of a system prompt.
type Layer struct {
	Name   string `json:"name"`
	Source string `json:"source"` // the file and line, or files, that it is from
	Tokens int64  `json:"tokens"`
	Text   string `json:"text"`
}

// PromptTool is a tool that the model is told of.
type PromptTool struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// NewPrompt describes the prompt of a spec: the head of its requests, and what
// capabilities have added to that. ds are what resolving it had to say.
func NewPrompt(s *spec.Spec, head *model.Prefix, added []Layer, ds []profile.Diagnostic) Prompt {
	p := Prompt{Name: s.Name, Revision: s.Revision, Model: s.Model.String(), Cache: s.Cache,
		Layers: []Layer{}, Tools: []PromptTool{}, System: append([]string{}, head.System...), Diagnostics: append([]profile.Diagnostic{}, ds...)}
	for _, l := range s.Prompt {
		p.Layers = append(p.Layers, Layer{Name: l.Name, Source: sourceOf(s, l.Name), Tokens: message.Tokens(len(l.Text)), Text: l.Text})
	}
	for _, l := range added {
		l.Tokens = message.Tokens(len(l.Text))
		p.Layers = append(p.Layers, l)
	}
	bytes := 0
	for _, block := range p.System {
		bytes += len(block)
	}
	p.Tokens = message.Tokens(bytes)
	for _, t := range head.Tools {
		n := message.Tokens(len(t.Name) + len(t.Description) + len(t.Schema))
		p.Tools = append(p.Tools, PromptTool{t.Name, n})
		p.Tokens += n
	}
	if s.Cache != string(model.CacheOff) {
		p.Reused = p.Tokens
	}
	return p
}

// sourceOf names where a layer is from.
func sourceOf(s *spec.Spec, layer string) string {
	key := layer
	if layer == spec.Profile {
		key = "system-prompt"
	}
	at := s.Origins[key].Origin
	if at.File == "" {
		return string(at.Layer)
	}
	if at.Line == 0 {
		return at.File
	}
	return at.String()
}
