package roster

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// redact hides what is known to be secret in a text: the providers' keys, and
// what stands in variables of the environment whose names say so. It is called
// once, where a text comes in, so that neither the log nor a model gets it.
func (a *App) redact(text string) string {
	if len(text) < secret.MinLength {
		return text
	}
	return secret.Hide(text, a.secrets())
}

// secrets reads the values anew, so that a key that was exchanged counts at once.
func (a *App) secrets() []string { return a.valuesOf(a.keyVariables()) }

// redactLog hides the same in what is logged. It asks for nothing that may be
// locked, or log, by who logs.
func (a *App) redactLog(text string) string {
	s := a.setup.Load()
	if s == nil || len(text) < secret.MinLength {
		return text
	}
	return secret.Hide(text, a.valuesOf(s.variables))
}

// valuesOf gives what is secret in the environment, by the names of variables that
// hold keys and by names that say so, and the keys that were read so far.
func (a *App) valuesOf(variables []string) []string {
	var values []string
	add := func(name string) {
		if v := strings.TrimSpace(a.opts.Getenv(name)); len(v) >= secret.MinLength {
			values = append(values, v)
		}
	}
	for _, name := range variables {
		add(name)
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); secret.Name(name) {
			add(name)
		}
	}
	for _, key := range slices.Concat(a.keyCommands.keys(), a.keys.Secrets(), a.servers.hidden.list()) {
		if len(key) >= secret.MinLength {
			values = append(values, key)
		}
	}
	return values
}

// redactError does the same for what a provider said.
func (a *App) redactError(err error) error {
	e := model.AsError(err)
	if e == nil {
		return err
	}
	clean := *e
	clean.Message, clean.Err = a.redact(e.Message), nil
	if e.Message == "" && e.Err != nil {
		clean.Message = a.redact(e.Err.Error())
	}
	return &clean
}

// redactKeys does the same for the texts of profile keys.
func (a *App) redactKeys(keys map[string]string) map[string]string {
	keys = maps.Clone(keys)
	for key, text := range keys {
		keys[key] = a.redact(text)
	}
	return keys
}

// redactParts does the same for the texts of a message.
func (a *App) redactParts(parts []message.Part) []message.Part {
	for i, p := range parts {
		switch p := p.(type) {
		case message.Text:
			p.Text = a.redact(p.Text)
			parts[i] = p
		case message.ToolCall:
			if clean := a.redact(string(p.Input)); clean != string(p.Input) {
				p.Input, p.Invalid = []byte(clean), p.Invalid || !json.Valid([]byte(clean))
				parts[i] = p
			}
		case message.ToolResult:
			p.Parts = a.redactParts(utf8Parts(p.Parts))
			parts[i] = p
		}
	}
	return parts
}

// readKeys reads the keys that a spec needs, and hides them in its prompt too. What
// cannot be read is said where the model is made.
func (a *App) readKeys(s *spec.Spec) {
	before := len(a.secrets())
	for _, m := range append([]spec.Model{s.Model}, s.Fallbacks...) {
		if found, err := a.found(m); err == nil && a.opts.Models[m.String()] == nil {
			_, _ = a.Models().Access(found)
		}
	}
	if len(a.secrets()) != before {
		a.redactPrompt(s)
	}
}

// redactPrompt does it for the layers of a prompt, apart from the one that
// variables were filled in on purpose.
func (a *App) redactPrompt(s *spec.Spec) {
	for i := range s.Prompt {
		if l := &s.Prompt[i]; l.Name != spec.Profile || s.Origins["system-prompt"].Written == "" {
			l.Text = a.redact(l.Text)
		}
	}
}

// redactCommand does the same for what was called.
func (a *App) redactCommand(c *session.Command) *session.Command {
	if c == nil {
		return nil
	}
	clean := *c
	clean.Arguments = a.redact(c.Arguments)
	return &clean
}
