package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
)

// folderWriter writes a directory profile.
type folderWriter struct {
	*encoder
	main    object
	details object
	dir     string
	parts   []Part
	keys    map[string]bool // that were written once
}

func encodeDirectory(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	id := strings.ReplaceAll(p.Name, "/", "-")
	w := &folderWriter{encoder: newEncoder(p, grammar{dialect: "directory"}), dir: "profiles/" + id + "/", keys: map[string]bool{}}
	if id != p.Name {
		w.lose("name", p.NameAt, fmt.Sprintf("a folder's name has no slash; the id is %q", id))
	}
	w.main.add("id", id)
	w.text("name", "title", p.Title)
	w.text("description", "description", p.Description)
	w.text("short_description", "summary", p.Summary)
	w.fullDescription()
	w.model()
	w.extras()
	w.toolLists()
	prompt := w.prompt()
	for _, s := range setKeys(p) {
		if !w.wrote[s.key] {
			w.lose(s.key, s.at, "")
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, w.main.bytes(), "", "  "); err != nil {
		panic(fmt.Sprintf("what was written is no JSON: %v", err))
	}
	pretty.WriteByte('\n')
	parts := []Part{{w.dir + dirMain, pretty.Bytes()}, {w.dir + dirPrompt, []byte(prompt)}}
	return append(parts, w.parts...), w.lost
}

func (w *folderWriter) text(key, native string, v profile.Value[string]) {
	if v.Set {
		w.main.add(key, v.V)
		w.wrote[native] = true
	}
}

func (w *folderWriter) fullDescription() {
	d := w.p.Details
	if d.V.Specialization != "" {
		w.details.add("specialization", d.V.Specialization)
	}
	if d.V.WhenToUse != "" {
		w.details.add("when_to_use", d.V.WhenToUse)
	}
	if d.V.KeyTools != nil {
		w.details.add("key_tools", d.V.KeyTools)
	}
	for _, x := range w.p.Extra {
		key, ok := strings.CutPrefix(x.Key, "full_description.")
		if raw, err := extraJSON(x); ok && w.mine(x) && err == nil {
			w.details.raw(key, raw)
		}
	}
	if d.Set {
		w.main.raw("full_description", w.details.bytes())
		w.wrote["details"] = true
	}
}

// mine says whether an extra key is one that only this dialect has.
func (w *folderWriter) mine(x profile.Extra) bool {
	return !x.Known && w.p.Dialect == w.g.dialect
}

// model writes what has a default in this dialect, and says where the default
// takes the place of nothing.
func (w *folderWriter) model() {
	p := w.p
	provider, model := p.Provider, p.Model
	if before, after, ok := strings.Cut(model.V, "/"); ok && !provider.Set && before != "" && after != "" {
		provider = profile.Value[string]{V: before, Set: true, At: model.At}
		model.V = after
	}
	if model.Set && !provider.Set {
		w.lose("model", model.At, "it names no provider, and the dialect needs one")
		w.wrote["model"] = true
		model.Set = false
	}
	w.text("llm_backend", "provider", provider)
	w.text("model", "model", model)
	if p.Temperature.Set {
		w.main.raw("temperature", json.RawMessage(formatFloat(p.Temperature.V).Value))
		w.wrote["temperature"] = true
	}
	turns := p.Limits.Turns
	if turns.V > 0 {
		w.main.add("max_iterations", turns.V)
		w.wrote["limits.turns"] = true
	}
	w.standard("provider", provider.Set, dirProvider)
	w.standard("model", model.Set, dirModel)
	w.standard("temperature", p.Temperature.Set, dirTemperature)
	w.standard("limits.turns", turns.V > 0, dirTurns)
}

func (w *folderWriter) standard(key string, set bool, value any) {
	if !set {
		w.lost = append(w.lost, profile.Diagnose(profile.CodeTargetDefault, w.p.NameAt, key,
			fmt.Sprintf("%s is not set; in the %s dialect it is then %v", key, w.g.dialect, value), "set it before the conversion"))
	}
}

// extras writes the habits, the subagents' part and the keys that only this
// dialect has.
func (w *folderWriter) extras() {
	for _, x := range w.p.Extra {
		ok := false
		switch {
		case x.Known:
			ok = w.native(x)
		case !w.mine(x):
		case x.Key == "user-tools":
			ok = w.userTools(x)
		case strings.HasPrefix(x.Key, "full_description.") && w.p.Details.Set:
			_, err := extraJSON(x)
			ok = err == nil
		default:
			if raw, err := extraJSON(x); err == nil {
				w.main.raw(x.Key, raw)
				ok = true
			}
		}
		if !ok {
			w.lose(x.Key, x.At, "")
		}
	}
}

func extraJSON(x profile.Extra) (json.RawMessage, error) {
	n, err := x.Node()
	if err != nil {
		return nil, err
	}
	return toJSON(n)
}

// native writes a native key that is kept, if there is a key for it.
func (w *folderWriter) native(x profile.Extra) bool {
	n, err := x.Node()
	if err != nil {
		return false
	}
	switch x.Key {
	case "habits":
		return w.habits(x, n)
	case "planning":
		return w.planning(n)
	case "subagents.planning":
		on, ok := parseBool(n)
		if ok {
			w.main.add("subagent_planning_enabled", on)
		}
		return ok
	case "subagents.prompt":
		if n.Kind == yaml.ScalarNode {
			w.parts = append(w.parts, Part{w.dir + dirSubagent, []byte(n.Value)})
		}
		return n.Kind == yaml.ScalarNode
	}
	return false
}

func (w *folderWriter) habits(x profile.Extra, n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		native := kebab(n.Content[i].Value)
		at := slices.IndexFunc(dirHabits(), func(h dirHabit) bool { return h.native == native })
		if at < 0 || !w.habit(dirHabits()[at], n.Content[i+1]) {
			w.lose("habits."+native, x.At, "")
		}
	}
	return true
}

