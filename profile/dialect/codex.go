package dialect

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// codex is the dialect of .codex/agents/*.toml: one agent a file, whose
// developer_instructions are its prompt. They are text and nothing else, so
// they are the body: neither a file's name nor a reference is looked for in
// them.
func codex() Dialect {
	return Dialect{Name: "codex", Detect: detectCodex, Decode: decodeCodex, Encode: encodeCodex}
}

func detectCodex(f *File) Certainty {
	if path.Ext(f.Path) != ".toml" {
		return No
	}
	if strings.HasSuffix(path.Dir("/"+f.Path), "/.codex/agents") || strings.Contains("/"+f.Path, "/.codex/agents/") {
		return ByFolder
	}
	if !strings.Contains(string(f.Data), "developer_instructions") {
		return No
	}
	t := f.tree()
	if t.root == nil { // a file with this key is an agent, though it is broken
		return ByContent
	}
	doc := treeDocument(t.root)
	if doc.has("name") && doc.has("developer-instructions") {
		return ByContent
	}
	return No
}

// codexKeys are the keys that codex knows and that have no equal here.
func codexKeys() []string {
	return []string{
		"nickname-candidates", "approval-policy", "approvals-reviewer", "model-reasoning-effort", "model-reasoning-summary",
		"model-verbosity", "model-context-window", "model-auto-compact-token-limit", "model-supports-reasoning-summaries",
		"model-instructions-file", "model-providers", "plan-mode-reasoning-effort", "web-search", "tools", "features",
		"sandbox-workspace-write", "permissions", "default-permissions", "shell-environment-policy", "personality",
		"service-tier", "instructions", "compact-prompt", "apps", "agents", "profile", "notify",
		"hide-agent-reasoning", "show-raw-agent-reasoning", "tool-output-token-limit", "project-doc-max-bytes",
	}
}

// treeDocument gives the keys of a map as those of a document.
func treeDocument(root *yaml.Node) *document {
	doc := &document{front: profile.Frontmatter{YAMLLine: 1}}
	if root == nil {
		return doc
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k := deref(root.Content[i])
		doc.fields = append(doc.fields, field{
			key: kebab(k.Value), written: k.Value, node: root.Content[i+1],
			at: source.Origin{Layer: source.Profile, Line: k.Line, Column: k.Column},
		})
	}
	return doc
}

// treeDecoder reads a file that is one map of keys. When the file could not be
// parsed its document is broken, and has what could be read all the same.
func treeDecoder(f *File, dialect string) *decoder {
	t := f.tree()
	root := t.root
	if root == nil {
		root = t.remains
	}
	d := &decoder{file: f.Name, doc: treeDocument(root), opts: f.Options, p: &profile.Profile{Dialect: dialect, File: f.Name}}
	d.doc.broken = t.root == nil
	for i := range d.doc.fields {
		d.doc.fields[i].at.File = f.Name
	}
	d.ds = slices.Clone(t.diags)
	return d
}

// withoutExt gives a path as names are made from it.
func withoutExt(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

func decodeCodex(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := treeDecoder(f, "codex")
	d.claimName(&File{Path: withoutExt(f.Path)})
	if d.doc.broken {
		return d.done()
	}
	d.topLevelUnique()
	for _, fd := range d.doc.fields {
		if !isNull(fd.node) && !d.codexKey(fd) {
			d.keepTree(fd, fd.key, slices.Contains(codexKeys(), fd.key), codexNames())
		}
	}
	if strings.TrimSpace(d.p.Body) == "" {
		at := d.p.BodyAt
		if at.Line == 0 {
			at = source.Origin{Layer: source.Profile, File: f.Name, Line: 1, Column: 1}
		}
		d.report(profile.CodeNoSystemPrompt, at, "developer_instructions", "the agent has no instructions", `write developer_instructions = """…"""`)
	}
	if strings.TrimSpace(d.p.Description.V) == "" {
		d.report(profile.CodeNoDescription, d.p.NameAt, "description", "the agent has no description", "write description: when to use it")
	}
	return d.done()
}

func codexNames() []string {
	return append(codexKeys(), "name", "description", "developer-instructions", "model", "model-provider", "sandbox-mode", "mcp-servers", "skills")
}

func (d *decoder) codexKey(f field) bool {
	switch f.key {
	case "name": // read by claimName
	case "description":
		d.p.Description = d.text(f)
	case "developer-instructions":
		v := d.text(f)
		d.p.Body, d.p.BodyAt = v.V, d.at(f.node)
	case "model":
		d.p.Model = d.notBlank(f, profile.CodeEmptyModel)
	case "model-provider":
		d.p.Provider = d.notBlank(f, profile.CodeEmptyProvider)
	case "model-reasoning-effort":
		d.effort(f)
	case "sandbox-mode":
		switch v := d.oneOf(f, "read-only", "workspace-write", "danger-full-access"); v.V {
		case "read-only": // the others restrict little or nothing
			d.keepTree(f, "sandbox", true, nil)
		case "workspace-write", "danger-full-access":
			d.notYet(f, true)
			d.p.Extra = append(d.p.Extra, profile.Extra{Key: "sandbox", YAML: []byte(" " + v.V), Known: true, At: f.at})
		}
	case "mcp-servers":
		d.mcpServers(f)
	case "skills":
		d.keepTree(f, "skills", true, nil)
	default:
		return false
	}
	return true
}

// effort reads how hard the model thinks. What goes beyond our levels is the
// highest of them, and its own word is kept.
func (d *decoder) effort(f field) {
	v := d.oneOf(f, "none", "minimal", "low", "medium", "high", "xhigh")
	switch v.V {
	case "none":
		v.V = "off"
	case "xhigh":
		v.V = "high"
		d.report(profile.CodeNearest, d.at(f.node), f.written, `xhigh is read as "high", the highest level here`, "")
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: f.key, YAML: []byte(" xhigh"), Known: true, At: f.at})
	}
	d.p.Thinking = v
}

