package dialect

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// dockerTools pairs docker-agent's names of tools with ours; the first of ours
// is the way back.
func dockerTools() [][2]string {
	return [][2]string{
		{"read_file", "read"}, {"read_multiple_files", "read"}, {"list_directory", "read"}, {"list_directory_tree", "read"},
		{"directory_tree", "read"}, {"get_file_info", "read"}, {"write_file", "write"}, {"create_directory", "write"}, {"move_file", "write"},
		{"edit_file", "edit"}, {"search_files", "glob"}, {"search_files_content", "grep"},
		{"shell", "bash"}, {"fetch", "webfetch"}, {"user_prompt", "ask_user"},
		{"transfer_task", "task"}, {"handoff", "switch_profile"},
		{"create_todo", "todo"}, {"create_todos", "todo"}, {"update_todo", "todo"}, {"update_todos", "todo"}, {"list_todos", "todo"},
		{"add_memory", "memory"}, {"get_memories", "memory"}, {"delete_memory", "memory"}, {"search_memories", "memory"},
	}
}

// dockerDenied gives the tools of ours that a name or a pattern of a rule means,
// and the pattern itself, for the tools of servers.
func dockerDenied(pattern string) []string {
	out := []string{}
	for _, pair := range dockerTools() {
		if ok, err := path.Match(pattern, pair[0]); err == nil && ok && !slices.Contains(out, pair[1]) {
			out = append(out, pair[1])
		}
	}
	if len(out) == 0 || strings.Contains(pattern, "*") {
		out = append(out, pattern)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// toolsetTools gives our tools for a type of toolset. known: it is a type of
// theirs, whether or not there is anything like it here.
func toolsetTools(kind string) (tools []string, known bool) {
	switch kind {
	case "filesystem":
		return []string{"read", "write", "edit", "glob", "grep"}, true
	case "shell":
		return []string{"bash"}, true
	case "fetch":
		return []string{"webfetch"}, true
	case "todo", "memory":
		return []string{kind}, true
	case "user_prompt":
		return []string{"ask_user"}, true
	case "think", "mcp", "script", "api", "a2a", "lsp", "openapi", "rag", "model_picker", "background_agents", "tasks":
		return nil, true
	}
	return nil, false
}

func (d *dockerAgent) toolsets(f field) {
	n := deref(f.node)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.wrongType(f, n, "a list of toolsets")
		return
	}
	if !d.fewTools(f, n, len(n.Content)) {
		return
	}
	for _, item := range n.Content {
		d.toolset(f, deref(item))
	}
	if d.options {
		d.keepOwn(f)
	}
}

func (d *dockerAgent) toolset(f field, item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		d.wrongType(f, item, "a toolset: a map with a type")
		return
	}
	keys, _ := d.entries(field{key: "toolset", written: f.written, at: d.at(item), node: item})
	byName := map[string]field{}
	for _, k := range keys {
		byName[strings.TrimPrefix(k.written, f.written+".")] = k
	}
	kind := d.text(byNameOr(byName, "type", f)).V
	d.options = d.options || len(keys) > 1 && !(kind == "filesystem" && len(keys) == 2 && d.plainTools(byName))
	tools, known := toolsetTools(kind)
	at := d.at(item)
	switch {
	case !known:
		d.options = true
		d.report(profile.CodeUnknownTool, at, f.written, fmt.Sprintf("%q is not a known type of toolset; it is kept", shorten(kind)), "")
	case kind == "think":
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: "habits", YAML: []byte("\n  think: true"), Known: true, At: at})
	case kind == "mcp":
		d.server(byName)
	case tools == nil:
		d.options = true // nothing here is like it
	default:
		for _, t := range d.narrowed(byName, kind, tools) {
			d.add(t, byNameOr(byName, "type", f))
		}
	}
}

func byNameOr(fields map[string]field, key string, otherwise field) field {
	if f, ok := fields[key]; ok {
		return f
	}
	otherwise.node = &yaml.Node{Kind: yaml.ScalarNode, Line: otherwise.at.Line, Column: otherwise.at.Column}
	return otherwise
}

// add lists a tool, and allows it.
func (d *dockerAgent) add(tool string, f field) {
	if !slices.Contains(d.tools.Names, tool) {
		d.tools.Names = append(d.tools.Names, tool)
		d.allow(tool, "*", f.at)
	}
}