func (w *folderWriter) habit(h dirHabit, n *yaml.Node) bool {
	if on, ok := parseBool(n); ok {
		w.once(h.key, on)
		return true
	}
	if h.native == "planning" {
		return w.planning(n)
	}
	if n.Kind != yaml.MappingNode || h.number == "" {
		return false
	}
	on := true
	var number int64
	for i := 0; i+1 < len(n.Content); i += 2 {
		var ok bool
		value := n.Content[i+1]
		switch n.Content[i].Value {
		case "enabled":
			on, ok = parseBool(value)
		case h.setting:
			v, err := strconv.ParseInt(value.Value, 10, 64)
			number, ok = v, err == nil && v > 0
		}
		if !ok {
			return false
		}
	}
	w.once(h.key, on)
	if number > 0 {
		w.once(h.number, number)
	}
	return true
}

// once writes a key that can be meant twice: planning is a key and a habit.
func (w *folderWriter) once(key string, v any) {
	if !w.keys[key] {
		w.keys[key] = true
		w.main.add(key, v)
	}
}

// planning writes true or false, or a map of the phases.
func (w *folderWriter) planning(n *yaml.Node) bool {
	if on, ok := parseBool(n); ok {
		w.once("planning_enabled", on)
		return true
	}
	keys := append(dirPlanning(), [2]string{"planning_enabled", "enabled"})
	var out []func()
	for i := 0; i+1 < len(n.Content); i += 2 {
		on, ok := parseBool(n.Content[i+1])
		at := slices.IndexFunc(keys, func(k [2]string) bool { return k[1] == n.Content[i].Value })
		if at < 0 || !ok {
			return false
		}
		out = append(out, func() { w.once(keys[at][0], on) })
	}
	for _, write := range out {
		write()
	}
	return n.Kind == yaml.MappingNode
}