// mcpServers keeps the servers under the native key with the native words for
// what both have.
func (d *decoder) mcpServers(f field) {
	if _, ok := d.entries(f); !ok {
		return
	}
	servers := mapping()
	for i := 0; i+1 < len(deref(f.node).Content); i += 2 {
		k, v := deref(f.node).Content[i], deref(deref(f.node).Content[i+1])
		if v.Kind == yaml.MappingNode {
			v = renamed(v, codexServer, kebab)
		}
		servers.Content = append(servers.Content, k, v)
	}
	f.node = servers
	d.keepTree(f, profile.Servers, true, nil)
}

// codexServer translates the keys of a server, and their values.
func codexServer(key string, v *yaml.Node) (string, *yaml.Node, bool) {
	switch key {
	case "http_headers":
		return "headers", v, true
	case "tool_timeout_sec":
		if v.ShortTag() == "!!int" {
			return "timeout", str(v.Value + "s"), true
		}
	}
	return "", nil, false
}

func codexServerBack(key string, v *yaml.Node) (string, *yaml.Node, bool) {
	switch key {
	case "headers":
		return "http_headers", v, true
	case "timeout":
		if s, ok := strings.CutSuffix(v.Value, "s"); ok && onlyDigits(s) {
			return "tool_timeout_sec", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: s}, true
		}
	}
	return "", nil, false
}

// onlyDigits says whether a text is a whole number as TOML and YAML write it.
func onlyDigits(s string) bool {
	return s != "" && len(s) < 19 && (s == "0" || s[0] != '0') && strings.Trim(s, "0123456789") == ""
}

// renamed copies a map with other keys: those that translate knows, and the
// others in the usual spelling of the target.
func renamed(m *yaml.Node, translate func(string, *yaml.Node) (string, *yaml.Node, bool), spell func(string) string) *yaml.Node {
	out := mapping()
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := deref(m.Content[i]).Value, deref(m.Content[i+1])
		if key, value, ok := translate(k, v); ok {
			out.Content = append(out.Content, str(key), value)
		} else {
			out.Content = append(out.Content, str(spell(k)), v)
		}
	}
	return out
}

func snake(s string) string { return strings.ReplaceAll(s, "-", "_") }

func encodeCodex(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newTreeEncoder(p, "codex")
	e.put("name", str(e.name()), "name")
	e.text("description", p.Description, "description")
	e.text("provider", p.Provider, "model_provider")
	e.text("model", p.Model, "model")
	if p.Thinking.Set {
		level := p.Thinking.V
		if level == "off" {
			level = "none"
		}
		e.put("thinking", str(level), "model_reasoning_effort")
	}
	e.instructions()
	for _, x := range p.Extra {
		e.codexExtra(x)
	}
	return e.file(".codex/agents/" + p.Name + ".toml")
}

// instructions writes the prompt. Here it is text only: what names a file or
// another prompt would be sent to the model as it is.
func (e *treeEncoder) instructions() {
	p := e.p
	text := p.Body
	if s := p.SystemPrompt; s.Set {
		if indirect(s.V) {
			e.lose("system-prompt", s.At, "write the text itself")
			e.wrote["system-prompt"] = true
			return
		}
		text = s.V
		if strings.TrimSpace(p.Body) != "" {
			e.lose("body", p.BodyAt, "beside a system-prompt it is documentation")
		}
	}
	e.put("system-prompt", str(text), "developer_instructions")
}

// indirect says whether a system prompt stands for another text.
func indirect(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	return strings.HasPrefix(prompt, "file:") && !strings.Contains(prompt, "\n") ||
		strings.HasPrefix(prompt, "{{") && strings.HasSuffix(prompt, "}}") && !strings.Contains(prompt, "\n")
}

func (e *treeEncoder) codexExtra(x profile.Extra) {
	n, err := tomlExtra(x)
	name, ok := "", false
	switch {
	case err != nil:
	case x.Key == "sandbox" && x.Known:
		name, ok = "sandbox_mode", n.Value == "read-only" || n.Value == "workspace-write" || n.Value == "danger-full-access"
	case x.Key == "mcp-servers" && x.Known && n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.MappingNode {
				n.Content[i] = renamed(n.Content[i], codexServerBack, snake)
			}
		}
		name, ok = "mcp_servers", true
	case e.own() && x.Known:
		name, ok = snake(x.Key), true
	case e.own():
		name, ok = x.Key, true
	}
	if ok {
		e.put(x.Key, n, name)
	} else {
		e.lose(x.Key, x.At, "")
	}
}
