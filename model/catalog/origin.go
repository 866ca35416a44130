package catalog

import (
	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Figures are the keys of a model whose places Resolved.Origin knows.
func Figures() []string {
	return []string{"context-window", "max-output", "input-price", "output-price", "cache-read-price", "cache-write-price", "thinking-levels"}
}

// Reaching are the keys of a provider whose places Resolved.Origin knows.
func Reaching() []string {
	return []string{"api", "base-url", "key-env", "key-command", "headers", "timeout"}
}

// Setting is one value that a variant sets.
type Setting struct {
	Key   string
	Value any
	At    source.Origin
}

// Settings lists what the variant sets.
func (v *Variant) Settings() (list []Setting) {
	add := func(key string, set bool, value any, at source.Origin) {
		if set {
			list = append(list, Setting{key, value, at})
		}
	}
	add("temperature", v.Temperature.Set, v.Temperature.V, v.Temperature.At)
	add("top-p", v.TopP.Set, v.TopP.V, v.TopP.At)
	add("max-tokens", v.MaxTokens.Set, v.MaxTokens.V, v.MaxTokens.At)
	add("thinking", v.Thinking.Set, v.Thinking.V, v.Thinking.At)
	return list
}

// Origin says where a value of the model or of its provider is written, by its
// key in roster.yaml, such as "context-window" or "base-url". A figure that nobody
// wrote is from where the model is declared; a key of the provider that nobody
// wrote is from nowhere.
func (r Resolved) Origin(key string) source.Origin {
	m := r.entry
	switch key {
	case "context-window":
		return from(m.ContextWindow, m.At)
	case "max-output":
		return from(m.MaxOutput, m.At)
	case "input-price":
		return from(m.Input, m.At)
	case "output-price":
		return from(m.Output, m.At)
	case "cache-read-price":
		return from(m.CacheRead, m.At)
	case "cache-write-price":
		return from(m.CacheWrite, m.At)
	case "thinking-levels":
		return from(m.Thinking, m.At)
	}
	p := r.provider
	switch key {
	case "api":
		return from(p.API, source.Origin{})
	case "base-url":
		return from(p.BaseURL, source.Origin{})
	case "key-env":
		return from(p.KeyEnv, source.Origin{})
	case "key-command":
		return from(p.KeyCommand, source.Origin{})
	case "headers":
		return from(p.Headers, source.Origin{})
	case "timeout":
		return from(p.Timeout, source.Origin{})
	}
	return source.Origin{}
}

// QuirkOrigin says where a quirk of the provider is written; from nowhere, if it
// is known or usual.
func (r Resolved) QuirkOrigin(k quirk.Key) source.Origin {
	return from(r.provider.Quirks[k], source.Origin{})
}

func from[T any](v profile.Value[T], otherwise source.Origin) source.Origin {
	if v.Set {
		return v.At
	}
	return otherwise
}
