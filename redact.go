package roster

import (
	"os"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/message"
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
func (a *App) secrets() []string {
	var values []string
	add := func(name string) {
		if v := strings.TrimSpace(a.opts.Getenv(name)); len(v) >= secret.MinLength {
			values = append(values, v)
		}
	}
	for _, name := range a.Models().KeyVariables() {
		add(name)
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); secret.Name(name) {
			add(name)
		}
	}
	for _, key := range slices.Concat(a.keyCommands.keys(), a.keys.Secrets()) {
		if len(key) >= secret.MinLength {
			values = append(values, key)
		}
	}
	return values
}

// redactParts does the same for the texts of a message.
func (a *App) redactParts(parts []message.Part) []message.Part {
	for i, p := range parts {
		if t, ok := p.(message.Text); ok {
			t.Text = a.redact(t.Text)
			parts[i] = t
		}
	}
	return parts
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