// userTools writes the tools of the workspace into the profile's own folder.
func (w *folderWriter) userTools(x profile.Extra) bool {
	n, err := x.Node()
	if err != nil || n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if !toolName.MatchString(name) || n.Content[i+1].Kind != yaml.MappingNode {
			return false
		}
		var b bytes.Buffer
		tool := n.Content[i+1].Content
		for j := 0; j+1 < len(tool); j += 2 {
			writeEntry(&b, 0, tool[j].Value, tool[j+1])
		}
		w.parts = append(w.parts, Part{w.dir + "tools/" + name + ".yaml", b.Bytes()})
	}
	return true
}

// toolLists writes the tools that reading the list gives again.
func (w *folderWriter) toolLists() {
	p := w.p
	if t := p.SubagentTools; t.Set {
		w.main.add("subagent_tools", append([]string{}, t.V...))
		w.wrote["subagents"] = !p.SubagentMaxDepth.Set
	} else {
		w.standard("subagents.tools", false, "none")
	}
	items, rules, exact := w.listing()
	if items != nil {
		w.main.add("enabled_tools", items)
		w.wrote["tools"] = true
		w.wrote["permission"] = len(rules) == len(p.Permission)
	}
	if !exact {
		w.standard("tools", false, "at least "+strings.Join(baseTools(), ", "))
	}
}

// listing chooses the items of the list. exact: they give the same tools.
func (w *folderWriter) listing() (items []string, rules []permission.Rule, exact bool) {
	t := w.p.Tools
	if !t.Set {
		return nil, nil, false
	}
	granted := func(name string) bool {
		return slices.ContainsFunc(w.p.Permission, func(r permission.Rule) bool { return r.Tool == name && r.Effect == permission.Allow })
	}
	same := func(a, b profile.Tools) bool { return a.All == b.All && slices.Equal(a.Names, b.Names) }
	bare := []string{}
	for _, name := range t.V.Names {
		if !slices.Contains(baseTools(), name) || granted(name) {
			bare = append(bare, name)
		}
	}
	if t.V.All {
		bare = append(bare, "*")
	}
	if t.V.Written != nil {
		got, rules := listTools(t.V.Written)
		if same(got, t.V) && startsWith(w.p.Permission, rules) {
			return t.V.Written, rules, true
		}
	}
	got, rules := listTools(bare)
	if !startsWith(w.p.Permission, rules) {
		w.lose("tools", t.At, "in this dialect every listed tool is allowed; the list was left out")
		w.wrote["tools"] = true
		return nil, nil, true
	}
	if few := unrestricted(bare, w.p.Permission[len(rules):]); len(few) < len(bare) {
		w.lose("tools", t.At, "the list leaves out the tools that rules restrict")
		bare = few
		got, rules = listTools(bare)
	}
	return bare, rules, same(got, t.V)
}

// listTools reads a list as this dialect does.
func listTools(items []string) (profile.Tools, []permission.Rule) {
	d := &folder{decoder: &decoder{doc: &document{}, p: &profile.Profile{}}, in: &File{}}
	for _, item := range items {
		d.tools = append(d.tools, listedTool{name: item})
	}
	d.mergeTools()
	return d.p.Tools.V, d.p.Permission
}

// prompt gives the text of system_prompt.txt, and writes the persona beside the
// profile's folder.
func (w *folderWriter) prompt() string {
	p := w.p
	if p.Persona.Set {
		w.parts = append(w.parts, Part{path.Dir(path.Clean(w.dir)) + "/" + path.Base(dirPersona), []byte(p.Persona.V)})
		w.wrote["persona"] = true
	}
	if !p.SystemPrompt.Set {
		return p.Body
	}
	text := strings.TrimSpace(p.SystemPrompt.V)
	w.wrote["system-prompt"] = true
	if strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "{{") {
		w.lose("system-prompt", p.SystemPrompt.At, "it refers to a text that is somewhere else: copy it to "+dirPrompt)
		return ""
	}
	if strings.TrimSpace(p.Body) != "" {
		w.lose("body", p.BodyAt, "beside a system prompt it is documentation")
	}
	return p.SystemPrompt.V
}
