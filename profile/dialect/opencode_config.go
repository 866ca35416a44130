package dialect

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// isOpencodeConfig says whether a file is OpenCode's own configuration, whose key
// agent is a map of profiles. It is JSON with comments by either name.
func isOpencodeConfig(place string) bool {
	base := path.Base(place)
	return base == "opencode.json" || base == "opencode.jsonc"
}

// Shared says whether a file of this path says more than its profiles, so that it is
// neither written nor removed with one of them.
func Shared(place string) bool { return isOpencodeConfig(place) }

const sharedWhy = "it is OpenCode's configuration, which says more than its profiles"

// opencodeConfig is what the agents of such a file share.
type opencodeConfig struct {
	in    *File
	doc   *document
	ds    []profile.Diagnostic
	tools *field            // the tools that are on or off for all
	rules []permission.Rule // which an agent's own go after
}

func detectOpencodeConfig(f *File) Certainty {
	if !bytes.Contains(f.Data, []byte(`"agent"`)) {
		return No
	}
	root := f.tree().root
	if root == nil { // it cannot be parsed
		return BySuffix
	}
	if agents, ok := child(root, "agent"); !ok || isNull(agents) || deref(agents).Kind == yaml.MappingNode && len(deref(agents).Content) == 0 {
		return No
	}
	return BySuffix
}

func decodeOpencodeConfig(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	t := f.tree()
	c := &opencodeConfig{in: f, doc: keyed(f.Name, t.root), ds: slices.Clone(t.diags)}
	if c.doc.broken {
		return nil, c.ds
	}
	var out []*profile.Profile
	first := map[string]string{}
	for _, a := range c.top() {
		p := c.agent(a)
		if p == nil {
			continue
		}
		if other, twice := first[p.Name]; twice {
			c.report(profile.CodeName, a.at, "agent", fmt.Sprintf("the agents %q and %q both have the name %q", other, a.key, p.Name), "give them different names")
		}
		first[p.Name] = a.key
		out = append(out, p)
	}
	c.ds = once(c.ds)
	return out, c.ds
}

func (c *opencodeConfig) report(code string, at source.Origin, key, message, hint string) {
	c.ds = append(c.ds, profile.Diagnose(code, at, key, message, hint))
}

func (c *opencodeConfig) decoder(doc *document) *decoder {
	return &decoder{file: c.in.Name, doc: doc, opts: c.in.Options, p: &profile.Profile{Dialect: "opencode", File: c.in.Name}}
}

// top reads what holds for all agents, and gives these with their names as keys.
func (c *opencodeConfig) top() (agents []field) {
	d := c.decoder(c.doc)
	d.topLevelUnique()
	for _, f := range c.doc.fields {
		switch f.key {
		case "agent":
			agents, _ = d.entries(f)
			for i := range agents {
				agents[i].key = strings.TrimPrefix(agents[i].written, f.written+".")
			}
		case "permission":
			d.permission(opencodeGrammar(), f)
		case "tools":
			if n := deref(f.node); n.Kind == yaml.MappingNode && len(n.Content) > 2*maxTools {
				d.report(profile.CodeNotAllowed, f.at, f.written, fmt.Sprintf("more than %d tools", maxTools), "")
			} else if !isNull(n) {
				c.tools = &f
			}
		}
	}
	if c.rules = d.p.Permission; len(c.rules) > maxTools { // each agent has them
		d.report(profile.CodeNotAllowed, c.rules[maxTools].At, "permission", fmt.Sprintf("more than %d rules", maxTools), "")
		c.rules = nil
	}
	if len(agents) > maxInstances {
		d.report(profile.CodeNotAllowed, agents[maxInstances].at, "agent", fmt.Sprintf("%d agents are more than %d", len(agents), maxInstances), "write some as files in .opencode/agent")
		agents = agents[:maxInstances]
	}
	c.ds = append(c.ds, d.ds...)
	return agents
}

// agent decodes one agent; nil: there is none.
func (c *opencodeConfig) agent(a field) *profile.Profile {
	n := deref(a.node)
	if n.Kind != yaml.MappingNode {
		c.report(profile.CodeWrongType, a.at, a.written, fmt.Sprintf("%s takes a map, not %s", a.written, kindName(n)), "")
		return nil
	}
	if off, ok := child(n, "disable"); ok {
		if yes, _ := parseBool(off); yes {
			c.report(profile.CodeInactiveKey, a.at, a.written, fmt.Sprintf("the agent %q is disabled and left out", shorten(a.key)), "")
			return nil
		}
	}
	d := c.decoder(keyed(c.in.Name, n))
	c.name(d, a)
	d.claimName(c.in)
	d.p.BodyAt = a.at
	c.switches(d)
	g := opencodeGrammar()
	g.own = ownOpencodeEntry
	g.read(d)
	c.missing(d, a)
	d.p.Permission = slices.Concat(c.rules, d.p.Permission)
	d.p.Seal()
	c.ds = append(c.ds, d.ds...)
	return d.p
}

