package dialect

import (
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// opencode is the dialect of .opencode/agent, agent and agents, and of the agents in
// OpenCode's own configuration, which is only read.
func opencode() Dialect {
	return Dialect{Name: "opencode", Detect: detectOpencode, Decode: decodeOpencode, Encode: encodeOpencode}
}

func detectOpencode(f *File) Certainty {
	if isOpencodeConfig(f.Path) {
		return detectOpencodeConfig(f)
	}
	if inDotFolder(f.Path, ".opencode") {
		return ByFolder
	}
	return guessedAs(f, "opencode")
}

func opencodeGrammar() grammar {
	return grammar{dialect: "opencode", own: ownOpencode, spell: opencodeTool, keeps: []string{"options", "color", "disable"}, twins: true}
}

func ownOpencode(d *decoder, f field) bool {
	switch f.key {
	case "steps", "max-steps", "max-turns":
		d.p.Limits.Turns = asInt(d.count(f, 1))
	case "disable":
		if v := d.flag(f); !v.V {
			return false
		}
		d.report(profile.CodeInactiveGuard, f.at, f.written, "the agent is disabled, and loads all the same", "rename the file, or set hidden: true")
		d.keepAs(f, f.key, true)
	case "prompt": // the body is the prompt, whatever stands here
		d.inactive(f, f.key, true)
	default:
		return false
	}
	return true
}

func decodeOpencode(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	if isOpencodeConfig(f.Path) {
		return decodeOpencodeConfig(f)
	}
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
	e.opencodeModel()
	e.float("temperature", p.Temperature)
	e.float("top_p", p.TopP)
	e.turns("steps")
	e.toolMap()
	e.settings("tool_settings")
	e.permission()
	e.prompt()
	e.rest()
	return e.file(".opencode/agents/" + p.Name + ".md")
}
