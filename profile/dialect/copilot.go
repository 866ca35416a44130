package dialect

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// copilot is the dialect of *.agent.md and *.chatmode.md, and of .github/agents.
func copilot() Dialect {
	return Dialect{Name: "copilot", Detect: detectCopilot, Decode: decodeCopilot, Encode: encodeCopilot}
}

func detectCopilot(f *File) Certainty {
	switch {
	case hasSuffix(f.Path, copilotSuffixes()):
		return BySuffix
	case inDotFolder(f.Path, ".github"):
		return ByFolder
	}
	return No
}

func copilotGrammar() grammar {
	return grammar{
		dialect: "copilot", own: ownCopilot, listOnly: true, alias: copilotAlias, spell: copilotTool,
		keeps: []string{"argument-hint", "target", "handoffs", "metadata"},
	}
}

func ownCopilot(d *decoder, f field) bool {
	switch f.key {
	case "model":
		if deref(f.node).Kind != yaml.SequenceNode {
			return false
		}
		d.models(f)
	case "mcp-servers":
		d.servers(f)
		d.keepAs(f, profile.Servers, true)
	case "hooks":
		d.report(profile.CodeInactiveGuard, f.at, f.written, "hooks of this dialect are kept and do not run: the profile is not restricted by them", "")
		d.keepAs(f, f.key, true)
	case "user-invocable", "disable-model-invocation", "infer":
		if d.doc.has("mode") {
			d.inactive(f, f.key, true)
		}
	case "agents": // read last: its rules go after others
	default:
		return false
	}
	return true
}

// models reads a list of models: the first, and what is tried after it.
func (d *decoder) models(f field) {
	n := deref(f.node)
	items, ok := d.scalars(f, n)
	if !ok {
		return
	}
	if len(items) == 0 {
		d.report(profile.CodeEmptyModel, f.at, f.written, "model is an empty list", "name a model, or leave the key out")
		return
	}
	d.p.Model = d.notBlank(field{key: f.key, written: f.written, at: f.at, node: n.Content[0]}, profile.CodeEmptyModel)
	if len(items) > 1 {
		rest := field{key: "fallbacks", written: f.written, at: f.at, node: list(items[1:])}
		if value, ok := d.dump(rest); ok {
			d.report(profile.CodeInactiveKey, f.at, f.written, "this version does not act on the models after the first; they are kept", "")
			d.p.Extra = append(d.p.Extra, profile.Extra{Key: "fallbacks", YAML: value, Known: true, At: f.at})
		}
	}
}

func decodeCopilot(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := copilotGrammar().decode(f)
	if !d.doc.broken {
		d.invocation()
		d.callable()
		d.wantDescription()
		d.wantPrompt()
	}
	return d.done()
}

// invocation reads who may start the agent as its mode, unless a mode says it.
func (d *decoder) invocation() {
	if d.doc.has("mode") {
		return
	}
	byUser, byModel := true, true
	var at source.Origin
	said := false
	for _, f := range d.doc.fields {
		switch f.key {
		case "user-invocable":
			byUser = d.switched(f, true)
		case "disable-model-invocation":
			byModel = !d.switched(f, false)
		case "infer":
			byModel = d.switched(f, true)
		default:
			continue
		}
		said, at = true, f.at
	}
	if !said {
		return
	}
	mode := profile.Value[string]{V: "all", Set: true, At: at}
	switch {
	case !byModel:
		mode.V = "primary"
	case !byUser:
		mode.V = "subagent"
	}
	d.p.Mode = mode
	if !byModel && !byUser && !d.p.Hidden.Set {
		d.p.Hidden = profile.Value[bool]{V: true, Set: true, At: at}
	}
}

func (d *decoder) switched(f field, byDefault bool) bool {
	if v := d.flag(f); v.Set {
		return v.V
	}
	return byDefault
}

// callable reads the agents that this one may call as rules for task.
func (d *decoder) callable() {
	f, ok := d.doc.find("agents")
	if !ok {
		return
	}
	v := d.list(f)
	if !v.Set {
		return
	}
	add := func(subject string, e permission.Effect) {
		d.p.Permission = append(d.p.Permission, permission.Rule{Tool: "task", Subject: subject, Effect: e, At: f.at})
	}
	add("*", permission.Deny)
	for _, name := range v.V {
		if name == "*" {
			add("*", permission.Allow)
			continue
		}
		slug, err := profile.Slug(strings.TrimSpace(name))
		if err != nil || slug == "" {
			d.report(profile.CodeNotAllowed, f.at, f.written, fmt.Sprintf("%q is no name of an agent", shorten(name)), "")
			continue
		}
		add(slug, permission.Allow)
	}
}

func encodeCopilot(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, copilotGrammar())
	e.extra = e.copilotExtra
	e.name()
	e.text("description", p.Description)
	e.copilotModels()
	e.callable()
	e.tools()
	e.invocation()
	e.prompt()
	e.rest()
	return e.file(".github/agents/" + p.Name + ".agent.md")
}

// copilotModels writes the models as a list where there are several. Copilot
// shows models by names of its own, so other systems' ids are lost.
func (e *encoder) copilotModels() {
	if !e.own() {
		e.model(func(string) string { return "" })
		return
	}
	for _, x := range e.p.Extra {
		rest, ok := valueNode(x.YAML)
		if x.Key != "fallbacks" || !x.Known || !ok || rest.Kind != yaml.SequenceNode || !e.p.Model.Set {
			continue
		}
		all := []string{e.p.Model.V}
		for _, n := range rest.Content {
			all = append(all, n.Value)
		}
		e.node("model", list(all))
		e.wrote["fallbacks"] = true
		return
	}
	e.text("model", e.p.Model)
}

// invocation writes the mode in Copilot's words.
func (e *encoder) invocation() {
	for _, x := range e.p.Extra { // the file says both
		if k := kebab(x.Key); k == "user-invocable" || k == "disable-model-invocation" || k == "infer" {
			return
		}
	}
	hidden := e.p.Hidden.Set && e.p.Hidden.V
	switch {
	case !e.p.Mode.Set:
		return
	case e.p.Mode.V == "primary" && hidden:
		e.node("user-invocable", scalar("false"))
		e.node("disable-model-invocation", scalar("true"))
		e.wrote["hidden"] = true
	case e.p.Mode.V == "primary":
		e.node("disable-model-invocation", scalar("true"))
	case e.p.Mode.V == "subagent":
		e.node("user-invocable", scalar("false"))
	default:
		e.node("user-invocable", scalar("true"))
	}
	e.wrote["mode"] = true
}

// callable writes the rules for task at the end as a list of agents.
func (e *encoder) callable() {
	rules := e.p.Permission
	start := len(rules)
	for start > 0 && rules[start-1].Tool == "task" && rules[start-1].Effect == permission.Allow {
		start--
	}
	if start--; start < 0 || !sameRule(rules[start], permission.Rule{Tool: "task", Subject: "*", Effect: permission.Deny}) {
		return
	}
	names := []string{}
	for _, r := range rules[start+1:] {
		if r.Subject != "*" && profile.CheckName(r.Subject) != nil {
			return
		}
		names = append(names, r.Subject)
	}
	e.node("agents", list(names))
	e.tailRules = len(rules) - start
}

func (e *encoder) copilotExtra(x profile.Extra) bool {
	switch {
	case x.Known && x.Key == "fallbacks":
		return e.wrote["fallbacks"]
	case x.Known && x.Key == "mcp-servers" && !bytes.HasPrefix(bytes.TrimSpace(x.YAML), []byte("[")):
		e.raw("mcp-servers", x.YAML)
		return true
	}
	return false
}
