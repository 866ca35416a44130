package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// grammar is what one dialect has of its own, beside the native keys.
type grammar struct {
	dialect string
	// own decodes a key that the dialect reads in its own way, or gives false.
	own func(d *decoder, f field) bool
	// last reads what goes behind all other rules.
	last func(d *decoder)
	// keeps says which further keys the dialect knows without acting on them.
	keeps []string
	// twins makes each rule for edit decide write as well.
	twins bool
	// alias gives our names for a tool name that means something else in the
	// dialect than in the table of names; spell is the way back for ours.
	alias func(tool string) []string
	spell func(tool string) string
	// text makes the tool list one text with commas.
	text bool
	// listOnly says that the dialect has no rules, only the tool list.
	listOnly bool
	// grants makes each listed tool an allow rule at its line.
	grants bool
}

// decode reads the fields of a document by the native keys and the grammar.
func (g grammar) decode(f *File) *decoder {
	d := &decoder{file: f.Name, doc: f.document(), opts: f.Options, alias: g.alias, p: &profile.Profile{Dialect: g.dialect, File: f.Name}}
	d.ds = append(d.ds, d.doc.diags...)
	d.claimName(f)
	if d.doc.broken && !d.doc.partial {
		return d
	}
	d.p.Body = string(d.doc.front.Body)
	d.p.BodyAt = source.Origin{Layer: source.Profile, File: f.Name, Line: d.doc.front.BodyLine, Column: 1}
	g.read(d)
	return d
}

// read reads the fields of the decoder's document.
func (g grammar) read(d *decoder) {
	d.topLevelUnique()
	for i, fd := range d.doc.fields {
		if fd.unread {
			continue
		}
		if (g.own == nil || !g.own(d, fd)) && !d.identity(fd) && !d.running(fd) && !d.acting(g, fd) && !d.nested(fd) {
			d.keep(g, i, fd)
		}
	}
	d.p.Permission = append(d.toolRules, d.p.Permission...)
	if g.last != nil && !d.doc.broken {
		g.last(d)
	}
	d.restrict(g)
}

// done gives what was decoded, with its revision.
func (d *decoder) done() ([]*profile.Profile, []profile.Diagnostic) {
	if !d.doc.broken {
		d.p.Seal()
	}
	return []*profile.Profile{d.p}, d.ds
}

func (d *decoder) topLevelUnique() {
	first := make(map[string]int, len(d.doc.fields))
	for _, f := range d.doc.fields {
		if line, twice := first[f.key]; twice {
			d.report(profile.CodeDuplicateKey, f.at, f.written, fmt.Sprintf("%q stands twice, first in line %d", f.written, line), "keep one of the two")
			continue
		}
		first[f.key] = f.at.Line
	}
}

func (d *decoder) identity(f field) bool {
	p := d.p
	switch f.key {
	case "name": // read by claimName
	case "title":
		p.Title = d.text(f)
	case "description":
		p.Description = d.text(f)
	case "summary":
		p.Summary = d.text(f)
	case "details":
		d.details(f)
	case "mode":
		p.Mode = d.oneOf(f, "all", "primary", "subagent")
	case "hidden":
		p.Hidden = d.flag(f)
	case "extends":
		d.extends(f)
	default:
		return false
	}
	return true
}

func (d *decoder) running(f field) bool {
	p := d.p
	switch f.key {
	case "provider":
		p.Provider = d.notBlank(f, profile.CodeEmptyProvider)
	case "model":
		p.Model = d.notBlank(f, profile.CodeEmptyModel)
	case "temperature":
		p.Temperature = d.number(f, 0, 2)
	case "top-p":
		p.TopP = d.number(f, 0, 1)
	case "max-tokens":
		p.MaxTokens = asInt(d.count(f, 1))
	case "thinking":
		p.Thinking = d.oneOf(f, "off", "minimal", "low", "medium", "high")
		d.notYet(f, p.Thinking.Set)
	case "system-prompt":
		p.SystemPrompt = d.text(f)
	case "subagent-prompt":
		p.SubagentPrompt = d.text(f)
	case "cache":
		p.Cache = d.oneOf(f, "auto", "manual", "off")
	case "workspace":
		p.Workspace = d.text(f)
	case "steering":
		p.Steering = d.oneOf(f, "one-at-a-time", "all")
	case "follow-up":
		p.FollowUp = d.oneOf(f, "one-at-a-time", "all")
	default:
		return false
	}
	return true
}

