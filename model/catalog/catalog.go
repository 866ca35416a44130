// Package catalog knows models: which providers there are, what their models
// hold and cost, what people call them, and where the keys are. It is an
// embedded snapshot with the user's own declarations over it. Nothing here
// opens a connection; only Access reads a secret.
package catalog

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// The kinds of wire protocol that a provider may speak.
const (
	APIOpenAIChat      = "openai-chat"
	APIOpenAIResponses = "openai-responses"
	APIAnthropic       = "anthropic"
	APIGemini          = "gemini"
	APIScript          = "script"
	APIBuiltin         = "builtin"
)

// APIs lists the kinds of wire protocol.
func APIs() []string {
	return []string{APIOpenAIChat, APIOpenAIResponses, APIAnthropic, APIGemini, APIScript, APIBuiltin}
}

// Provider is a provider as declared. A field that is not set keeps what a
// declaration before it says.
type Provider struct {
	Name    string
	At      source.Origin
	API     profile.Value[string]
	BaseURL profile.Value[string]
	KeyEnv  profile.Value[string]        // the variable that holds the key
	Headers profile.Value[[]Header]      // sent with every call
	Timeout profile.Value[time.Duration] // for the first byte, and between bytes
	Models  []Model
	// KeyCommand is the words of a command that prints the key, for when the
	// variable is not set.
	KeyCommand profile.Value[[]string]
	// Quirks is in what it differs from other servers of APIOpenAIChat, over what
	// is known of its address.
	Quirks map[quirk.Key]profile.Value[string]
	// Withheld are keys of the declaration that have no effect, because nobody
	// has trusted who wrote them, and without which the provider is not what
	// was meant: Access refuses it.
	Withheld []Withheld
}

// Withheld is a key without effect, and why.
type Withheld struct {
	Key string
	At  source.Origin
	Why error
}

// Header is one HTTP header. ${VAR} in its value is the environment's, and is
// read only when a call is made.
type Header struct{ Name, Value string }

// Model is a model as declared.
type Model struct {
	ID            string
	At            source.Origin
	ContextWindow profile.Value[int] // tokens
	MaxOutput     profile.Value[int] // tokens
	// Prices are in US dollars per million tokens.
	Input, Output, CacheRead, CacheWrite profile.Value[float64]
	// Thinking are the levels of thinking that it has, of spec.Levels.
	Thinking profile.Value[[]string]
	Variants []Variant
}

// Variant is settings of a model that have a name: `model-id#NAME` asks the model
// with them. What is not set is left as it is.
type Variant struct {
	Name        string
	At          source.Origin
	Temperature profile.Value[float64]
	TopP        profile.Value[float64]
	MaxTokens   profile.Value[int]
	Thinking    profile.Value[string]
}

// Alias is a short name for a model reference.
type Alias struct {
	Name, Target string
	At           source.Origin
}

// Options are what a Catalog is made of beside the snapshot.
type Options struct {
	// Providers and Aliases are the user's declarations; later ones win, the
	// providers field by field.
	Providers []Provider
	Aliases   []Alias
	// Reports gives what servers said that they have, when the catalog is first
	// used; nil: nothing.
	Reports func() []Report
	// Getenv reads the environment; nil: it is empty.
	Getenv func(string) string
	// RunKey runs the command that prints a key, and gives the key; nil: no
	// command is run, and a key that only one could give is missing.
	RunKey func(words []string) (string, error)
	// Kept is where keys are kept by the names of their providers; nil: nowhere.
	Kept KeyStore
	// APIs are the wire protocols that can be spoken; nil: all. Errors do not
	// suggest the key of a provider that cannot be.
	APIs []string
}

// KeyStore keeps keys. Has opens nothing. Key gives the key of a provider if it is
// for the server at that address, and Path says where it is.
type KeyStore interface {
	Has(provider string) bool
	Key(provider, address string) (string, error)
	Path(provider string) string
}

// Catalog is immutable and safe for concurrent use. The snapshot is read on
// first use.
type Catalog struct {
	options Options
	table   func() *table
}

// table is the snapshot with the declarations over it.
type table struct {
	providers map[string]*provider
	names     []string // in the order of the snapshot, then of declaration
	aliases   map[string]Alias
}

type provider struct {
	Provider
	anyModel     bool
	defaultModel string
	builtIn      bool
	models       map[string]*entry
	ids          []string
}

type entry struct {
	Model
	noSampling bool
	note       string
	reported   time.Time // zero: somebody has declared it
}

// New returns the catalog. It reads nothing yet.
func New(o Options) *Catalog {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	c := &Catalog{options: o}
	c.table = sync.OnceValue(func() *table { return build(o) })
	return c
}

func build(o Options) *table {
	t := readSnapshot()
	if host := ollamaURL(o.Getenv(ollamaHost)); host != "" {
		t.providers[ollama].BaseURL.V = host
	}
	for _, p := range o.Providers {
		t.declare(p)
	}
	for _, a := range o.Aliases {
		t.aliases[a.Name] = a
	}
	if o.Reports != nil {
		reports := o.Reports()
		for i := range reports {
			t.report(&reports[i])
		}
	}
	return t
}

