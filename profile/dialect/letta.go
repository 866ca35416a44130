package dialect

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// letta is the dialect of agent files that Letta exports: agents with their
// whole state. It is only read: the prompt, the model and the names of the tools;
// conversations, memory blocks and the source of tools stay in the file.
func letta() Dialect {
	return Dialect{Name: "letta", Detect: detectLetta, Decode: decodeLetta}
}

func detectLetta(f *File) Certainty {
	switch {
	case strings.HasSuffix(f.Path, ".af.json"):
		return BySuffix
	case path.Ext(f.Path) != ".json" || !strings.Contains(string(f.Data), "llm_config"):
		return No
	}
	if root := f.tree().root; root != nil {
		if agents := lettaAgents(root); len(agents) > 0 {
			return ByContent
		}
	}
	return No
}

// lettaAgents gives the maps that have a prompt and a model: the items of
// agents, in older files the file itself.
func lettaAgents(root *yaml.Node) []*yaml.Node {
	candidates := []*yaml.Node{root}
	if list, ok := child(root, "agents"); ok && list.Kind == yaml.SequenceNode {
		candidates = list.Content
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(n *yaml.Node) bool {
		_, system := child(n, "system")
		_, model := child(n, "llm_config")
		return n.Kind != yaml.MappingNode || !system || !model
	})
}

func decodeLetta(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	stem := lettaStem(f)
	claim := &profile.Profile{Name: stem, NameAt: source.Origin{Layer: source.Profile, File: f.Name}, Dialect: "letta", File: f.Name}
	if len(f.Data) > profile.MaxFile {
		return []*profile.Profile{claim}, f.tree().diags
	}
	root, diag := parseJSON(f.Name, f.Data)
	if diag != nil {
		return []*profile.Profile{claim}, []profile.Diagnostic{*diag}
	}
	var ds []profile.Diagnostic
	if inner := textInText(f.Name, root); inner != nil {
		root = inner
		ds = append(ds, profile.Diagnose(profile.CodeTextInText, source.Origin{File: f.Name, Line: 1, Column: 1}, "",
			"the file is one JSON text that holds JSON; it is read, without the places of what is in it", "take it out of the text, as jq -r . does"))
	}
	if root.Kind != yaml.MappingNode {
		at := source.Origin{File: f.Name, Line: root.Line, Column: root.Column}
		return []*profile.Profile{claim}, []profile.Diagnostic{profile.Diagnose(profile.CodeNotAMap, at, "", "the file is not a map of keys", "")}
	}
	agents := lettaAgents(root)
	if len(agents) == 0 {
		return nil, append(ds, profile.Diagnose(profile.CodeNoAgents, source.Origin{File: f.Name, Line: 1, Column: 1}, "agents", "the file has no agent with system and llm_config", ""))
	}
	names := lettaTools(root)
	var out []*profile.Profile
	for _, n := range agents {
		d := &decoder{file: f.Name, doc: keyed(f.Name, n), opts: f.Options, p: &profile.Profile{Dialect: "letta", File: f.Name}}
		d.p.Name, d.p.NameAt = stem, d.at(n)
		d.p.BodyAt = d.p.NameAt
		d.lettaAgent(names)
		if slices.ContainsFunc(out, func(p *profile.Profile) bool { return p.Name == d.p.Name }) {
			d.report(profile.CodeName, d.p.NameAt, "name", fmt.Sprintf("two agents of the file have the name %q", d.p.Name), "give them different names")
		}
		d.p.Seal()
		out, ds = append(out, d.p), append(ds, d.ds...)
	}
	ds = append(ds, profile.Diagnose(profile.CodeInactiveKey, source.Origin{File: f.Name, Line: 1, Column: 1}, "agents",
		"of a Letta file the prompt, the model and the names of the tools are read; its conversations, memory and code stay where they are", ""))
	return out, ds
}

// textInText reads a file that was written as JSON twice; nil: it was not.
func textInText(file string, root *yaml.Node) *yaml.Node {
	if root.Kind != yaml.ScalarNode || !strings.HasPrefix(strings.TrimSpace(root.Value), "{") {
		return nil
	}
	inner, diag := parseJSON(file, []byte(root.Value))
	if diag != nil {
		return nil
	}
	moveTo(inner, root.Line, root.Column)
	return inner
}

