package dialect

import (
	"fmt"
	"path"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// baseTools are the tools that every directory profile has. They are not
// listed, so they are not granted either: the built-in rules decide.
func baseTools() []string {
	return []string{"todo", "scratchpad", "memory", "skill", "ask_user", "switch_profile", "task"}
}

// listedTool is a tool as a list names it, and where.
type listedTool struct {
	name string
	at   source.Origin
}

func (d *folder) enabledTools(f field) {
	v, ok := d.listedTools(f)
	if ok {
		d.p.Tools.Set, d.p.Tools.At = true, f.at
		d.tools = append(d.tools, v...)
	}
}

// listedTools gives the items of a list of tools, with their places.
func (d *decoder) listedTools(f field) ([]listedTool, bool) {
	n := deref(f.node)
	switch {
	case isNull(n):
		return nil, false
	case n.Kind == yaml.SequenceNode:
		items, ok := d.scalars(f, n)
		tools := make([]listedTool, len(items))
		for i, item := range items {
			tools[i] = listedTool{item, d.at(n.Content[i])}
		}
		return tools, ok && d.fewTools(f, n, len(items))
	case n.Kind == yaml.MappingNode:
		return d.listedOfMap(f)
	}
	var tools []listedTool
	for _, item := range splitTools(n.Value) {
		tools = append(tools, listedTool{item, d.at(n)})
	}
	return tools, d.fewTools(f, n, len(tools))
}

// listedOfMap gives the names that stand for true.
func (d *decoder) listedOfMap(f field) ([]listedTool, bool) {
	entries, ok := d.entries(f)
	var tools []listedTool
	for _, e := range entries {
		on, isBool := parseBool(e.node)
		if !isBool {
			d.wrongType(e, e.node, "true or false")
			ok = false
		}
		if on {
			tools = append(tools, listedTool{e.written[len(f.written)+1:], e.at})
		}
	}
	return tools, ok && d.fewTools(f, deref(f.node), len(tools))
}

func (d *decoder) fewTools(f field, n *yaml.Node, count int) bool {
	if count > maxTools {
		d.report(profile.CodeNotAllowed, d.at(n), f.written, fmt.Sprintf("%d tools are more than %d", count, maxTools), "")
	}
	return count <= maxTools
}

// mergeTools makes the tool list of the profile's own, those of enabled.json
// and the base tools. What is listed is allowed.
func (d *folder) mergeTools() {
	at := source.Origin{Layer: source.Profile, File: d.file}
	d.fromEnabled()
	if d.p.Tools.Set {
		at = d.p.Tools.At
	}
	v := profile.Tools{Names: []string{}, Written: []string{}}
	users, places := mapping(), map[string]source.Origin{}
	for _, t := range d.tools {
		v.Written = append(v.Written, t.name)
		if d.userTool(&v, users, places, t) {
			d.allow(t.name, "*", t.at)
			continue
		}
		d.grant(&v, t)
	}
	for _, name := range baseTools() {
		if !slices.Contains(v.Names, name) {
			v.Names = append(v.Names, name)
		}
	}
	d.p.Tools = profile.Value[profile.Tools]{V: v, Set: true, At: at}
	d.p.Permission = d.toolRules
	if len(users.Content) > 0 {
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: "user-tools", YAML: append([]byte("\n"), valueText(users)[1:]...), At: at, Places: places})
	}
}

// grant adds one listed tool, or the group that it stands for.
func (d *decoder) grant(v *profile.Tools, t listedTool) {
	all := v.All
	before := len(v.Names)
	var unknown unknownTools
	list := field{key: "tools", written: "enabled_tools"}
	narrow := d.toolItem(v, &unknown, list, t.name, t.at)
	unknown.report(d, list)
	if v.All && !all {
		d.allow("*", "*", t.at)
	}
	for _, name := range v.Names[before:] {
		if len(narrow) == 0 {
			d.allow(name, "*", t.at)
		}
	}
	for _, r := range narrow {
		d.allow(r.Tool, r.Subject, r.At)
	}
}

