package dialect

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// opencode is the dialect of .opencode/agent, agent and agents.
func opencode() Dialect {
	return Dialect{Name: "opencode", Detect: detectOpencode, Decode: decodeOpencode, Encode: encodeOpencode}
}

func detectOpencode(f *File) Certainty {
	doc := f.document()
	under, dot := underAgents(f.Path)
	switch {
	case dot:
		return ByFolder
	case nativeOnly(doc):
		return No
	case under, doc.has("mode", "permission", "permissions", "steps", "temperature"):
		return ByContent
	}
	if tools, ok := doc.find("tools"); ok && deref(tools.node).Kind == yaml.MappingNode {
		return ByContent
	}
	return No
}

func opencodeGrammar() grammar {
	return grammar{dialect: "opencode", own: ownOpencode, keeps: []string{"options", "disable", "color", "prompt"}, twins: true}
}

func ownOpencode(d *decoder, f field) bool {
	switch f.key {
	case "steps", "max-steps":
		d.p.Limits.Turns = asInt(d.count(f, 1))
		return true
	}
	return false
}

func decodeOpencode(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := opencodeGrammar().decode(f)
	if !d.doc.broken {
		if strings.TrimSpace(d.p.Description.V) == "" {
			at := source.Origin{File: d.file, Line: max(1, d.doc.front.YAMLLine-1), Column: 1}
			if desc, ok := d.doc.find("description"); ok {
				at = desc.at
			}
			d.report(profile.CodeNeedDescription, at, "description", "the profile has no description", "write description: what it is for")
		}
		d.wantPrompt()
	}
	return d.done()
}

func encodeOpencode(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, opencodeGrammar())
	e.name()
	e.text("description", p.Description)
	e.text("mode", p.Mode)
	e.flag("hidden", p.Hidden)
	e.text("model", p.Model)
	e.float("temperature", p.Temperature)
	e.float("top_p", p.TopP)
	if p.Limits.Turns.V > 0 {
		e.integer("steps", p.Limits.Turns)
		e.wrote["limits.turns"] = true
	}
	e.toolMap()
	e.settings("tool_settings")
	e.permission()
	e.extras()
	return e.file(".opencode/agents/" + p.Name + ".md")
}
