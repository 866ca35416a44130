package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Secret is a text that must not be shown: it prints, logs and encodes as
// "[secret]". The zero Secret is empty.
type Secret struct{ text *string } // a pointer, so that fmt cannot print it from inside another struct either

const hidden = "[secret]"

// NewSecret wraps a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text itself, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty says that there is no text.
func (s Secret) Empty() bool { return s.text == nil }

func (s Secret) String() string               { return hidden }
func (s Secret) GoString() string             { return hidden }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// Access is what a call needs beside the request.
type Access struct {
	Endpoint
	// Key is empty if the provider needs none; then no Authorization header is
	// sent.
	Key Secret
	// Values are the values of Endpoint.Headers, in their order, with the
	// environment's values filled in.
	Values []Secret
}

// Access reads the key, and the headers' values from the environment. It is the
// only place that reads a secret, and is called when a run begins. A provider of
// which keys are withheld is refused. A key that is nowhere is a *ModelError that
// names the variable and the alternatives.
func (c *Catalog) Access(r Resolved) (Access, error) {
	a := Access{Endpoint: r.Endpoint}
	if len(a.Withheld) > 0 {
		return Access{}, fmt.Errorf("model %s: %w", r.Model, a.Withheld[0].Why)
	}
	key, err := c.key(r)
	if err != nil {
		return Access{}, err
	}
	a.Key = NewSecret(key)
	for _, h := range r.Endpoint.Headers {
		value, missing := expand(h.Value, c.options.Getenv)
		if missing != "" {
			err := c.missingKey(r, missing)
			err.Message += fmt.Sprintf(", which the header %s names", h.Name)
			return Access{}, err
		}
		a.Values = append(a.Values, NewSecret(value))
	}
	return a, nil
}

// keySource is one of the places where a key may be.
type keySource int

const (
	noKey keySource = iota
	byVariable
	byCommand
	byStore
)

// keyFrom says where the key of a provider is read from: the variable if it is
// set, else the command, else the store. It reads no further than that.
func (c *Catalog) keyFrom(provider, env string, command []string) keySource {
	switch {
	case env != "" && strings.TrimSpace(c.options.Getenv(env)) != "":
		return byVariable
	case len(command) > 0 && c.options.RunKey != nil:
		return byCommand
	case c.options.Kept != nil && c.options.Kept.Has(provider):
		return byStore
	}
	return noKey
}

// KeyName says where the key of a provider is read from, for people; empty: it
// has none.
func (c *Catalog) KeyName(e Endpoint) string {
	switch c.keyFrom(e.Provider, e.KeyEnv, e.KeyCommand) {
	case byVariable:
		return e.KeyEnv
	case byCommand:
		return "the key-command of provider " + e.Provider
	case byStore:
		return c.options.Kept.Path(e.Provider)
	}
	return e.KeyEnv
}

// key reads the provider's key. Empty: the provider needs none. A command or a
// store that fails is an error: the next place is for another key.
func (c *Catalog) key(r Resolved) (key string, err error) {
	e := r.Endpoint
	fails := func(what, hint string, err error) error {
		return &ModelError{Kind: ErrMissingKey, Ref: r.Model.String(), At: e.At, Message: fmt.Sprintf("%s: %v", what, err), Hint: hint}
	}
	switch c.keyFrom(e.Provider, e.KeyEnv, e.KeyCommand) {
	case byVariable:
		return strings.TrimSpace(c.options.Getenv(e.KeyEnv)), nil
	case byCommand:
		if key, err = c.options.RunKey(e.KeyCommand); err != nil {
			err = fails("the key-command of provider "+e.Provider+" gives no key", "run it by hand", err)
		}
		return key, err
	case byStore:
		if key, err = c.options.Kept.Key(e.Provider, e.BaseURL); err != nil {
			err = fails("the kept key of provider "+e.Provider+" is not to be had", "", err)
		}
		return key, err
	}
	if e.KeyEnv == "" {
		return "", nil
	}
	return "", c.missingKey(r, e.KeyEnv)
}

// expand fills in ${NAME}; missing is the first variable that is not set.
func expand(text string, getenv func(string) string) (value, missing string) {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			b.WriteString(text)
			return b.String(), ""
		}
		v := getenv(name)
		if v == "" {
			return "", name
		}
		b.WriteString(before + v)
		text = after
	}
}