func (d *decoder) allow(tool, subject string, at source.Origin) {
	at.Layer = source.Profile
	d.toolRules = append(d.toolRules, permission.Rule{Tool: tool, Subject: subject, Effect: permission.Allow, At: at})
}

// fromEnabled adds the tools of the nearest enabled.json.
func (d *folder) fromEnabled() {
	for _, dir := range toolFolders() {
		name := dir + "enabled.json"
		if _, ok := d.in.Beside[name]; !ok {
			continue
		}
		text, at, _ := d.part(name)
		if text == "" {
			return
		}
		n, diag := parseJSON(at.File, []byte(text))
		if diag != nil {
			d.ds = append(d.ds, *diag)
			return
		}
		in := d.other(at.File)
		if n.Kind == yaml.ScalarNode {
			in.wrongType(field{written: "enabled.json"}, n, "a list of tools, or a map of tools and true or false")
		} else if tools, ok := in.listedTools(field{key: "enabled", written: "enabled", node: n}); ok {
			d.tools = append(d.tools, tools...)
		}
		d.ds = append(d.ds, in.ds...)
		return
	}
}

// other is a decoder of another file of the profile.
func (d *folder) other(file string) *decoder {
	return &decoder{file: file, doc: &document{front: profile.Frontmatter{YAMLLine: 1}}, p: d.p}
}

// toolName is what a name must look like to name a file of the tools folder.
var toolName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// userTool knows a tool that is not built in by its file in the nearest tools
// folder, and keeps what the file says. A tool runs commands, so nothing here
// acts on it.
func (d *folder) userTool(v *profile.Tools, users *yaml.Node, places map[string]source.Origin, t listedTool) bool {
	if _, known := toolNames(t.name); known || !toolName.MatchString(t.name) || slices.Contains(v.Names, t.name) {
		return false
	}
	for _, dir := range toolFolders() {
		file := dir + t.name + ".yaml"
		if _, ok := d.in.Beside[file]; !ok {
			continue
		}
		v.Names = append(v.Names, t.name)
		if n := d.toolFile(file); n != nil {
			users.Content = append(users.Content, str(t.name), n)
			places[t.name] = source.Origin{File: path.Join(path.Dir(d.file), file), Line: 1, Column: 1}
			d.report(profile.CodeInactiveKey, places[t.name], "tools."+t.name,
				fmt.Sprintf("this version does not run the tools of a workspace: %s is kept and not offered", t.name), "")
		}
		return true
	}
	return false
}

// toolFile reads a user tool. What is wrong with it takes nothing but the tool
// away, so it is a warning.
func (d *folder) toolFile(file string) *yaml.Node {
	text, at, _ := d.part(file)
	t := parseTree(at.File, file, []byte(text))
	in := d.other(at.File)
	in.ds = t.diags
	var out *yaml.Node
	if t.root != nil {
		out = in.toolShape(keyed(at.File, t.root), at)
	}
	if !profile.Refused(in.ds) {
		d.ds = append(d.ds, in.ds...)
		return out
	}
	for _, diag := range in.ds {
		diag.Code, diag.Name, diag.Severity = profile.CodeUserTool, "", profile.SeverityWarning
		d.ds = append(d.ds, diag)
	}
	return nil
}

// toolShape takes description, input-schema and command.
func (d *decoder) toolShape(doc *document, at source.Origin) *yaml.Node {
	d.doc = doc
	d.topLevelUnique()
	out := mapping()
	for _, f := range doc.fields {
		var ok bool
		switch f.key {
		case "description":
			ok = d.text(f).Set
		case "command":
			ok = !blank(f.node) && d.list(f).Set
		case "input-schema":
			_, ok = d.entries(f)
		default:
			d.report(profile.CodeUnknownKey, f.at, f.written, f.written+" is not a key of a tool", didYouMean(f.key, []string{"description", "input-schema", "command"}))
			continue
		}
		budget := maxExpanded
		if n := expand(f.node, &budget); ok && n != nil {
			out.Content = append(out.Content, str(f.key), n)
		}
	}
	for _, key := range []string{"description", "command"} {
		if !doc.has(key) {
			d.report(profile.CodeNotAllowed, at, key, "the tool has no "+key, "write "+key+": …")
		}
	}
	return out
}