// name puts the agent's key where a profile has its name.
func (c *opencodeConfig) name(d *decoder, a field) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: a.key, Line: a.at.Line, Column: a.at.Column}
	own := []field{{key: "name", written: a.written, at: a.at, node: key}}
	for _, f := range d.doc.fields {
		if f.key == "name" {
			d.report(profile.CodeInactiveKey, f.at, f.written, fmt.Sprintf("an agent of this file has its key %q as its name", shorten(a.key)), "")
			continue
		}
		own = append(own, f)
	}
	d.doc.fields = own
}

// switches lets the tools that are on or off for all go before the agent's own.
func (c *opencodeConfig) switches(d *decoder) {
	if c.tools == nil {
		return
	}
	i := slices.IndexFunc(d.doc.fields, func(f field) bool { return f.key == "tools" })
	if i < 0 || isNull(d.doc.fields[i].node) {
		d.doc.fields = append(slices.DeleteFunc(d.doc.fields, func(f field) bool { return f.key == "tools" }), *c.tools)
		return
	}
	own, all := deref(d.doc.fields[i].node), deref(c.tools.node)
	if own.Kind != yaml.MappingNode || all.Kind != yaml.MappingNode {
		return
	}
	both := *own
	both.Content = nil
	for j := 0; j+1 < len(all.Content); j += 2 {
		if _, again := child(own, all.Content[j].Value); !again {
			both.Content = append(both.Content, all.Content[j], all.Content[j+1])
		}
	}
	both.Content = append(both.Content, own.Content...)
	d.doc.fields[i].node = &both
}

func ownOpencodeEntry(d *decoder, f field) bool {
	if f.key == "prompt" {
		d.opencodePrompt(f)
		return true
	}
	return ownOpencode(d, f)
}

// opencodePrompt reads a text, or {file:PATH}, which is below the file's folder.
func (d *decoder) opencodePrompt(f field) {
	text := d.text(f).V
	d.p.BodyAt = d.at(f.node)
	if file := opencodeReference(text); file != "" {
		dir := path.Dir(filepath.ToSlash(d.file))
		switch {
		case path.IsAbs(file), strings.HasPrefix(file, "~"): // which is refused when it is read
		case filepath.IsLocal(dir):
			file = path.Join(dir, file)
		default:
			file = path.Clean(file)
		}
		d.p.SystemPrompt = set("file:"+file, f)
		return
	}
	d.p.Body = text
	if strings.Contains(text, "{file:") || strings.Contains(text, "{env:") {
		d.report(profile.CodeInactiveKey, d.at(f.node), f.written, "{file:…} and {env:…} in the midst of a prompt are not filled in: it is sent as it is written", "make {file:./PATH} the whole prompt")
	}
}

// opencodeReference gives the path of a text that is nothing but {file:PATH}.
func opencodeReference(text string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), "{file:")
	text, closed := strings.CutSuffix(text, "}")
	if !ok || !closed || strings.ContainsAny(text, "{}\n") {
		return ""
	}
	return strings.TrimSpace(text)
}

// missing says what the agent lacks.
func (c *opencodeConfig) missing(d *decoder, a field) {
	if !d.doc.has("extends") {
		if strings.TrimSpace(d.p.SystemPrompt.V) == "" && strings.TrimSpace(d.p.Body) == "" {
			d.report(profile.CodeNoPrompt, d.p.BodyAt, a.written, "the agent has no prompt", `write "prompt": "…"`)
		}
		d.wantDescription()
	}
	if a.key == "plan" && !d.doc.has("permission", "tools", "permission-mode") {
		d.report(profile.CodeInactiveGuard, a.at, a.written, "OpenCode's own plan changes no files; this profile has none of its rules", `write "permission": {"edit": "deny"}`)
	}
}

// once leaves out what was said before: of what all agents share, each says it.
func once(ds []profile.Diagnostic) []profile.Diagnostic {
	seen := map[profile.Diagnostic]bool{}
	return slices.DeleteFunc(ds, func(d profile.Diagnostic) bool {
		again := seen[d]
		seen[d] = true
		return again
	})
}
