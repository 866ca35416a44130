package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// Ref is a model reference as somebody wrote it.
type Ref struct {
	// Text is `provider/model-id`, `provider:model-id`, an id, an alias or
	// `script:FILE`. With Provider set it is the id alone.
	Text     string
	Provider string
	// Inherited says that Provider was set further down than Text. It then
	// gives way to a text that names a known provider or an alias itself, so
	// that `--model builtin/demo` works on a profile that sets a provider.
	Inherited bool
	// At is where Text is written.
	At source.Origin
	// Default says that it is the runtime's default and not an agent's own
	// choice; errors say so.
	Default bool
}

// Resolved is what a reference stands for.
type Resolved struct {
	Model    spec.Model
	Endpoint Endpoint
	// Variant is the settings that the reference asks for by name; nil: none.
	Variant *Variant
	// Reported is when the server said that it has the model; zero: it is
	// declared, or nobody knows.
	Reported time.Time
	// Note is a remark on the model, such as the day on which it retires.
	Note string

	provider *provider
	entry    *entry
}

// Endpoint says how a provider is reached. It holds no secret.
type Endpoint struct {
	Provider string
	API      string
	// BaseURL is an http(s) URL, or for APIScript the path of a file.
	BaseURL string
	KeyEnv  string
	Headers []Header
	// KeyCommand gives the key when KeyEnv is not set.
	KeyCommand []string
	// Timeout is for the first byte and between bytes; 0: the adapter's default.
	Timeout time.Duration
	// Quirks is in what a server of APIOpenAIChat differs from others.
	Quirks quirk.Set
	// At is where the provider is declared.
	At source.Origin
	// Withheld are the keys without which it is not to be used.
	Withheld []Withheld
}

// scriptPrefix marks a reference to a file of scripted replies.
const scriptPrefix = "script:"

// maxAliases bounds a chain of aliases.
const maxAliases = 8

// Provider gives a provider without a model, to ask its server. The error is a
// *ModelError.
func (c *Catalog) Provider(name string) (Resolved, error) {
	t := c.table()
	p := t.providers[name]
	if p == nil {
		return Resolved{}, t.unknownProvider(Ref{Text: name}, name)
	}
	if err := p.reachable(Ref{Text: name}); err != nil {
		return Resolved{}, err
	}
	return Resolved{Model: spec.Model{Provider: name}, Endpoint: p.endpoint(""), provider: p, entry: &entry{Model: Model{At: p.At}}}, nil
}

// Lookup finds what a reference stands for. The error is a *ModelError.
func (c *Catalog) Lookup(ref Ref) (Resolved, error) {
	return c.table().lookup(ref, 0)
}

func (t *table) lookup(ref Ref, aliases int) (Resolved, error) {
	if ref.Inherited && t.namesProvider(ref) {
		ref.Provider = ""
	}
	if file, ok := strings.CutPrefix(ref.Text, scriptPrefix); ok && (ref.Provider == "" || ref.Provider == APIScript) {
		ref.Provider, ref.Text = APIScript, file
	}
	if err := t.check(ref); err != nil {
		return Resolved{}, err
	}
	if ref.Provider != "" {
		return t.resolve(ref, ref.Provider, strings.TrimPrefix(ref.Text, ref.Provider+"/"))
	}
	if name, id, ok := strings.Cut(ref.Text, "/"); ok {
		return t.resolve(ref, name, id)
	}
	if name, id, ok := strings.Cut(ref.Text, ":"); ok && t.providers[name] != nil {
		return t.resolve(ref, name, id)
	}
	return t.bare(ref, aliases)
}

// namesProvider says whether a text stands for itself, without the provider
// that was set further down.
func (t *table) namesProvider(ref Ref) bool {
	if p := t.providers[ref.Provider]; p != nil && p.models[ref.Text] != nil {
		return false
	}
	alias, _, _ := cutVariant(ref.Text)
	if t.aliases[ref.Text].Name != "" || t.aliases[alias].Name != "" {
		return true
	}
	name, _, ok := strings.Cut(ref.Text, "/")
	return ok && t.providers[name] != nil || strings.HasPrefix(ref.Text, scriptPrefix)
}

// check refuses texts that no reference can have.
func (t *table) check(ref Ref) error {
	if strings.TrimSpace(ref.Text) == "" {
		return malformed(ref, "is empty")
	}
	for _, r := range ref.Text {
		if unicode.IsControl(r) || (unicode.IsSpace(r) && ref.Provider != APIScript) {
			return malformed(ref, "has a blank or a control character in it")
		}
	}
	return nil
}

