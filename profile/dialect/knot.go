package dialect

import (
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// knot is the dialect of rig/profiles: provider, model and system prompt are
// required, and the tool list is the grant.
func knot() Dialect {
	return Dialect{Name: "knot", Detect: detectKnot, Decode: decodeKnot, Encode: encodeKnot}
}

func detectKnot(f *File) Certainty {
	if inRig(f.Path) {
		return ByFolder
	}
	return guessedAs(f, "knot")
}

func decodeKnot(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := grammar{dialect: "knot", grants: true}.decode(f)
	for i := range d.ds { // the names of this dialect's own errors
		if d.ds[i].Severity == profile.SeverityError && d.doc.broken {
			d.ds[i].Name = string(profile.InvalidFormat)
		}
	}
	if !d.doc.broken {
		d.requireKnot()
	}
	return d.done()
}

func (d *decoder) requireKnot() {
	p, top := d.p, source.Origin{File: d.file, Line: max(1, d.doc.front.YAMLLine-1), Column: 1}
	name, named := d.doc.find("name")
	if !named {
		d.report(profile.CodeMissingName, top, "name", "the profile has no name", "write name: …")
	}
	for i := range d.ds {
		if named && blank(name.node) && d.ds[i].Code == profile.CodeName {
			d.ds[i] = profile.Diagnose(profile.CodeMissingName, name.at, "name", "the name is blank", "write name: …")
		}
	}
	if !d.doc.has("provider") {
		d.report(profile.CodeEmptyProvider, top, "provider", "the profile has no provider", "write provider: openai, or another")
	}
	if !d.doc.has("model") {
		d.report(profile.CodeEmptyModel, top, "model", "the profile has no model", "write model: …")
	}
	if prompt, ok := d.doc.find("system-prompt"); ok && blank(prompt.node) {
		d.report(profile.CodeNoSystemPrompt, prompt.at, "system-prompt", "the system prompt is blank", "write it, or leave the key out and write the body")
	} else if !ok && strings.TrimSpace(p.Body) == "" {
		d.report(profile.CodeNoSystemPrompt, top, "system-prompt", "the profile has no system prompt", "write system-prompt: …, or a body")
	}
	if !p.Tools.Set && !p.Extends.Set { // absent: none
		p.Tools = profile.Value[profile.Tools]{V: profile.Tools{Names: []string{}}, Set: true, At: top}
	}
}

func encodeKnot(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, grammar{dialect: "knot", grants: true})
	e.name()
	e.providerAndModel()
	if !e.own() && p.Extends.Set && !p.Tools.Set && len(p.Permission) > 0 {
		e.node("tools", list(nil)) // those of the parents, without the rules, would be more
		e.lose("tools", p.Extends.At, "an empty list was written: the rules that narrow the parents' tools are lost")
	}
	e.tools()
	e.text("system-prompt", p.SystemPrompt)
	e.rest()
	return e.file("rig/profiles/" + strings.ReplaceAll(p.Name, "/", "-") + ".md")
}
