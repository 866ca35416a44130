package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// dockerAgent decodes one agent.
type dockerAgent struct {
	*decoder
	file    *dockerFile
	tools   profile.Tools
	servers *yaml.Node // the MCP servers of its toolsets
	options bool       // a toolset says more than its type
	turns   bool       // several models take turns
}

// dockerKeys are the keys of an agent. Those of the second list are kept and
// not acted on.
func dockerKeys() (acts, kept []string) {
	return []string{"model", "description", "instruction", "toolsets", "sub_agents", "handoffs", "max_iterations", "fallback"},
		[]string{
			"add_date", "add_environment_info", "add_prompt_files", "add_description_parameter", "code_mode_tools", "commands", "hooks",
			"max_consecutive_tool_calls", "max_old_tool_call_tokens", "memory", "num_history_items", "rag", "skills", "structured_output",
			"think", "todo", "welcome_message",
		}
}

func (d *dockerAgent) agent(a field) {
	d.servers = mapping()
	d.tools.Names = []string{}
	d.p.BodyAt = a.at
	toolsAt := a.at
	keys, _ := d.entries(field{key: "agent", written: a.written, at: a.at, node: a.node})
	for _, f := range keys {
		f.written = strings.TrimPrefix(f.written, a.written+".")
		f.key = strings.TrimPrefix(f.key, "agent.")
		if f.key == "toolsets" {
			toolsAt = f.at
		}
		if !d.own(f) {
			d.keepKey(f)
		}
	}
	d.p.Tools = profile.Value[profile.Tools]{V: d.tools, Set: true, At: toolsAt}
	d.p.Permission = d.toolRules
	d.delegates(keys, a.written)
	d.denies()
	if len(d.servers.Content) > 0 {
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: "mcp-servers", YAML: append([]byte("\n"), valueText(d.servers)[1:]...), Known: true, At: toolsAt})
	}
	d.p.Extra = append(d.p.Extra, d.file.shared...)
	if strings.TrimSpace(d.p.Body) == "" {
		d.report(profile.CodeNoPrompt, d.p.BodyAt, "instruction", "the agent has no instruction", "write instruction: …")
	}
	if strings.TrimSpace(d.p.Description.V) == "" {
		d.report(profile.CodeNoDescription, a.at, "description", "the agent has no description", "write description: what it is for")
	}
}

func (d *dockerAgent) own(f field) bool {
	p := d.p
	switch f.key {
	case "description":
		p.Description = d.text(f)
	case "instruction":
		v := d.text(f)
		p.Body, p.BodyAt = v.V, d.at(f.node)
	case "max-iterations":
		if n := d.count(f, 0); n.Set {
			p.Limits.Turns = asInt(n) // 0: as many as it takes
		}
	case "model":
		d.model(f)
	case "toolsets":
		d.toolsets(f)
	case "sub-agents", "handoffs": // when the tools are known
	case "fallback":
		return d.fallback(f)
	default:
		return false
	}
	return true
}

// keepKey keeps a key that nothing acts on; an unknown one is warned about.
func (d *dockerAgent) keepKey(f field) {
	acts, kept := dockerKeys()
	switch {
	case f.key == "hooks":
		before := len(d.ds)
		d.keepOwn(f)
		d.ds = d.ds[:before]
		d.report(profile.CodeInactiveGuard, f.at, f.written, "this version does not act on hooks: the profile is not restricted by it", "")
	case slices.Contains(kept, f.written):
		d.keepOwn(f)
	default:
		d.unknown(f, "", slices.Concat(acts, kept))
	}
}

// fallback reads the models that stand in for one that is not there; more than
// that it leaves.
func (d *dockerAgent) fallback(f field) bool {
	n := deref(f.node)
	models, ok := child(n, "models")
	if n.Kind != yaml.MappingNode || !ok || len(n.Content) != 2 || deref(models).Kind != yaml.SequenceNode {
		return false
	}
	budget := maxExpanded
	if c := expand(models, &budget); c != nil {
		unstyled(c)
		d.keepList("fallbacks", c, f)
		return true
	}
	return false
}