// bare resolves a text that names no provider: an alias of the user's, an id
// that only one provider has, or an alias of the snapshot's.
func (t *table) bare(ref Ref, aliases int) (Resolved, error) {
	alias, named := t.aliases[ref.Text]
	if named && alias.At.Layer != source.Builtin {
		return t.follow(ref, alias, aliases)
	}
	owners := t.owners(ref.Text)
	if id, variant, ok := cutVariant(ref.Text); ok && !named && len(owners) == 0 {
		if target, is := t.aliases[id]; is {
			target.Target += "#" + variant
			return t.follow(ref, target, aliases)
		}
		owners = t.owners(id)
	}
	switch {
	case len(owners) == 1:
		return t.resolve(ref, owners[0], ref.Text)
	case len(owners) > 1:
		err := malformed(ref, "is offered by "+strings.Join(owners, " and "))
		err.Hint = fmt.Sprintf("write %s/%s, or set provider", owners[0], ref.Text)
		return Resolved{}, err
	case named:
		return t.follow(ref, alias, aliases)
	}
	err := malformed(ref, "names no provider, and no alias or single model is called that")
	err.Nearest = profile.Nearest(ref.Text, t.bareNames(), 3)
	err.Hint = "write provider/model-id, or set provider: to use it as that provider's model id"
	if len(err.Nearest) > 0 {
		err.Hint += "; did you mean " + strings.Join(err.Nearest, ", ") + "?"
	}
	return Resolved{}, err
}

// owners lists the providers that have a model of that id. Those whose servers
// say so count only where nobody has declared it, so that no answer of a server
// makes a reference mean something else.
func (t *table) owners(id string) (names []string) {
	var reported []string
	for _, name := range t.names {
		switch m := t.providers[name].models[id]; {
		case m == nil:
		case m.reported.IsZero():
			names = append(names, name)
		default:
			reported = append(reported, name)
		}
	}
	if len(names) == 0 {
		return reported
	}
	return names
}

