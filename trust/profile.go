package trust

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// configDialect is the one whose values hold variables.
const configDialect = "config"

// OfProfile lists what a profile would start, reach or read by itself. What its
// parents say is theirs.
func OfProfile(p *profile.Profile) []Item {
	var out []Item
	for _, x := range p.Extra {
		if !executes(x.Key) {
			continue
		}
		n, ok := valueOf(x.YAML)
		if !ok {
			out = append(out, unreadable(p, x))
			continue
		}
		for _, f := range find(x.Key, n) {
			out = append(out, f.item(p, x))
		}
	}
	return append(out, variablesOf(p)...)
}

func (f found) item(p *profile.Profile, x profile.Extra) Item {
	at, name := x.At, strings.TrimPrefix(f.key, x.Key+".")
	if own, ok := x.Places[name]; ok {
		at = own
	}
	return NewItem(f.kind, p.Name, f.key, at, f.node)
}

// unreadable is an item of a value that cannot be looked into.
func unreadable(p *profile.Profile, x profile.Extra) Item {
	return Item{Kind: Hook, Profile: p.Name, Key: x.Key, At: x.At, Text: "cannot be read"}
}

// variablesOf lists the values that read the environment.
func variablesOf(p *profile.Profile) []Item {
	if p.Dialect != configDialect {
		return nil
	}
	var out []Item
	add := func(key, text string, at source.Origin) {
		if profile.HasVars(text) {
			out = append(out, VariableItem(p.Name, key, text, at))
		}
	}
	for _, v := range []struct {
		key   string
		value profile.Value[string]
	}{{"provider", p.Provider}, {"model", p.Model}, {"workspace", p.Workspace}, {"system-prompt", p.SystemPrompt}, {"subagent-prompt", p.SubagentPrompt}} {
		add(v.key, v.value.V, v.value.At)
	}
	for _, x := range p.Extra {
		if x.Key != "prompt" || !bytes.Contains(x.YAML, []byte("${")) {
			continue
		}
		if n, ok := valueOf(x.YAML); ok {
			texts(n, maxDepth, func(text string) { add("system-prompt", text, x.At) })
		}
	}
	return out
}

// texts calls do for all texts in a value.
func texts(n *yaml.Node, depth int, do func(string)) {
	if depth == 0 {
		return
	}
	if n.Kind == yaml.ScalarNode {
		do(n.Value)
	}
	for _, c := range n.Content {
		texts(c, depth-1, do)
	}
}

// VariableItem is the item of a text that names variables: it is pinned by their
// names, and not by the text around them.
func VariableItem(name, key, text string, at source.Origin) Item {
	var names []string
	profile.ExpandVars(text, func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	slices.Sort(names)
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, n := range slices.Compact(names) {
		list.Content = append(list.Content, scalar("${"+n+"}"))
	}
	return NewItem(Variable, name, key, at, list)
}

// Strip gives the profile without what may not act, and an error for each item
// that was taken out. A profile that says nothing of the kind is given as it is.
// Variables stay: what fills them in asks Gate.
func (v View) Strip(p *profile.Profile) (*profile.Profile, []*Error) {
	var errs []*Error
	var extra []profile.Extra
	for i, x := range p.Extra {
		kept, inert := v.strip(p, x)
		if len(inert) == 0 {
			if extra != nil {
				extra = append(extra, x)
			}
			continue
		}
		if extra == nil {
			extra = append(make([]profile.Extra, 0, len(p.Extra)), p.Extra[:i]...)
		}
		errs = append(errs, inert...)
		if kept != nil {
			x.YAML = kept
			extra = append(extra, x)
		}
	}
	if extra == nil {
		return p, nil
	}
	c := *p
	c.Extra = extra
	return &c, errs
}

// strip takes the inert items out of one key. kept is nil if nothing is left.
func (v View) strip(p *profile.Profile, x profile.Extra) (kept []byte, errs []*Error) {
	if v.all || !executes(x.Key) || v.Own(x.At.File) && len(x.Places) == 0 {
		return nil, nil
	}
	n, ok := valueOf(x.YAML)
	if !ok {
		i := unreadable(p, x)
		return nil, []*Error{{i, v.State(i)}}
	}
	for _, f := range find(x.Key, n) {
		i := f.item(p, x)
		if s := v.State(i); !s.Acts() {
			errs = append(errs, &Error{i, s})
			f.drop()
		}
	}
	if len(errs) == 0 || isNull(n) || n.Kind != yaml.ScalarNode && len(n.Content) == 0 {
		return nil, errs
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	if err := enc.Encode(n); err != nil || enc.Close() != nil {
		return nil, errs
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	return append([]byte("\n  "), bytes.ReplaceAll(text, []byte("\n"), []byte("\n  "))...), errs
}

// valueOf reads the value of a key that is kept as it was written.
func valueOf(text []byte) (*yaml.Node, bool) {
	var doc yaml.Node
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(append([]byte("key:"), text...), &doc, limits); err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return nil, false
	}
	return deref(doc.Content[0].Content[1]), true
}