func (d *dockerAgent) keepList(key string, n *yaml.Node, f field) {
	n.Style = yaml.FlowStyle
	d.report(profile.CodeInactiveKey, f.at, f.written, "this version does not act on "+key+"; it is kept", "")
	d.p.Extra = append(d.p.Extra, profile.Extra{Key: key, YAML: valueText(n), Known: true, At: f.at})
}

// model reads a model: the name of an entry of models, or provider/model.
// "auto" leaves the choice open. Of several models that take turns the first
// counts.
func (d *dockerAgent) model(f field) {
	v := d.notBlank(f, profile.CodeEmptyModel)
	if !v.Set {
		return
	}
	text := v.V
	const deep = 8 // entries that name entries
	for range deep {
		first, _, several := strings.Cut(text, ",")
		if several && !d.turns {
			d.turns = true
			d.keepOwn(field{key: f.key, written: "model", at: f.at, node: f.node})
		}
		text = strings.TrimSpace(first)
		entry, ok := d.file.models[text]
		if !ok || deref(entry.node).Kind != yaml.MappingNode {
			break
		}
		next, ok := child(deref(entry.node), "model")
		if _, provided := child(deref(entry.node), "provider"); !ok || provided || !d.named(deref(next).Value) {
			d.modelEntry(entry)
			return
		}
		text = deref(next).Value
	}
	if text != "auto" && text != "" {
		d.p.Model = set(text, f)
	}
}

// named says whether a text is several models, or the name of an entry.
func (d *dockerAgent) named(text string) bool {
	_, ok := d.file.models[text]
	return ok || strings.Contains(text, ",")
}

func (d *dockerAgent) modelEntry(entry field) {
	p := d.p
	config := mapping()
	keys, _ := d.entries(entry)
	for _, f := range keys {
		name := f.written[strings.LastIndexByte(f.written, '.')+1:]
		switch name {
		case "provider", "type":
			p.Provider = d.notBlank(f, profile.CodeEmptyProvider)
			if own, ok := d.file.providers[p.Provider.V]; ok {
				d.provider(config, own)
			}
		case "model":
			p.Model = d.notBlank(f, profile.CodeEmptyModel)
		case "temperature":
			p.Temperature = d.number(f, 0, 2)
		case "top_p":
			p.TopP = d.number(f, 0, 1)
		case "max_tokens":
			p.MaxTokens = asInt(d.count(f, 1))
		case "base_url", "token_key":
			if t := d.text(f); t.Set {
				setChild(config, map[string]string{"base_url": "base-url", "token_key": "key-env"}[name], str(t.V))
			}
		case "thinking_budget":
			d.thinking(f)
		default:
			f.written = dockerModel + name
			d.keepOwn(f)
		}
	}
	if config = inOrder(config, "api", "base-url", "key-env"); len(config.Content) > 0 {
		d.report(profile.CodeInactiveKey, entry.at, entry.written, "this version does not act on model-config; it is kept", "")
		p.Extra = append(p.Extra, profile.Extra{Key: "model-config", YAML: append([]byte("\n"), valueText(config)[1:]...), Known: true, At: entry.at})
	}
}

// provider reads an entry of providers into a model's configuration. What the
// model itself says goes before it.
func (d *dockerAgent) provider(config *yaml.Node, own field) {
	keys, _ := d.entries(own)
	for _, f := range keys {
		t := d.text(f).V
		switch f.written[strings.LastIndexByte(f.written, '.')+1:] {
		case "api_type":
			if api, ok := strings.CutPrefix(t, "openai_chatcompletions"); ok && api == "" {
				setMissing(config, "api", "openai-chat")
			} else if t == "openai_responses" {
				setMissing(config, "api", "openai-responses")
			}
		case "base_url":
			setMissing(config, "base-url", t)
		case "token_key":
			setMissing(config, "key-env", t)
		}
	}
}

