package dialect

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// compaction reads what the native context key says in other words.
func (b *configProfile) compaction(section string, fields []field) {
	for _, f := range fields {
		switch f.key {
		case "instances", "id", "description":
		default:
			b.keepIn("context", f, forth(contextWords, f.key), f.node)
		}
	}
}

// word is a key of this format and what it is natively.
type word struct{ theirs, ours string }

// These are never written.
var (
	contextWords = []word{
		{"max-context-tokens", "window"}, {"system-prompt-tokens", "reserve"}, {"compact-at-pct", "compact-at"},
		{"keep-first-turns", "keep-first"}, {"keep-recent-turns", "keep-recent"},
	}
	modelWords = []word{{"base-url", "base-url"}, {"url", "base-url"}, {"max-tokens", "max-output"}, {"cost", "prices"}}
	priceWords = []word{
		{"input-per-million", "input"}, {"output-per-million", "output"},
		{"cache-read-per-million", "cache-read"}, {"cache-write-per-million", "cache-write"},
	}
	apiWords = []word{
		{"anthropic_messages", "anthropic"}, {"openai_completions", "openai-chat"}, {"openai_responses", "openai-responses"},
		{"google_generative_ai", "gemini"}, {"openai", "openai-chat"}, {"google", "gemini"},
	}
)

func forth(words []word, key string) string {
	for _, w := range words {
		if w.theirs == key {
			return w.ours
		}
	}
	return key
}

func back(words []word, key string) string {
	for _, w := range words {
		if w.ours == key {
			return w.theirs
		}
	}
	return key
}

func (b *configProfile) provider(section field) {
	b.providerKeys("provider", b.c.fields(section))
}

// providerInstance reads a named provider. One that names a model stands for
// itself: it must not send one provider's key to the address of another.
func (b *configProfile) providerInstance(in instance) {
	fields := b.c.fields(in.field)
	if slices.ContainsFunc(fields, func(f field) bool { return f.key == "model" }) {
		b.d.p.Provider, b.d.p.Model = profile.Value[string]{}, profile.Value[string]{}
		b.drop("model-config")
	}
	b.providerKeys("provider", fields)
}

func (b *configProfile) providerKeys(section string, fields []field) {
	for _, f := range fields {
		switch f.key {
		case "id", "instances", "description":
		case "model":
			b.d.p.Model = b.d.notBlank(f, profile.CodeEmptyModel)
		case "provider":
			b.d.p.Provider = b.d.notBlank(f, profile.CodeEmptyProvider)
		case "api-key":
			b.apiKey(f)
		case "api":
			n := *deref(f.node)
			n.Value = forth(apiWords, n.Value)
			b.keepIn("model-config", f, "api", &n)
		case "cost":
			if n := deref(f.node); n.Kind == yaml.MappingNode {
				b.keepIn("model-config", f, "prices", renamed(n, func(key string, v *yaml.Node) (string, *yaml.Node, bool) {
					return forth(priceWords, kebab(key)), v, true
				}, kebab))
			} else {
				b.d.wrongType(f, n, "a table")
			}
		default:
			b.keepIn("model-config", f, forth(modelWords, f.key), f.node)
		}
	}
}

// variable matches a value that is one variable and nothing else.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// apiKey keeps the name of the variable that holds the key. A key that is
// written out goes nowhere: not into the profile, and not into a message.
func (b *configProfile) apiKey(f field) {
	n := deref(f.node)
	if n.Kind == yaml.ScalarNode && strings.TrimSpace(n.Value) == "" {
		return
	}
	if m := variable.FindStringSubmatch(strings.TrimSpace(n.Value)); n.Kind == yaml.ScalarNode && m != nil {
		b.keepIn("model-config", f, "key-env", str(m[1]))
		return
	}
	b.d.report(profile.CodeSecret, f.at, f.written, f.written+" is written out; it is not kept", `name the variable that holds it: api_key = "${NAME}"`)
}
