package dialect

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
)

// dockerWriter writes one agent as a file of its own.
type dockerWriter struct {
	*encoder
	top, agent, model *yaml.Node
}

// encodeDocker writes the agent as the root of a file. Listed tools are allowed
// in this dialect, so they are left out where the profile's rules are others.
func encodeDocker(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	w := writeDocker(p, true)
	parts := w.file()
	back, _ := decodeDocker(&File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
	if len(back) != 1 || !slices.EqualFunc(back[0].Permission, p.Permission, sameRule) {
		w = writeDocker(p, false)
		w.lose("permission", w.p.NameAt, "in this dialect every listed tool is allowed; the tools were left out")
		if p.Tools.Set {
			w.lose("tools", p.Tools.At, "in this dialect every listed tool is allowed; the tools were left out")
		}
		parts = w.file()
	} else if !p.Tools.Set {
		w.lost = append(w.lost, profile.Diagnose(profile.CodeTargetDefault, p.NameAt, "tools", "tools is not set; in the docker dialect it is then none", "set it before the conversion"))
	}
	return parts, w.lost
}

func writeDocker(p *profile.Profile, tools bool) *dockerWriter {
	w := &dockerWriter{encoder: newEncoder(p, grammar{dialect: "docker"}), top: mapping(), agent: mapping(), model: mapping()}
	w.wrote["tools"], w.wrote["permission"] = true, true // encodeDocker compares them
	w.modelKeys()
	if p.Description.Set {
		setChild(w.agent, "description", str(p.Description.V))
		w.wrote["description"] = true
	}
	w.instruction()
	if p.Limits.Turns.Set {
		setChild(w.agent, "max_iterations", scalar(strconv.Itoa(p.Limits.Turns.V)))
		w.wrote["limits.turns"] = true
	}
	w.extras(tools)
	if tools {
		w.tools()
	}
	for _, s := range setKeys(p) {
		if !w.wrote[s.key] {
			w.lose(s.key, s.at, "")
		}
	}
	return w
}

func (w *dockerWriter) file() []Part {
	if len(w.model.Content) > 0 {
		setMissingFirst(w.agent, "model", str("model"))
		setChild(w.top, "models", mapping(str("model"), w.model))
	} else if _, ok := child(w.agent, "model"); !ok {
		setMissingFirst(w.agent, "model", str("auto"))
	}
	setChild(w.top, "agents", mapping(str(dockerRoot), w.agent))
	var b bytes.Buffer
	for i := 0; i+1 < len(w.top.Content); i += 2 {
		writeEntry(&b, 0, w.top.Content[i].Value, w.top.Content[i+1])
	}
	return []Part{{"agents/" + w.p.Name + ".yaml", b.Bytes()}}
}

func setMissingFirst(m *yaml.Node, key string, value *yaml.Node) {
	if _, ok := child(m, key); !ok {
		m.Content = append([]*yaml.Node{str(key), value}, m.Content...)
	}
}

func (w *dockerWriter) instruction() {
	p := w.p
	text := p.Body
	if p.SystemPrompt.Set {
		w.wrote["system-prompt"] = true
		text = p.SystemPrompt.V
		if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "file:") || strings.HasPrefix(trimmed, "{{") {
			w.lose("system-prompt", p.SystemPrompt.At, "it refers to a text that is somewhere else: copy it to instruction")
			text = ""
		} else if strings.TrimSpace(p.Body) != "" {
			w.lose("body", p.BodyAt, "beside a system prompt it is documentation")
		}
	}
	if text != "" {
		setChild(w.agent, "instruction", str(text))
	}
}

// modelKeys writes a reference where that is all, else an entry of models.
func (w *dockerWriter) modelKeys() {
	p := w.p
	for key, v := range map[string]bool{
		"provider": p.Provider.Set, "model": p.Model.Set, "temperature": p.Temperature.Set, "top-p": p.TopP.Set,
		"max-tokens": p.MaxTokens.Set, "thinking": p.Thinking.Set,
	} {
		w.wrote[key] = v
	}
	entry := p.Provider.Set || p.Temperature.Set || p.TopP.Set || p.MaxTokens.Set || p.Thinking.Set ||
		slices.ContainsFunc(p.Extra, func(x profile.Extra) bool { return x.Known && x.Key == "model-config" })
	if !entry {
		if p.Model.Set {
			setChild(w.agent, "model", str(p.Model.V))
		}
		return
	}
	provider, model := p.Provider.V, p.Model.V
	if before, after, ok := strings.Cut(model, "/"); ok && !p.Provider.Set {
		provider, model = before, after
	}
	if provider != "" {
		setChild(w.model, "provider", str(provider))
	}
	if model != "" {
		setChild(w.model, "model", str(model))
	}
	if p.Temperature.Set {
		setChild(w.model, "temperature", formatFloat(p.Temperature.V))
	}
	if p.TopP.Set {
		setChild(w.model, "top_p", formatFloat(p.TopP.V))
	}
	if p.MaxTokens.Set {
		setChild(w.model, "max_tokens", scalar(strconv.Itoa(p.MaxTokens.V)))
	}
	switch p.Thinking.V {
	case "":
	case "off":
		setChild(w.model, "thinking_budget", scalar("0"))
	default:
		setChild(w.model, "thinking_budget", str(p.Thinking.V))
	}
}