// inOrder gives those keys of a map.
func inOrder(m *yaml.Node, keys ...string) *yaml.Node {
	out := mapping()
	for _, key := range keys {
		if v, ok := child(m, key); ok {
			setChild(out, key, v)
		}
	}
	return out
}

func setMissing(m *yaml.Node, key, value string) {
	if _, ok := child(m, key); !ok {
		setChild(m, key, str(value))
	}
}

// thinking reads a level, or a number of tokens, for which it takes the nearest
// level and keeps the number. -1 leaves it to the model.
func (d *dockerAgent) thinking(f field) {
	n := deref(f.node)
	if effort, ok := child(n, "effort"); n.Kind == yaml.MappingNode && ok {
		n = deref(effort)
	}
	level, exact := thinkingLevel(n.Value)
	if level != "" {
		d.p.Thinking = set(level, f)
	}
	if !exact || n != deref(f.node) {
		f.written = dockerModel + "thinking_budget"
		d.keepOwn(f)
	}
}

func thinkingLevel(text string) (level string, exact bool) {
	switch text {
	case "minimal", "low", "medium", "high":
		return text, true
	case "none", "off":
		return "off", false
	}
	tokens, err := strconv.Atoi(text)
	switch {
	case err != nil || tokens < 0:
		return "", false
	case tokens == 0:
		return "off", text == "0"
	case tokens <= 2048:
		return "low", false
	case tokens <= 16384:
		return "medium", false
	}
	return "high", false
}

// delegates makes rules of the agents that this one may give work to, or hand
// the conversation over to.
func (d *dockerAgent) delegates(keys []field, agent string) {
	for _, f := range keys {
		switch f.written {
		case agent + ".sub_agents":
			d.targets(f, "task")
		case agent + ".handoffs":
			d.targets(f, "switch_profile")
		}
	}
}

func (d *dockerAgent) targets(f field, tool string) {
	v := d.list(f)
	if !v.Set || len(v.V) == 0 {
		return
	}
	if !slices.Contains(d.p.Tools.V.Names, tool) {
		d.p.Tools.V.Names = append(d.p.Tools.V.Names, tool)
	}
	at := f.at
	d.p.Permission = append(d.p.Permission, permission.Rule{Tool: tool, Subject: "*", Effect: permission.Deny, At: at})
	for i, name := range v.V {
		if n := deref(f.node); n.Kind == yaml.SequenceNode && i < len(n.Content) {
			at = d.at(n.Content[i])
		}
		if ours, ok := d.file.names[name]; ok {
			name = ours
		}
		if strings.TrimSpace(name) == "" {
			d.report(profile.CodeNotAllowed, at, f.written, "an agent without a name", "")
			continue
		}
		d.p.Permission = append(d.p.Permission, permission.Rule{Tool: tool, Subject: name, Effect: permission.Allow, At: at})
	}
}

// severalArguments finds a pattern that asks for more than one argument.
var severalArguments = regexp.MustCompile(`:[A-Za-z_]+=`)

// denies makes a rule of each denied pattern. One whose arguments cannot be
// told apart here denies the tool as a whole.
func (d *dockerAgent) denies() {
	for _, t := range d.file.denied {
		name, arg, narrowed := strings.Cut(t.name, ":")
		subject := "*"
		key, value, _ := strings.Cut(arg, "=")
		switch {
		case !narrowed:
		case slices.Contains([]string{"cmd", "path", "url"}, key) && value != "" && !severalArguments.MatchString(value):
			subject = value
		default:
			d.report(profile.CodeInactiveKey, t.at, "permissions.deny", fmt.Sprintf("%q is more than a command, a path or a URL: the tool is denied as a whole", shorten(t.name)), "")
		}
		for _, tool := range dockerDenied(strings.TrimSpace(name)) {
			at := t.at
			at.Layer = source.Profile
			d.p.Permission = append(d.p.Permission, permission.Rule{Tool: tool, Subject: subject, Effect: permission.Deny, At: at})
		}
	}
}