// narrowed gives what the tools of a toolset leave of it.
func (d *dockerAgent) narrowed(byName map[string]field, kind string, all []string) []string {
	f, ok := byName["tools"]
	if !ok || kind != "filesystem" {
		return all
	}
	var out []string
	for _, name := range d.list(f).V {
		for _, pair := range dockerTools() {
			if pair[0] == name && slices.Contains(all, pair[1]) && !slices.Contains(out, pair[1]) {
				out = append(out, pair[1])
			}
		}
	}
	return out
}

// plainTools says whether the tools of a toolset are named as they would be
// written anew.
func (d *dockerAgent) plainTools(byName map[string]field) bool {
	f, ok := byName["tools"]
	if !ok || deref(f.node).Kind != yaml.SequenceNode {
		return false
	}
	for _, n := range deref(f.node).Content {
		if !slices.ContainsFunc(dockerTools(), func(pair [2]string) bool { return pair[0] == n.Value && dockerNameOf(pair[1]) == n.Value }) {
			return false
		}
	}
	return true
}

// server reads an MCP server: a reference, a command, or an address. What is
// defined beside the agents is filled in.
func (d *dockerAgent) server(byName map[string]field) {
	if ref, ok := byName["ref"]; ok {
		if definition, ok := d.file.servers[d.text(ref).V]; ok && deref(definition.node).Kind == yaml.MappingNode {
			keys, _ := d.entries(definition)
			for _, k := range keys {
				if name := k.written[strings.LastIndexByte(k.written, '.')+1:]; name == "ref" || !given(byName, name) {
					byName[name] = k
				}
			}
			if _, other := byName["command"]; other || given(byName, "remote") {
				delete(byName, "ref")
			}
			setDefault(byName, "name", str(strings.TrimPrefix(definition.written, "mcps.")), definition)
		}
	}
	name, entry := d.serverEntry(byName)
	if name == "" || len(entry.Content) == 0 {
		return
	}
	name = d.serverName(name)
	d.servers.Content = append(d.servers.Content, str(name), entry)
	at := byNameOr(byName, "type", field{})
	tools, ok := byName["tools"]
	if !ok {
		d.add(name+"_*", at)
		return
	}
	for _, tool := range d.list(tools).V {
		d.add(name+"_"+tool, at)
	}
}

func given(m map[string]field, key string) bool {
	_, ok := m[key]
	return ok
}

func setDefault(m map[string]field, key string, value *yaml.Node, like field) {
	if !given(m, key) {
		m[key] = field{key: key, written: key, at: like.at, node: value}
	}
}

// serverEntry gives the native entry of a server, and a name for it.
func (d *dockerAgent) serverEntry(byName map[string]field) (string, *yaml.Node) {
	entry := mapping()
	name := ""
	copyOf := func(key string, f field) {
		budget := maxExpanded
		if n := expand(f.node, &budget); n != nil {
			unstyled(n)
			setChild(entry, key, n)
		}
	}
	if f, ok := byName["ref"]; ok {
		_, name, _ = strings.Cut(d.text(f).V, ":")
		if name != "" {
			setChild(entry, "command", str("docker"))
			setChild(entry, "args", list([]string{"mcp", "gateway", "run", "--servers", name}))
		}
	}
	if f, ok := byName["command"]; ok && !blank(f.node) {
		name = path.Base(d.text(f).V)
		copyOf("command", f)
		if f, ok := byName["args"]; ok {
			copyOf("args", f)
		}
	}
	if f, ok := byName["remote"]; ok && deref(f.node).Kind == yaml.MappingNode {
		if address, ok := child(deref(f.node), "url"); ok {
			if u, err := url.Parse(deref(address).Value); err == nil {
				name = u.Hostname()
			}
			copyOf("url", field{node: address})
		}
		if headers, ok := child(deref(f.node), "headers"); ok {
			copyOf("headers", field{node: headers})
		}
	}
	if f, ok := byName["env"]; ok && len(entry.Content) > 0 {
		copyOf("env", f)
	}
	if f, ok := byName["name"]; ok && !blank(f.node) {
		name = d.text(f).V
	}
	return name, entry
}

// serverName makes a name of letters, digits, - and _, that no other server of
// the agent has.
func (d *dockerAgent) serverName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	free := name
	for i := 2; ; i++ {
		if _, taken := child(d.servers, free); !taken {
			return free
		}
		free = name + "-" + strconv.Itoa(i)
	}
}