func (d *decoder) acting(g grammar, f field) bool {
	switch f.key {
	case "tools":
		d.tools(g, f)
	case "+tools":
		d.addTools(g, f)
	case "tool-settings":
		d.toolSettings(f)
	case "permission":
		d.permission(g, f)
	case "default-permission":
		if e, ok := d.effect(f, f.node); ok {
			d.p.DefaultPermission = set(e, f)
		}
	case "permission-mode":
		d.p.PermissionMode = d.oneOf(f, "default", "plan", "accept-edits", "dont-ask", "bypass")
	default:
		return false
	}
	return true
}

func (d *decoder) nested(f field) bool {
	switch f.key {
	case "limits":
		d.limits(f)
	case "retry":
		d.retry(f)
	case "tool-execution":
		d.toolExecution(f)
	case "subagents":
		d.subagents(f)
	default:
		return false
	}
	return true
}

// notBlank reads the provider or the model: present and blank is an error of
// its own name.
func (d *decoder) notBlank(f field, code string) profile.Value[string] {
	if blank(f.node) {
		d.report(code, f.at, f.written, fmt.Sprintf("%s is blank", f.written), fmt.Sprintf("write %s: …, or leave the key out", f.written))
		return profile.Value[string]{}
	}
	v := d.text(f)
	v.V = strings.TrimSpace(v.V)
	return v
}

// claimName takes the name from its key, else from the path. A text that is no
// name becomes a slug, and the title.
func (d *decoder) claimName(file *File) {
	p := d.p
	f, ok := d.doc.find("name")
	if !ok {
		fromPath, title := nameOfPath(file.Path)
		p.Name, p.NameAt = fromPath, source.Origin{Layer: source.Profile, File: d.file}
		if title != "" && !d.doc.has("title") {
			p.Title = profile.Value[string]{V: title, Set: true, At: p.NameAt}
		}
		if p.Name == "" && !d.doc.broken {
			d.report(profile.CodeName, p.NameAt, "name", "the profile has no name", "write name: …")
		}
		if title != "" && !d.doc.broken {
			d.report(profile.CodeSlug, p.NameAt, "name", fmt.Sprintf("the path has characters that no name may hold; the name is %q", p.Name), "write name: … for another one, of ASCII letters, digits, '.', '_', '-'")
		}
		return
	}
	text := strings.TrimSpace(d.text(f).V)
	if profile.CheckName(text) == nil {
		p.Name, p.NameAt = text, f.at
		return
	}
	fromPath, _ := nameOfPath(file.Path)
	p.Name, p.NameAt = fromPath, f.at // what the file claims if its own name is refused
	if text == "" {
		d.report(profile.CodeName, f.at, f.written, "the name is empty", "write a name, or leave the key out to take it from the path")
		return
	}
	slug, err := profile.Slug(text)
	if err != nil {
		d.report(profile.CodeName, d.at(f.node), f.written, strings.TrimSuffix(err.Error(), ": "+profile.SchemaValidation.Error()), "names are letters, digits, '.', '_', '-', in segments joined by '/'")
		return
	}
	p.Name = cmp.Or(slug, fromPath)
	if p.Name == "" {
		d.report(profile.CodeName, d.at(f.node), f.written, fmt.Sprintf("the name %q has no letter or digit to make a name of", text), "write a name of ASCII letters and put this text under title")
		return
	}
	if !d.doc.has("title") {
		p.Title = profile.Value[string]{V: text, Set: true, At: f.at}
	}
	d.report(profile.CodeSlug, d.at(f.node), f.written, fmt.Sprintf("%q is not a name; the name is %q", text, p.Name), "")
}