func (c *Catalog) missingKey(r Resolved, env string) *ModelError {
	return &ModelError{
		Kind: ErrMissingKey, Ref: r.Model.String(), At: r.Endpoint.At,
		Message: fmt.Sprintf("model %s needs the environment variable %s, which is not set", r.Model, env),
		Hint:    fmt.Sprintf("set %s, or store the key with roster models keys set %s, or %s", env, r.Endpoint.Provider, c.alternatives(r.Endpoint.Provider)),
	}
}

// alternatives says what else could be used than the provider named.
func (c *Catalog) alternatives(not string) string {
	t := c.table()
	var ready, keys []string
	for _, name := range t.names {
		p := t.providers[name]
		switch {
		case name == not || p.KeyEnv.V == "":
		case c.options.APIs != nil && !slices.Contains(c.options.APIs, p.API.V):
		case c.keyFrom(name, p.KeyEnv.V, p.KeyCommand.V) != noKey:
			ready = append(ready, name)
		default:
			keys = append(keys, fmt.Sprintf("%s (%s)", p.KeyEnv.V, name))
		}
	}
	var ways []string
	if len(ready) > 0 {
		ways = append(ways, "use a model of "+strings.Join(ready, " or ")+", whose key is there")
	}
	if len(keys) > 0 {
		other := "set "
		if not != "" { // the key of another provider does nothing for its models
			other = "name a model of another provider and set "
		}
		ways = append(ways, other+strings.Join(keys, " or "))
	}
	ways = append(ways, "use a local model with --model ollama/NAME", "try without a language model: --model builtin/demo")
	return strings.Join(ways, ", or ")
}

// DefaultOptions say what a default model may be chosen from.
type DefaultOptions struct {
	// APIs are the wire protocols that can be spoken; nil: all.
	APIs []string
	// Probe, if set, asks whether a local Ollama answers and returns the id of
	// a model that it has, or "". It may open a connection, so it is only
	// given where a run begins.
	Probe func() string
	// Where is where a model could have been named, for the error.
	Where string
}

// Default picks a model when none is named: of a provider whose key is in the
// environment, in the order of the snapshot; then of one whose key is kept; then
// of a local Ollama, if OLLAMA_HOST is set or the probe finds one. From says what
// it was chosen by, such as "$ANTHROPIC_API_KEY". The error is a *ModelError of
// ErrMissing.
func (c *Catalog) Default(o DefaultOptions) (r Resolved, from string, err error) {
	t := c.table()
	for _, by := range []keySource{byVariable, byStore} {
		for _, name := range t.names {
			p := t.providers[name]
			if p.defaultModel == "" || p.KeyEnv.V == "" || c.keyFrom(name, p.KeyEnv.V, p.KeyCommand.V) != by {
				continue
			}
			if o.APIs != nil && !slices.Contains(o.APIs, p.API.V) {
				continue
			}
			from = "$" + p.KeyEnv.V
			if by == byStore {
				from = c.options.Kept.Path(name)
			}
			r, err := c.Lookup(Ref{Provider: name, Text: p.defaultModel, Default: true})
			return r, from, err
		}
	}
	if id, from := c.localModel(t, o); id != "" {
		r, err := c.Lookup(Ref{Provider: ollama, Text: id, Default: true})
		return r, from, err
	}
	return Resolved{}, "", c.Missing(o.Where)
}

const (
	ollama     = "ollama"
	ollamaHost = "OLLAMA_HOST"
)

func (c *Catalog) localModel(t *table, o DefaultOptions) (id, from string) {
	p := t.providers[ollama]
	if p == nil {
		return "", ""
	}
	if o.Probe != nil {
		if id := o.Probe(); id != "" {
			return id, "the local Ollama"
		}
	}
	if c.options.Getenv(ollamaHost) != "" {
		return p.defaultModel, "$" + ollamaHost
	}
	return "", ""
}

// Missing is the error for when there is no model. where is where one could
// have been named, such as the profile's file.
func (c *Catalog) Missing(where string) *ModelError {
	where = cmp.Or(where, "the profile")
	return &ModelError{
		Kind:    ErrMissing,
		Message: fmt.Sprintf("no model: neither %s nor the workspace's defaults name one, and no key is in the environment", where),
		Hint:    "write model: provider/model-id in the profile, or under defaults in roster.yaml, or " + c.alternatives(""),
	}
}
