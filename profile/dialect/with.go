package dialect

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// With gives a copy of a profile with keys set from a JSON object: the native
// keys, in any spelling, and body. A key that is null is taken out; those that
// the object does not have stay. A key that nobody knows is an error. file names
// the object in diagnostics. The dialect is the profile's; its own keys are not
// accepted.
//
// The prompt is written where the profile has it: under system-prompt, or in the
// body of a profile that has no such key.
func With(p *profile.Profile, file string, object []byte) (*profile.Profile, []profile.Diagnostic) {
	t := parseTree(file, "body.json", object)
	if t.root == nil {
		return nil, t.diags
	}
	c := *p
	c.Permission, c.ToolSettings = slices.Clone(p.Permission), slices.Clone(p.ToolSettings)
	c.Extra = slices.Clone(p.Extra)
	doc := &document{front: profile.Frontmatter{YAML: object, YAMLLine: 1}}
	w := &with{g: grammarOf(p.Dialect), inBody: !p.SystemPrompt.Set && strings.TrimSpace(p.Body) != ""}
	w.decoder = &decoder{file: file, doc: doc, p: &c}
	if t.root.Kind != yaml.MappingNode {
		w.wrongType(field{written: "the body"}, t.root, "a map of keys")
		return nil, w.ds
	}
	for i := 0; i+1 < len(t.root.Content); i += 2 {
		k := deref(t.root.Content[i])
		plain(t.root.Content[i+1])
		doc.fields = append(doc.fields, field{key: kebab(k.Value), written: k.Value, at: w.at(k), node: t.root.Content[i+1]})
	}
	w.topLevelUnique()
	for i, f := range doc.fields {
		w.set(i, f)
	}
	return &c, w.strict()
}

type with struct {
	*decoder
	g      grammar // of the profile's file
	inBody bool    // the prompt is the body
}

// native is the grammar of the keys that are set: their own names and spellings,
// and what rules and lists mean in the profile's dialect.
func (w *with) native() grammar {
	return grammar{dialect: w.g.dialect, twins: w.g.twins, grants: w.g.grants}
}

// grammarOf gives the grammar of a dialect.
func grammarOf(dialect string) grammar {
	switch dialect {
	case "claude":
		return claudeGrammar()
	case "copilot":
		return copilotGrammar()
	case "gemini":
		return geminiGrammar()
	case "opencode":
		return opencodeGrammar()
	}
	return grammar{dialect: dialect, grants: dialect == "knot"}
}

// plain lets the encoder choose how to write what was JSON.
func plain(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		n.Style = str(n.Value).Style
	}
	for _, c := range n.Content {
		plain(c)
	}
}

func (w *with) set(i int, f field) {
	d := w.decoder
	switch f.key {
	case "name":
		if v := d.text(f); v.V != d.p.Name {
			d.report(profile.CodeNotAllowed, f.at, f.written, fmt.Sprintf("name is %q, and the profile's is %q", shorten(v.V), d.p.Name), "leave it out")
		}
		return
	case "body":
		d.p.Body = d.text(f).V
		return
	case "system-prompt":
		if w.inBody && !d.doc.has("body") && !isNull(f.node) {
			d.p.Body = d.text(f).V
			return
		}
	case "tools", "+tools":
		w.withoutTools()
	}
	w.clear(f.key)
	if isNull(f.node) {
		return
	}
	if !d.identity(f) && !d.running(f) && !d.acting(w.native(), f) && !d.nested(f) {
		d.keep(w.native(), i, f)
	}
	if f.key == "tools" && d.p.Dialect == "directory" {
		d.p.Tools.V, d.toolRules = listTools(d.p.Tools.V.Names)
	}
	d.p.Permission, d.toolRules = slices.Concat(d.toolRules, d.p.Permission), nil
	if f.key == "tools" && w.g.dialect != "roster" && w.g.dialect != "knot" {
		d.p.Tools.V.Written = nil // the dialect has names of its own
	}
}

// withoutTools takes out the tool list and the rules that it stands for.
func (w *with) withoutTools() {
	if w.p.Dialect == "directory" {
		f := folderWriter{encoder: newEncoder(w.p, w.g)}
		_, rules, _ := f.listing()
		w.p.Permission = w.p.Permission[len(rules):]
		return
	}
	e := newEncoder(w.p, w.g)
	e.tools()
	w.p.Permission = w.p.Permission[e.listRules:]
}

// clear takes a native key out of the profile.
func (w *with) clear(key string) {
	p := w.p
	switch key {
	case "title":
		p.Title = profile.Value[string]{}
	case "description":
		p.Description = profile.Value[string]{}
	case "summary":
		p.Summary = profile.Value[string]{}
	case "details":
		p.Details = profile.Value[profile.Details]{}
	case "mode":
		p.Mode = profile.Value[string]{}
	case "hidden":
		p.Hidden = profile.Value[bool]{}
	case "permission":
		e := newEncoder(p, w.g)
		e.tools()
		p.Permission = p.Permission[:e.listRules:e.listRules]
	default:
		w.clearRunning(key)
	}
	p.Extra = slices.DeleteFunc(p.Extra, func(x profile.Extra) bool {
		return kebab(x.Key) == key || strings.HasPrefix(x.Key, key+".")
	})
}

func (w *with) clearRunning(key string) {
	p := w.p
	switch key {
	case "provider":
		p.Provider = profile.Value[string]{}
	case "model":
		p.Model = profile.Value[string]{}
	case "temperature":
		p.Temperature = profile.Value[float64]{}
	case "top-p":
		p.TopP = profile.Value[float64]{}
	case "max-tokens":
		p.MaxTokens = profile.Value[int]{}
	case "thinking":
		p.Thinking = profile.Value[string]{}
	case "system-prompt":
		p.SystemPrompt = profile.Value[string]{}
	case "subagent-prompt":
		p.SubagentPrompt = profile.Value[string]{}
	case "cache":
		p.Cache = profile.Value[string]{}
	case "workspace":
		p.Workspace = profile.Value[string]{}
	case "steering":
		p.Steering = profile.Value[string]{}
	case "follow-up":
		p.FollowUp = profile.Value[string]{}
	case "tools", "+tools":
		p.Tools = profile.Value[profile.Tools]{}
	case "tool-settings":
		p.ToolSettings = nil
	case "default-permission":
		p.DefaultPermission.Set = false
	case "permission-mode":
		p.PermissionMode = profile.Value[string]{}
	default:
		w.clearNested(key)
	}
}

func (w *with) clearNested(key string) {
	p := w.p
	switch key {
	case "extends":
		p.Extends, p.ExtendsAt = profile.Value[[]string]{}, nil
	case "limits":
		p.Limits = profile.Limits{}
	case "retry":
		p.Retry = profile.Retry{}
	case "tool-execution":
		p.ToolExecution = profile.Value[profile.ToolExecution]{}
	case "subagents":
		p.SubagentTools, p.SubagentToolsAdd, p.SubagentMaxDepth = profile.Value[[]string]{}, false, profile.Value[int]{}
	}
}

// strict makes errors of the keys that nobody knows: in a file they may be
// another tool's, in a request they are a mistake.
func (w *with) strict() []profile.Diagnostic {
	for i, d := range w.ds {
		if d.Code == profile.CodeUnknownKey {
			at := source.Origin{File: d.File, Line: d.Line, Column: d.Column}
			w.ds[i] = profile.Diagnose(profile.CodeNotAllowed, at, d.Key, d.Key+" is not a key of profiles", d.Hint)
		}
	}
	return w.ds
}
