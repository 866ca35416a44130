package dialect

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/profile"
)

// gemini is the dialect of .gemini/agents.
func gemini() Dialect {
	return Dialect{Name: "gemini", Detect: detectGemini, Decode: decodeGemini, Encode: encodeGemini}
}

func detectGemini(f *File) Certainty {
	if inDotFolder(f.Path, ".gemini") {
		return ByFolder
	}
	return No
}

func geminiGrammar() grammar {
	return grammar{
		dialect: "gemini", own: ownGemini, listOnly: true, alias: geminiAlias, spell: geminiTool,
		keeps: []string{"kind", "agent-card-url", "agent-card-json", "auth"},
	}
}

func ownGemini(d *decoder, f field) bool {
	switch f.key {
	case "display-name":
		if t := d.text(f); t.Set && !d.doc.has("title") {
			d.p.Title = t
		}
	case "max-turns":
		d.p.Limits.Turns = asInt(d.count(f, 1))
	case "timeout-mins":
		d.minutes(f)
	case "mcp-servers":
		d.servers(f)
		d.keepAs(f, profile.Servers, true)
	case "kind":
		if deref(f.node).Value != "remote" {
			return false
		}
		d.report(profile.CodeInactiveGuard, f.at, f.written, "an agent that runs elsewhere is not called from here: only its prompt is read", "")
		d.keepAs(f, f.key, true)
	default:
		return false
	}
	return true
}

// minutes reads a time in minutes.
func (d *decoder) minutes(f field) {
	const most = 60 * 24 * 365
	if v := d.number(f, 1.0/60, most); v.Set {
		d.p.Limits.Duration = set(inMinutes(v.V), f)
	}
}

func inMinutes(v float64) time.Duration {
	return time.Duration(math.Round(v * float64(time.Minute)))
}

func decodeGemini(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := geminiGrammar().decode(f)
	if !d.doc.broken {
		d.wantDescription()
		d.wantPrompt()
	}
	return d.done()
}

func encodeGemini(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, geminiGrammar())
	e.extra = e.geminiExtra
	e.node("name", str(p.Name))
	e.text("display_name", p.Title)
	e.wrote["title"] = true
	e.text("description", p.Description)
	e.model(geminiModel)
	e.tools()
	e.float("temperature", p.Temperature)
	e.turns("max_turns")
	if t := p.Limits.Duration; t.Set {
		mins := t.V.Minutes()
		if mins >= 1.0/60 && inMinutes(mins) == t.V {
			e.node("timeout_mins", scalar(strconv.FormatFloat(mins, 'f', -1, 64)))
			e.wrote["limits.duration"] = true
		}
	}
	e.prompt()
	e.rest()
	return e.file(".gemini/agents/" + p.Name + ".md")
}

func (e *encoder) geminiExtra(x profile.Extra) bool {
	if x.Known && x.Key == "mcp-servers" {
		e.raw("mcpServers", x.YAML)
		return true
	}
	return false
}

// geminiModel gives the model as Gemini names it: an id of its maker, or what
// the caller runs.
func geminiModel(model string) string {
	if id, ok := strings.CutPrefix(model, "google/"); ok {
		return id
	}
	if model == "inherit" || strings.HasPrefix(model, "gemini-") {
		return model
	}
	return ""
}
