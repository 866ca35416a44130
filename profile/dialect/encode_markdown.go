package dialect

import (
	"regexp"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// own says whether the profile comes from a file of this dialect. Such a file
// keeps whatever it said, also in native keys; in another one they would mean
// nothing to the program that the dialect belongs to.
func (e *encoder) own() bool { return e.p.Dialect == e.g.dialect }

// rest writes every key that is left, or says that it is lost.
func (e *encoder) rest() {
	if e.own() {
		e.all()
		return
	}
	e.extras()
}

// raw writes a value that was kept as it was written.
func (e *encoder) raw(key string, value []byte) {
	e.wrote[kebab(key)] = true
	e.buf.WriteString(keyText(key) + ":")
	e.buf.Write(value)
	e.buf.WriteByte('\n')
}

// turns writes the limit of turns under the dialect's name for it. No limit has
// no number.
func (e *encoder) turns(key string) {
	if e.p.Limits.Turns.V > 0 {
		e.integer(key, e.p.Limits.Turns)
		e.wrote["limits.turns"] = true
	}
}

// reference is a prompt that is nothing but a reference to another.
var reference = regexp.MustCompile(`^\{\{\s*[A-Za-z][A-Za-z0-9_.-]*\s*\}\}$`)

// prompt puts the system prompt where the dialect has its prompt: in the body.
// A file or a reference to a prompt has no place there, and the body, which was
// documentation, must not become the prompt.
func (e *encoder) prompt() {
	s := e.p.SystemPrompt
	if !s.Set || e.own() {
		return
	}
	text := strings.TrimSpace(s.V)
	if strings.HasPrefix(text, "file:") && !strings.Contains(text, "\n") || reference.MatchString(text) {
		e.lose("system-prompt", s.At, "write the prompt's text into the profile, then convert it")
		text = ""
	} else {
		text = s.V
	}
	e.wrote["system-prompt"] = true
	if strings.TrimSpace(e.p.Body) != "" {
		e.lose("body", e.p.BodyAt, "the body is documentation, and the dialect has its prompt there")
	}
	e.body = &text
}

// fullModel gives provider and model as one text, which says the same. It is
// empty when there is none.
func fullModel(p *profile.Profile) string {
	if p.Provider.Set && strings.Contains(p.Provider.V, "/") {
		return ""
	}
	if !p.Model.Set || !p.Provider.Set || strings.HasPrefix(p.Model.V, p.Provider.V+"/") {
		return p.Model.V
	}
	return p.Provider.V + "/" + p.Model.V
}

// model writes the model in the words of the dialect, which theirs gives; it
// leaves out what they have no word for.
func (e *encoder) model(theirs func(model string) string) {
	if e.own() {
		e.text("model", e.p.Model)
		return
	}
	if !e.p.Model.Set {
		return
	}
	full := fullModel(e.p)
	word := theirs(full)
	if word == "" {
		e.lose("model", e.p.Model.At, "the dialect has no name for it; without one it takes its default")
		e.wrote["model"], e.wrote["provider"] = true, true
		return
	}
	e.node("model", str(word))
	e.wrote["provider"] = true
	if word != full {
		e.lose("model", e.p.Model.At, "it was written as "+word)
	}
}

// opencodeModel writes provider/model, which is all that OpenCode takes.
func (e *encoder) opencodeModel() {
	if e.own() {
		e.text("model", e.p.Model)
		return
	}
	e.model(func(full string) string {
		if id := claudeWord(full); id != "" {
			return "anthropic/" + id
		}
		switch {
		case full == "inherit":
			return "" // what OpenCode does without a model
		case strings.Contains(full, "/"):
			return full
		case strings.HasPrefix(full, "claude-"):
			return "anthropic/" + full
		}
		return ""
	})
}

// providerAndModel writes both, as knots need them.
func (e *encoder) providerAndModel() {
	p := e.p
	provider, id, ok := strings.Cut(p.Model.V, "/")
	switch word := claudeWord(p.Model.V); {
	case p.Provider.Set || e.own():
	case word != "":
		e.lose("model", p.Model.At, "it was written as "+word)
		provider, id, ok = "anthropic", word, true
	case strings.HasPrefix(p.Model.V, "claude-"):
		e.lose("model", p.Model.At, "its provider was taken to be anthropic")
		provider, id, ok = "anthropic", p.Model.V, true
	}
	if p.Provider.Set || e.own() || !ok || provider == "" || id == "" {
		e.text("provider", p.Provider)
		e.text("model", p.Model)
		return
	}
	e.node("provider", str(provider))
	e.node("model", str(id))
}
