package dialect

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool/contract"
)

// claude is the dialect of .claude/agents. Its tool list only narrows; what it
// disallows goes before what it allows.
func claude() Dialect {
	return Dialect{Name: "claude", Detect: detectClaude, Decode: decodeClaude, Encode: encodeClaude}
}

func detectClaude(f *File) Certainty {
	if inDotFolder(f.Path, ".claude") {
		return ByFolder
	}
	return guessedAs(f, "claude")
}

func claudeGrammar() grammar {
	return grammar{
		dialect: "claude", own: ownClaude, last: lastClaude, spell: claudeTool, text: true,
		keeps: []string{"color", "background", "isolation", "initial-prompt"},
	}
}

func ownClaude(d *decoder, f field) bool {
	switch f.key {
	case "allowed-tools": // of orchestrators and skills; Claude itself has tools
		if d.doc.has("tools") {
			return false
		}
		d.tools(claudeGrammar(), f)
	case "disallowed-tools": // read last: it goes before what is allowed
	case "max-turns":
		d.p.Limits.Turns = asInt(d.count(f, 1))
	case "permission-mode":
		d.claudeMode(f)
	case "effort":
		d.claudeEffort(f)
	case "mcp-servers":
		d.servers(f)
		d.keepAs(f, profile.Servers, true)
	case "memory":
		d.inactive(f, f.key, true)
	case "hooks":
		d.report(profile.CodeInactiveGuard, f.at, f.written, "hooks of this dialect are kept and do not run: the profile is not restricted by them", "write them in the native form in a roster profile")
		d.keepAs(f, f.key, true)
	case "context":
		d.report(profile.CodeUnknownKey, f.at, f.written, fmt.Sprintf("%s is not a key of agents; it is kept and has no effect", f.written), "")
		d.keepAs(f, f.written, false)
	case "provider":
		if !isLauncher(f.node) {
			return false
		}
		d.report(profile.CodeUnknownKey, f.at, f.written, fmt.Sprintf("%q is a program, not a provider of models; it is kept and has no effect", shorten(deref(f.node).Value)), "")
		d.keepAs(f, f.written, false)
	default:
		return false
	}
	return true
}

// claudeModes are Claude's permission modes and ours.
func claudeModes() map[string]string {
	return map[string]string{
		"default": "default", "plan": "plan", "acceptEdits": "accept-edits",
		"dontAsk": "dont-ask", "bypassPermissions": "bypass",
	}
}

// claudeMode reads the permission mode. What has no word among ours is kept as
// it is.
func (d *decoder) claudeMode(f field) {
	n := deref(f.node)
	if ours, ok := claudeModes()[n.Value]; ok && n.Kind == yaml.ScalarNode {
		d.p.PermissionMode = set(ours, f)
		return
	}
	d.report(profile.CodeInactiveGuard, f.at, f.written, fmt.Sprintf("this version does not act on %s: the profile is not restricted by it", f.written), "")
	d.keepAs(f, f.key, true)
}

// claudeEffort reads the effort as the level of thinking. Levels that have no
// counterpart are kept.
func (d *decoder) claudeEffort(f field) {
	switch n := deref(f.node); n.Value {
	case "low", "medium", "high":
		if !d.doc.has("thinking") {
			d.p.Thinking = d.text(f)
			return
		}
	}
	d.inactive(f, f.key, true)
}

func decodeClaude(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := claudeGrammar().decode(f)
	if !d.doc.broken {
		d.wantDescription()
		d.wantPrompt()
	}
	return d.done()
}

func lastClaude(d *decoder) {
	if no, ok := d.doc.find("disallowed-tools"); ok {
		d.p.Permission = append(d.p.Permission, d.denials(no)...)
	}
}

// notInNames are what no name of a tool holds, in any of the systems.
const notInNames = " \t\r\n[]{}|\"'`"

