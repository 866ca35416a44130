package profile

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Flatten gives the profile with everything that it inherits, for views of it.
// Its body is that of the profile whose prompt counts. A profile without
// parents is given as it is.
func (p *Profile) Flatten() *Profile {
	if len(p.Parents) == 0 {
		return p
	}
	layers := p.Layers()
	out := *layers[0]
	for _, next := range layers[1:] {
		out.take(next)
	}
	out.Name, out.NameAt, out.Dialect, out.File = p.Name, p.NameAt, p.Dialect, p.File
	out.revision = &revision{of: &out, from: p}
	out.Persona = p.Persona
	out.Extends, out.ExtendsAt, out.Parents = p.Extends, p.ExtendsAt, p.Parents
	speaker := p.Speaker()
	out.Body, out.BodyAt = speaker.Body, speaker.BodyAt
	return &out
}

func over[T any](v *Value[T], stronger Value[T]) {
	if stronger.Set {
		*v = stronger
	}
}

// take lays a stronger profile over this one. What both share is not written.
func (p *Profile) take(s *Profile) {
	over(&p.Title, s.Title)
	over(&p.Description, s.Description)
	over(&p.Summary, s.Summary)
	p.Details = mergeDetails(p.Details, s.Details)
	over(&p.Mode, s.Mode)
	over(&p.Hidden, s.Hidden)
	if s.Model.Set && strings.Contains(s.Model.V, "/") {
		p.Provider = Value[string]{} // the reference names its own
	}
	over(&p.Provider, s.Provider)
	over(&p.Model, s.Model)
	over(&p.Temperature, s.Temperature)
	over(&p.TopP, s.TopP)
	over(&p.MaxTokens, s.MaxTokens)
	over(&p.Thinking, s.Thinking)
	over(&p.SystemPrompt, s.SystemPrompt)
	over(&p.SubagentPrompt, s.SubagentPrompt)
	if tools := s.Tools; tools.Set {
		tools.V = tools.V.Over(p.listed())
		p.Tools = tools
	}
	p.ToolSettings = mergeSettings(p.ToolSettings, s.ToolSettings)
	p.Permission = slices.Concat(p.Permission, s.Permission)
	over(&p.DefaultPermission, s.DefaultPermission)
	over(&p.PermissionMode, s.PermissionMode)
	p.takeRunning(s)
	if tools := s.SubagentTools; tools.Set {
		if s.SubagentToolsAdd {
			tools.V = addNew(p.SubagentTools.V, tools.V)
		}
		p.SubagentTools, p.SubagentToolsAdd = tools, false
	}
	over(&p.SubagentMaxDepth, s.SubagentMaxDepth)
	p.Extra = mergeExtra(p.Extra, s.Extra)
}

// listed gives the tools: without a list, all.
func (p *Profile) listed() Tools {
	if !p.Tools.Set {
		return Tools{All: true}
	}
	return p.Tools.V
}

func (p *Profile) takeRunning(s *Profile) {
	over(&p.Limits.Turns, s.Limits.Turns)
	over(&p.Limits.Tokens, s.Limits.Tokens)
	over(&p.Limits.Duration, s.Limits.Duration)
	over(&p.Limits.Cost, s.Limits.Cost)
	over(&p.Retry.Max, s.Retry.Max)
	over(&p.Retry.Base, s.Retry.Base)
	over(&p.Retry.Factor, s.Retry.Factor)
	over(&p.Retry.Cap, s.Retry.Cap)
	over(&p.ToolExecution, s.ToolExecution)
	over(&p.Cache, s.Cache)
	over(&p.Steering, s.Steering)
	over(&p.FollowUp, s.FollowUp)
	over(&p.Workspace, s.Workspace)
}