func (t *table) declare(d Provider) {
	p := t.providers[d.Name]
	if p == nil {
		p = &provider{Provider: Provider{Name: d.Name, At: d.At}, models: map[string]*entry{}, anyModel: true}
		t.providers[d.Name] = p
		t.names = append(t.names, d.Name)
	}
	override(&p.API, d.API)
	override(&p.BaseURL, d.BaseURL)
	override(&p.KeyEnv, d.KeyEnv)
	override(&p.KeyCommand, d.KeyCommand)
	override(&p.Headers, d.Headers)
	override(&p.Timeout, d.Timeout)
	if len(d.Quirks) > 0 && p.Quirks == nil {
		p.Quirks = map[quirk.Key]profile.Value[string]{}
	}
	maps.Copy(p.Quirks, d.Quirks)
	p.Withheld = append(p.Withheld, d.Withheld...)
	for _, m := range d.Models {
		p.declare(m)
	}
	// A provider of the user's own takes any id until it lists its models.
	if !p.builtIn && len(p.ids) > 0 && p.API.V != APIScript {
		p.anyModel = false
	}
}

func (p *provider) declare(d Model) {
	m := p.models[d.ID]
	if m == nil {
		m = &entry{Model: Model{ID: d.ID, At: d.At}}
		p.models[d.ID] = m
		p.ids = append(p.ids, d.ID)
	}
	override(&m.ContextWindow, d.ContextWindow)
	override(&m.MaxOutput, d.MaxOutput)
	override(&m.Input, d.Input)
	override(&m.Output, d.Output)
	override(&m.CacheRead, d.CacheRead)
	override(&m.CacheWrite, d.CacheWrite)
	override(&m.Thinking, d.Thinking)
	for _, v := range d.Variants {
		m.vary(v)
	}
}

func (m *entry) vary(d Variant) {
	i := slices.IndexFunc(m.Variants, func(v Variant) bool { return v.Name == d.Name })
	if i < 0 {
		m.Variants = append(m.Variants, d)
		return
	}
	v := &m.Variants[i]
	override(&v.Temperature, d.Temperature)
	override(&v.TopP, d.TopP)
	override(&v.MaxTokens, d.MaxTokens)
	override(&v.Thinking, d.Thinking)
}

func (m *entry) variant(name string) *Variant {
	for i := range m.Variants {
		if m.Variants[i].Name == name {
			return &m.Variants[i]
		}
	}
	return nil
}

func override[T any](v *profile.Value[T], by profile.Value[T]) {
	if by.Set {
		*v = by
	}
}

// Info describes a model for a list.
type Info struct {
	Provider      string  `json:"provider"`
	ID            string  `json:"id"`
	ContextWindow int     `json:"context_window"`
	MaxOutput     int     `json:"max_output"`
	InputPrice    float64 `json:"input_price"`
	OutputPrice   float64 `json:"output_price"`
	CacheRead     float64 `json:"cache_read_price"`
	CacheWrite    float64 `json:"cache_write_price"`
	// Configured says that the provider needs no key, that its key is in the
	// environment, that a command gives it, or that it is kept.
	Configured bool `json:"configured"`
	// Source is where the model is declared.
	Source source.Origin `json:"source"`
	// Reported is when the provider's server said that it has the model; zero:
	// it is declared.
	Reported time.Time `json:"reported,omitzero"`
	Variants []string  `json:"variants,omitempty"`
	Note     string    `json:"note,omitempty"`
}

// List returns all models that the catalog has an entry for, provider by
// provider.
func (c *Catalog) List() []Info {
	t := c.table()
	var all []Info
	for _, name := range t.names {
		p := t.providers[name]
		configured := p.KeyEnv.V == "" || c.keyFrom(name, p.KeyEnv.V, p.KeyCommand.V) != noKey
		for _, id := range p.ids {
			m := p.models[id]
			all = append(all, Info{
				Provider: name, ID: id,
				ContextWindow: m.ContextWindow.V, MaxOutput: m.MaxOutput.V,
				InputPrice: m.Input.V, OutputPrice: m.Output.V,
				CacheRead: m.CacheRead.V, CacheWrite: m.CacheWrite.V,
				Configured: configured, Source: m.At, Reported: m.reported, Variants: m.variants(), Note: m.note,
			})
		}
	}
	return all
}

func (m *entry) variants() (names []string) {
	for _, v := range m.Variants {
		names = append(names, v.Name)
	}
	return names
}

// Providers returns the names of all providers, sorted.
func (c *Catalog) Providers() []string {
	return slices.Sorted(maps.Keys(c.table().providers))
}

// spec gives the model as the engine knows it.
func (p *provider) spec(id string) spec.Model {
	out := spec.Model{Provider: p.Name, ID: id}
	if p.API.V == APIScript || p.API.V == APIBuiltin {
		out.ContextWindow = scriptWindow
	}
	if m := p.models[id]; m != nil {
		out.ContextWindow = cmp.Or(m.ContextWindow.V, out.ContextWindow)
		out.MaxOutput = m.MaxOutput.V
		out.NoSampling, out.Thinking = m.noSampling, m.Thinking.V
		out.ThinksAlone = p.API.V == APIAnthropic
		out.Price = spec.Price{Input: m.Input.V, Output: m.Output.V, CacheRead: m.CacheRead.V, CacheWrite: m.CacheWrite.V}
	}
	return out
}

// scriptWindow is the context window, in tokens, of models without an entry
// that live in this process.
const scriptWindow = 200_000