func moveTo(n *yaml.Node, line, column int) {
	n.Line, n.Column = line, column
	for _, c := range n.Content {
		moveTo(c, line, column)
	}
}

func lettaStem(f *File) string {
	base := path.Base(cmp.Or(f.Path, strings.Trim(f.Name, "<>")))
	slug, err := profile.Slug(strings.TrimSuffix(strings.TrimSuffix(base, ".json"), ".af"))
	if err != nil {
		return "agent"
	}
	return cmp.Or(slug, "agent")
}

// lettaTools gives the names of the tools by their ids.
func lettaTools(root *yaml.Node) map[string]string {
	out := map[string]string{}
	tools, ok := child(root, "tools")
	if !ok || tools.Kind != yaml.SequenceNode {
		return out
	}
	for _, t := range tools.Content {
		id, _ := child(t, "id")
		if name, ok := child(t, "name"); ok && id != nil {
			out[id.Value] = name.Value
		}
	}
	return out
}

func (d *decoder) lettaAgent(tools map[string]string) {
	d.topLevelUnique()
	p := d.p
	names := []string{}
	toolsAt := p.NameAt
	for _, f := range d.doc.fields {
		switch f.written {
		case "name":
			d.lettaName(f)
		case "description":
			p.Description = d.text(f)
		case "system":
			v := d.text(f)
			p.Body, p.BodyAt = v.V, d.at(f.node)
		case "llm_config":
			d.lettaModel(f)
		case "tool_ids", "tools":
			toolsAt = f.at
			for _, n := range deref(f.node).Content {
				name := n.Value // an id
				if own, ok := child(n, "name"); ok {
					name = own.Value
				}
				names = append(names, cmp.Or(tools[name], name))
			}
		}
	}
	v := profile.Tools{Names: []string{}, Written: names}
	for _, name := range names {
		for _, ours := range lettaTool(name) {
			if !slices.Contains(v.Names, ours) {
				v.Names = append(v.Names, ours)
			}
		}
	}
	p.Tools = profile.Value[profile.Tools]{V: v, Set: true, At: toolsAt}
	if strings.TrimSpace(p.Body) == "" {
		d.report(profile.CodeNoPrompt, p.BodyAt, "system", "the agent has no prompt", "")
	}
}

// lettaTool gives our names for a tool. Its memory tools are our memory, and an
// answer needs no tool.
func lettaTool(name string) []string {
	switch name {
	case "send_message", "":
		return nil
	case "fetch_webpage":
		return []string{"webfetch"}
	case "conversation_search", "memory":
		return []string{"memory"}
	}
	for _, prefix := range []string{"memory_", "core_memory_", "archival_memory_"} {
		if strings.HasPrefix(name, prefix) {
			return []string{"memory"}
		}
	}
	names, _ := toolNames(name)
	return names
}

func (d *decoder) lettaName(f field) {
	text := strings.TrimSpace(d.text(f).V)
	slug, err := profile.Slug(text)
	if err != nil {
		d.report(profile.CodeName, d.at(f.node), f.written, fmt.Sprintf("%q is not a name", shorten(text)), "names are letters, digits, '.', '_', '-'")
		return
	}
	if slug == "" {
		return
	}
	d.p.Name, d.p.NameAt = slug, f.at
	if slug != text {
		d.p.Title = set(text, f)
		d.report(profile.CodeSlug, d.at(f.node), f.written, fmt.Sprintf("%q is not a name; the name is %q", shorten(text), slug), "")
	}
}

// lettaModel reads the handle, which is provider/model, else the two apart.
func (d *decoder) lettaModel(f field) {
	p := d.p
	keys, _ := d.entries(f)
	for _, k := range keys {
		switch strings.TrimPrefix(k.written, f.written+".") {
		case "handle":
			if v := d.text(k); strings.Contains(v.V, "/") {
				p.Model = v
			}
		case "temperature":
			p.Temperature = d.number(k, 0, 2)
		case "max_tokens":
			if n := d.count(k, 0); n.V > 0 {
				p.MaxTokens = asInt(n)
			}
		}
	}
	if p.Model.Set {
		return
	}
	for _, k := range keys {
		switch strings.TrimPrefix(k.written, f.written+".") {
		case "model_endpoint_type":
			p.Provider = d.text(k)
		case "model":
			p.Model = d.text(k)
		}
	}
}