func mergeDetails(weak, strong Value[Details]) Value[Details] {
	if !strong.Set || !weak.Set {
		over(&weak, strong)
		return weak
	}
	d := strong.V
	if d.Specialization == "" {
		d.Specialization = weak.V.Specialization
	}
	if d.WhenToUse == "" {
		d.WhenToUse = weak.V.WhenToUse
	}
	switch {
	case d.KeyTools == nil:
		d.KeyTools = weak.V.KeyTools
	case d.AddKeyTools:
		d.KeyTools = addNew(weak.V.KeyTools, d.KeyTools)
	}
	d.AddKeyTools = false
	strong.V = d
	return strong
}

// mergeSettings merges the settings of each tool key by key.
func mergeSettings(weak, strong []Setting) []Setting {
	out := slices.Clone(weak)
	for _, s := range strong {
		i := slices.IndexFunc(out, func(w Setting) bool { return w.Tool == s.Tool })
		if i < 0 {
			out = append(out, s)
			continue
		}
		var object, more map[string]json.RawMessage
		if json.Unmarshal(out[i].JSON, &object) == nil && json.Unmarshal(s.JSON, &more) == nil && object != nil {
			maps.Copy(object, more)
			if data, err := json.Marshal(object); err == nil {
				s.JSON = data
			}
		}
		out[i] = s
	}
	return out
}

// mergeExtra lays keys that are kept as written over others: maps merge, a list
// under "+KEY" is added, everything else replaces.
func mergeExtra(weak, strong []Extra) []Extra {
	out := slices.Clone(weak)
	for _, s := range strong {
		key, add := strings.CutPrefix(s.Key, "+")
		i := slices.IndexFunc(out, func(w Extra) bool { return strings.TrimPrefix(w.Key, "+") == key })
		switch {
		case i < 0:
			out = append(out, s)
			continue
		case add:
			s.Key = out[i].Key
			s.YAML = combine(out[i].YAML, s.YAML, appendLists)
		case key == hooks:
			s.YAML = combine(out[i].YAML, s.YAML, joinHooks)
		default:
			s.YAML = combine(out[i].YAML, s.YAML, mergeMaps)
		}
		out[i] = s
	}
	return out
}

// combine joins two values as they are written; without a way to, the stronger
// one stays.
func combine(weak, strong []byte, join func(w, s *yaml.Node) bool) []byte {
	w, s := valueOf(weak), valueOf(strong)
	if w == nil || s == nil || !join(w, s) {
		return strong
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(w); err != nil || enc.Close() != nil {
		return strong
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	if w.Style&yaml.FlowStyle != 0 || len(w.Content) == 0 {
		return append([]byte(" "), text...)
	}
	return append([]byte("\n  "), bytes.ReplaceAll(text, []byte("\n"), []byte("\n  "))...)
}

func valueOf(text []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Load(append([]byte("key:"), text...), &doc); err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return nil
	}
	return doc.Content[0].Content[1]
}

// mergeMaps writes the keys of one map into another, and those of maps in them.
func mergeMaps(w, s *yaml.Node) bool {
	if w.Kind != yaml.MappingNode || s.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(s.Content); i += 2 {
		at := indexOf(w, s.Content[i].Value)
		if at < 0 {
			w.Content = append(w.Content, s.Content[i], s.Content[i+1])
		} else if !mergeMaps(w.Content[at+1], s.Content[i+1]) {
			w.Content[at+1] = s.Content[i+1]
		}
	}
	return true
}

func indexOf(m *yaml.Node, key string) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// appendLists adds the items that a list does not have.
func appendLists(w, s *yaml.Node) bool {
	w2, s2 := itemsOf(w), itemsOf(s)
	if w2 == nil || s2 == nil {
		return false
	}
	*w = yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range addNew(w2, s2) {
		w.Content = append(w.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
	}
	return true
}

// itemsOf gives the texts of a list, or of a text with commas.
func itemsOf(n *yaml.Node) []string {
	items := []string{}
	switch n.Kind {
	case yaml.ScalarNode:
		for item := range strings.SplitSeq(n.Value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode {
				return nil
			}
			items = append(items, c.Value)
		}
		return items
	}
	return nil
}