// extras writes what is kept: keys of the file, of the model and of the agent.
func (w *dockerWriter) extras(tools bool) {
	for _, x := range w.p.Extra {
		n, err := x.Node()
		ok := err == nil
		shared, isShared := strings.CutPrefix(x.Key, dockerShared)
		model, isModel := strings.CutPrefix(x.Key, dockerModel)
		switch {
		case !ok:
		case x.Known:
			ok = w.native(x, n)
		case w.p.Dialect != w.g.dialect:
			ok = false
		case isShared:
			setChild(w.top, shared, n)
		case isModel:
			setChild(w.model, model, n)
		case x.Key == "toolsets" && !tools:
		case x.Key == "model": // several, by names that this file does not have
			ok = false
		default:
			setChild(w.agent, x.Key, n)
		}
		if !ok {
			w.lose(x.Key, x.At, "")
		}
	}
}

// native writes a native key that is kept, if there is a place for it. What the
// toolsets of this profile gave comes back with them.
func (w *dockerWriter) native(x profile.Extra, n *yaml.Node) bool {
	own := w.p.Dialect == w.g.dialect
	switch x.Key {
	case "fallbacks":
		setChild(w.agent, "fallback", mapping(str("models"), n))
		return n.Kind == yaml.SequenceNode
	case "habits":
		on := false
		if think, ok := child(n, "think"); ok {
			on, _ = parseBool(think)
		}
		if on && !w.has("toolsets") {
			w.toolset("think")
		}
		return on && len(n.Content) == 2
	case "model-config":
		known := 0
		for _, pair := range [][2]string{{"base-url", "base_url"}, {"key-env", "token_key"}} {
			if v, ok := child(n, pair[0]); ok {
				setChild(w.model, pair[1], v)
				known++
			}
		}
		if _, ok := child(n, "api"); ok && own {
			known++
		}
		return n.Kind == yaml.MappingNode && known*2 == len(n.Content)
	case "mcp-servers":
		return own && w.has("toolsets")
	}
	return false
}

func (w *dockerWriter) has(key string) bool {
	return slices.ContainsFunc(w.p.Extra, func(x profile.Extra) bool { return !x.Known && x.Key == key })
}

func (w *dockerWriter) toolset(kind string, tools ...string) {
	sets, ok := child(w.agent, "toolsets")
	if !ok {
		sets = &yaml.Node{Kind: yaml.SequenceNode}
		setChild(w.agent, "toolsets", sets)
	}
	item := mapping(str("type"), str(kind))
	if tools != nil {
		setChild(item, "tools", list(tools))
	}
	sets.Content = append(sets.Content, item)
}

// tools writes the toolsets and the agents that work is given to.
func (w *dockerWriter) tools() {
	p := w.p
	if w.p.Dialect != w.g.dialect || !w.has("toolsets") {
		w.toolsets(p.Tools.V.Names)
	}
	for _, pair := range [][2]string{{"task", "sub_agents"}, {"switch_profile", "handoffs"}} {
		tool, key := pair[0], pair[1]
		var names []string
		for _, r := range p.Permission {
			if r.Tool == tool && r.Effect == permission.Allow && r.Subject != "*" {
				names = append(names, r.Subject)
			}
		}
		if names != nil {
			setChild(w.agent, key, list(names))
		}
	}
}

// toolsets writes a toolset for each tool in turn; files that stand together
// are one.
func (w *dockerWriter) toolsets(names []string) {
	files, _ := toolsetTools("filesystem")
	for len(names) > 0 {
		n := 0
		for n < len(names) && slices.Contains(files, names[n]) {
			n++
		}
		switch {
		case n > 0 && slices.Equal(names[:n], files):
			w.toolset("filesystem")
		case n > 0:
			var theirs []string
			for _, name := range names[:n] {
				theirs = append(theirs, dockerNameOf(name))
			}
			w.toolset("filesystem", theirs...)
		default:
			n = 1
			if kind, ok := toolsetOf(names[0]); ok {
				w.toolset(kind)
			} else if names[0] != "task" && names[0] != "switch_profile" {
				w.lose("tools."+names[0], w.p.Tools.At, "")
			}
		}
		names = names[n:]
	}
}

func dockerNameOf(tool string) string {
	for _, pair := range dockerTools() {
		if pair[1] == tool {
			return pair[0]
		}
	}
	return tool
}

func toolsetOf(tool string) (kind string, ok bool) {
	for _, kind := range []string{"shell", "fetch", "todo", "memory", "user_prompt"} {
		if tools, _ := toolsetTools(kind); tools[0] == tool {
			return kind, true
		}
	}
	return "", false
}