// cutVariant parts a text at its last #.
func cutVariant(text string) (id, variant string, ok bool) {
	at := strings.LastIndexByte(text, '#')
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

func (t *table) follow(ref Ref, alias Alias, aliases int) (Resolved, error) {
	if aliases == maxAliases {
		err := malformed(ref, "is an alias that leads back to itself")
		err.Hint = fmt.Sprintf("let the alias %s at %s name a provider/model-id", alias.Name, alias.At)
		return Resolved{}, err
	}
	target := Ref{Text: alias.Target, At: ref.At, Default: ref.Default}
	if alias.At.Line > 0 {
		target.At = alias.At
	}
	return t.lookup(target, aliases+1)
}

func (t *table) bareNames() []string {
	var names []string
	for _, p := range t.providers {
		names = append(names, p.ids...)
	}
	for name := range t.aliases {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *table) resolve(ref Ref, name, id string) (Resolved, error) {
	if name == "" || id == "" {
		return Resolved{}, malformed(ref, "lacks the part before or after the separator")
	}
	p := t.providers[name]
	if p == nil {
		return Resolved{}, t.unknownProvider(ref, name)
	}
	if !p.API.Set {
		return Resolved{}, &ModelError{
			Kind: ErrUnknownProvider, Ref: ref.Text, At: p.At,
			Message: fmt.Sprintf("provider %q has no api", name),
			Hint:    fmt.Sprintf("write providers.%s.api: one of %s", name, strings.Join(APIs(), ", ")),
		}
	}
	m, variant := p.models[id], (*Variant)(nil)
	if m == nil {
		var err error
		if m, variant, err = t.variant(ref, p, id); err != nil {
			return Resolved{}, err
		}
	}
	switch {
	case variant != nil:
		id = m.ID
	case m == nil && !p.anyModel:
		return Resolved{}, t.unknownModel(ref, p, id)
	}
	if err := p.reachable(ref); err != nil {
		return Resolved{}, err
	}
	if m == nil {
		m = &entry{Model: Model{At: p.At}}
	}
	return Resolved{
		Model: p.spec(id), Endpoint: p.endpoint(id), Variant: variant,
		Reported: m.reported, Note: m.note, provider: p, entry: m,
	}, nil
}

// variant finds what `model-id#NAME` stands for: a declared variant of a declared
// model. Of a model that has none the whole text is the id.
func (t *table) variant(ref Ref, p *provider, text string) (*entry, *Variant, error) {
	id, name, ok := cutVariant(text)
	m := p.models[id]
	if !ok || m == nil || len(m.Variants) == 0 {
		return nil, nil, nil
	}
	if v := m.variant(name); v != nil {
		return m, v, nil
	}
	known := m.variants()
	return nil, nil, &ModelError{
		Kind: ErrUnknownModel, Ref: ref.Text, At: ref.At,
		Message: fmt.Sprintf("model %s/%s has no variant %q", p.Name, id, name),
		Hint:    "its variants are " + strings.Join(known, ", "), Nearest: profile.Nearest(name, known, 3),
	}
}

// reachable refuses a provider that does not say where it is.
func (p *provider) reachable(ref Ref) error {
	if p.BaseURL.V != "" || len(p.Withheld) > 0 || p.API.V == APIBuiltin || p.builtIn && p.API.V == APIScript {
		return nil
	}
	return &ModelError{
		Kind: ErrUnknownProvider, Ref: ref.Text, At: p.At,
		Message: fmt.Sprintf("provider %q has no base-url", p.Name),
		Hint:    fmt.Sprintf("write providers.%s.base-url in your own roster.yaml, or in the workspace's if it is on this machine", p.Name),
	}
}

func (p *provider) endpoint(id string) Endpoint {
	e := Endpoint{
		Provider: p.Name, API: p.API.V, BaseURL: p.BaseURL.V, KeyEnv: p.KeyEnv.V,
		Headers: p.Headers.V, Timeout: p.Timeout.V, At: p.At, Withheld: p.Withheld,
		KeyCommand: p.KeyCommand.V,
	}
	if e.API == APIOpenAIChat {
		e.Quirks = p.quirks()
	}
	if e.API == APIScript && p.builtIn {
		e.BaseURL = id
	}
	return e
}

// quirks are those that are declared, over what is known of the address.
func (p *provider) quirks() quirk.Set {
	own := quirk.Set{}
	for k, v := range p.Quirks {
		own[k] = v.V
	}
	return quirk.Of(p.BaseURL.V).With(own)
}

func malformed(ref Ref, why string) *ModelError {
	whose := "agent override"
	if ref.Default {
		whose = "runtime default"
	}
	return &ModelError{
		Kind: ErrMalformed, Ref: ref.Text, At: ref.At,
		Message: fmt.Sprintf("malformed model identifier %q in %s: it %s", ref.Text, whose, why),
		Hint:    "write provider/model-id",
	}
}

func (t *table) unknownProvider(ref Ref, name string) error {
	err := &ModelError{
		Kind: ErrUnknownProvider, Ref: ref.Text, At: ref.At,
		Message: fmt.Sprintf("unknown provider %q", name),
		Nearest: profile.Nearest(name, t.names, 3),
	}
	known := slices.Sorted(slices.Values(t.names))
	err.Hint = fmt.Sprintf("known are %s; declare others under providers in roster.yaml", strings.Join(known, ", "))
	if len(err.Nearest) > 0 {
		err.Hint = fmt.Sprintf("did you mean %s? %s", strings.Join(err.Nearest, ", "), err.Hint)
	}
	return err
}

func (t *table) unknownModel(ref Ref, p *provider, id string) error {
	err := &ModelError{
		Kind: ErrUnknownModel, Ref: ref.Text, At: ref.At,
		Message: fmt.Sprintf("provider %q has no model %q", p.Name, id),
		Nearest: profile.Nearest(id, p.ids, 3),
	}
	var hints []string
	if len(err.Nearest) > 0 {
		hints = append(hints, "did you mean "+strings.Join(err.Nearest, ", ")+"?")
	}
	if ref.Provider != "" {
		hints = append(hints, t.otherProvider(p.Name, id))
	}
	hints = append(hints, fmt.Sprintf("a model of your own is declared under providers.%s.models in roster.yaml", p.Name))
	err.Hint = strings.Join(hints, "; ")
	return err
}

// otherProvider suggests another provider for an id that the one that is set
// does not have.
func (t *table) otherProvider(set, id string) string {
	best := ""
	for _, name := range t.names {
		if like := profile.Nearest(id, t.providers[name].ids, 1); len(like) > 0 && name != set {
			best = fmt.Sprintf(", or write provider: %s for its model %s", name, like[0])
			break
		}
	}
	return fmt.Sprintf("provider: %s is set, so the whole text is its model id: check provider:%s", set, best)
}