// denials reads a list of tools as rules that deny them.
func (d *decoder) denials(f field) []permission.Rule {
	n := deref(f.node)
	items := []*yaml.Node{}
	switch {
	case isNull(n):
	case n.Kind == yaml.ScalarNode:
		for _, s := range splitTools(n.Value) {
			items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Value: s, Line: n.Line, Column: n.Column})
		}
	case n.Kind == yaml.SequenceNode:
		if _, ok := d.scalars(f, n); ok {
			items = n.Content
		}
	default:
		d.wrongType(f, n, "a list of tools")
	}
	if len(items) > maxTools {
		d.report(profile.CodeNotAllowed, d.at(n), f.written, fmt.Sprintf("%d tools are more than %d", len(items), maxTools), "")
		return nil
	}
	var rules []permission.Rule
	text := d.textItems(n)
	for _, item := range items {
		at := d.at(item)
		if n.Kind == yaml.ScalarNode {
			at = text.next(item.Value)
		}
		name, arg, narrowed := strings.Cut(strings.TrimSpace(deref(item).Value), "(")
		if name = strings.TrimSpace(name); name == "" {
			d.report(profile.CodeNotAllowed, at, f.written, "a tool without a name", "")
			continue
		}
		if strings.ContainsAny(name, notInNames) {
			d.report(profile.CodeNotAllowed, at, f.written, fmt.Sprintf("%q is no name of a tool: nothing would be denied by it", shorten(name)), "write the names alone, with commas between them")
			continue
		}
		names := ruleTools(name, permission.Deny)
		if _, known := toolNames(names[0]); !known && !d.known(names[0]) {
			d.report(profile.CodeUnknownTool, at, f.written, fmt.Sprintf("%q is not a built-in tool; it is kept", name), didYouMean(name, contract.Names()))
		}
		for _, tool := range names {
			subs := []string{"*"}
			if narrowed {
				subs = subjects(tool, strings.TrimSuffix(strings.TrimSpace(arg), ")"))
			}
			for _, s := range subs {
				rules = append(rules, permission.Rule{Tool: tool, Subject: s, Effect: permission.Deny, At: at})
			}
		}
	}
	return rules
}

func encodeClaude(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, claudeGrammar())
	e.extra = e.claudeExtra
	e.name()
	e.text("description", p.Description)
	e.model(claudeModel)
	e.tools()
	e.disallowed()
	e.turns("maxTurns")
	for theirs, ours := range claudeModes() {
		if m := e.p.PermissionMode; m.Set && m.V == ours {
			e.node("permissionMode", str(theirs))
			e.wrote["permission-mode"] = true
		}
	}
	if t := p.Thinking; t.Set && slices.Contains([]string{"low", "medium", "high"}, t.V) {
		e.node("effort", str(t.V))
		e.wrote["thinking"] = true
	}
	e.prompt()
	e.rest()
	return e.file(".claude/agents/" + p.Name + ".md")
}

// claudeExtra writes the native keys that Claude has under another name or in
// another form.
func (e *encoder) claudeExtra(x profile.Extra) bool {
	if !x.Known {
		return false
	}
	switch x.Key {
	case "skills":
		e.raw("skills", x.YAML)
	case "mcp-servers":
		e.raw("mcpServers", x.YAML)
	default:
		return false
	}
	return true
}

// claudeModel gives the model in Claude's words: one of its own, or an id of
// its maker.
func claudeModel(model string) string {
	if id, ok := strings.CutPrefix(model, "anthropic/"); ok {
		return id
	}
	if model == "inherit" || claudeWord(model) != "" || strings.HasPrefix(model, "claude-") {
		return model
	}
	return ""
}

// claudeWord gives the id that a word of Claude's stands for. It is written
// where a format takes no words.
func claudeWord(word string) string {
	switch word {
	case "opus":
		return "claude-opus-5-5"
	case "sonnet":
		return "claude-sonnet-5-5"
	case "haiku":
		return "claude-haiku-5-5"
	}
	return ""
}
