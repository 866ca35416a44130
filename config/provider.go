package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

func (s section) provider(it item) {
	if strings.ContainsAny(it.key, "/: \t") || it.key == "" {
		s.report(CodeNotAllowed, it.at, it.path, "the name of a provider is a word without /, : and blanks", "")
		return
	}
	p := catalog.Provider{Name: it.key, At: it.at}
	items := map[string]item{}
	s.each(it, func(it item) {
		it.key = strings.ReplaceAll(it.key, "_", "-")
		items[it.key] = it
		s.providerKey(&p, it)
	})
	if s.workspace {
		s.disarm(&p, items)
	} else {
		s.user[p.Name] = true
	}
	if file := p.BaseURL.V; file != "" && !strings.Contains(file, "://") && !filepath.IsAbs(file) {
		p.BaseURL.V = filepath.Join(s.base(), file) // a script beside the file that names it
	}
	s.cfg.Providers = append(s.cfg.Providers, p)
}

func (s section) providerKey(p *catalog.Provider, it item) {
	switch it.key {
	case "api":
		if v, ok := s.oneOf(it, catalog.APIs()...); ok {
			p.API = value(v, it)
		}
	case "base-url":
		s.baseURL(p, it)
	case "key-env":
		s.keyEnv(p, it)
	case "headers":
		s.headers(p, it)
	case "timeout":
		if v, ok := s.duration(it); ok {
			p.Timeout = value(v, it)
		}
	case "quirks":
		p.Quirks = map[quirk.Key]profile.Value[string]{}
		s.each(it, func(it item) { s.quirk(p, it) })
	case "models":
		s.each(it, func(it item) { p.Models = append(p.Models, s.model(it)) })
	case "key-command":
		s.keyCommand(p, it)
	default:
		s.unknown(it, "api", "base-url", "key-env", "key-command", "headers", "timeout", "quirks", "models")
	}
}

// quirk reads in what a server differs from others.
func (s section) quirk(p *catalog.Provider, it item) {
	k := quirk.Key(strings.ReplaceAll(it.key, "_", "-"))
	words := quirk.Values(k)
	if words == nil {
		var known []string
		for _, k := range quirk.Keys() {
			known = append(known, string(k))
		}
		s.unknown(it, known...)
		return
	}
	if v, ok := s.oneOf(it, words...); ok {
		p.Quirks[k] = value(v, it)
	}
}

// baseURL reads an http(s) URL, or the path of a file of scripted replies.
func (s section) baseURL(p *catalog.Provider, it item) {
	v, ok := s.text(it)
	if !ok {
		return
	}
	if !strings.Contains(v, "://") {
		p.BaseURL = value(v, it)
		return
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		s.notAllowed(it, "%s takes an http or https URL", it.path)
	case u.User != nil:
		s.report(CodeNotAllowed, s.valueAt(it), it.path, it.path+" holds a user name or password", "put the key into the environment and name the variable under key-env")
	case u.RawQuery != "" || u.Fragment != "":
		s.notAllowed(it, "%s takes a URL without ? and #", it.path)
	default:
		p.BaseURL = value(strings.TrimSuffix(v, "/"), it)
	}
}

func (s section) keyEnv(p *catalog.Provider, it item) {
	if v := s.variableName(it); v != "" {
		p.KeyEnv = value(v, it)
	}
}

// variableName reads the name of an environment variable; empty: it is none.
func (s section) variableName(it item) string {
	v, ok := s.text(it)
	if !ok {
		return ""
	}
	for i, r := range v {
		if !(r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || i > 0 && r >= '0' && r <= '9') {
			// The value is not repeated: it may be the key itself.
			s.report(CodeNotAllowed, s.valueAt(it), it.path, it.path+" takes the name of an environment variable", "write the name of the variable, never the key")
			return ""
		}
	}
	return v
}

// maxWords bounds the words of a command.
const maxWords = 64

// keyCommand reads the command that prints the key: a list of words, or a line
// for the shell.
func (s section) keyCommand(p *catalog.Provider, it item) {
	n := deref(it.node)
	if n.Kind != yaml.SequenceNode {
		if line, ok := s.text(it); ok {
			p.KeyCommand = value([]string{"sh", "-c", line}, it)
		}
		return
	}
	var words []string
	for _, c := range n.Content {
		word, ok := s.text(item{key: it.key, path: it.path, at: s.at(c), node: c})
		if !ok {
			return
		}
		words = append(words, word)
	}
	if len(words) == 0 || len(words) > maxWords {
		s.notAllowed(it, "%s takes the words of a command, up to %d of them", it.path, maxWords)
		return
	}
	p.KeyCommand = value(words, it)
}

func (s section) headers(p *catalog.Provider, it item) {
	headers := []catalog.Header{}
	s.each(it, func(it item) {
		v, ok := s.text(it)
		if !ok {
			return
		}
		if !isToken(it.key) || strings.ContainsAny(v, "\r\n\x00") {
			s.report(CodeNotAllowed, it.at, it.path, it.path+" is not an HTTP header", "")
			return
		}
		headers = append(headers, catalog.Header{Name: it.key, Value: v})
	})
	p.Headers = value(headers, it)
}

// isToken says whether a text may be a header's name (RFC 9110, 5.6.2).
func isToken(name string) bool {
	for _, r := range name {
		if r > '~' || r <= ' ' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r) {
			return false
		}
	}
	return name != ""
}

func (s section) model(it item) catalog.Model {
	m := catalog.Model{ID: it.key, At: it.at}
	s.each(it, func(it item) {
		switch strings.ReplaceAll(it.key, "_", "-") {
		case "context-window":
			m.ContextWindow = s.tokens(it)
		case "max-output":
			m.MaxOutput = s.tokens(it)
		case "input-price":
			m.Input = s.priceOf(it)
		case "output-price":
			m.Output = s.priceOf(it)
		case "cache-read-price":
			m.CacheRead = s.priceOf(it)
		case "cache-write-price":
			m.CacheWrite = s.priceOf(it)
		case "thinking-levels":
			m.Thinking = s.levels(it)
		case "variants":
			s.each(it, func(it item) { m.Variants = append(m.Variants, s.variant(it)) })
		default:
			s.unknown(it, "context-window", "max-output", "input-price", "output-price", "cache-read-price", "cache-write-price", "thinking-levels", "variants")
		}
	})
	return m
}

// variant reads settings of a model that have a name. They are profile keys,
// with the bounds of those.
func (s section) variant(it item) catalog.Variant {
	v := catalog.Variant{Name: it.key, At: it.at}
	if it.key == "" || strings.ContainsAny(it.key, "#/: \t") {
		s.report(CodeNotAllowed, it.at, it.path, "the name of a variant is a word without #, /, : and blanks", "")
		return v
	}
	s.each(it, func(it item) {
		switch strings.ReplaceAll(it.key, "_", "-") {
		case "temperature", "top-p", "max-tokens", "thinking":
		default:
			s.unknown(it, "temperature", "top-p", "max-tokens", "thinking")
		}
	})
	keys, ds := dialect.Keys(s.file, deref(it.node))
	for _, d := range ds {
		if d.Severity == profile.SeverityError && d.Code != profile.CodeUnknownKey {
			d.Key = join(it.path, d.Key)
			s.ds = append(s.ds, d)
		}
	}
	v.Temperature, v.TopP, v.MaxTokens, v.Thinking = keys.Temperature, keys.TopP, keys.MaxTokens, keys.Thinking
	for _, at := range []*source.Origin{&v.Temperature.At, &v.TopP.At, &v.MaxTokens.At, &v.Thinking.At} {
		at.Layer = s.layer
	}
	return v
}

// levels reads the levels of thinking that a model has; an empty list says that
// it does not think.
func (s section) levels(it item) profile.Value[[]string] {
	levels := []string{}
	n := deref(it.node)
	if n.Kind != yaml.SequenceNode {
		s.wrongType(it, "a list of "+strings.Join(spec.Levels(), ", "))
		return profile.Value[[]string]{}
	}
	for _, c := range n.Content {
		level, ok := s.oneOf(item{key: it.key, path: it.path, at: s.at(c), node: c}, spec.Levels()...)
		if !ok {
			return profile.Value[[]string]{}
		}
		levels = append(levels, level)
	}
	return value(levels, it)
}

func (s section) tokens(it item) profile.Value[int] {
	v, ok := s.count(it)
	if !ok {
		return profile.Value[int]{}
	}
	return value(v, it)
}

func (s section) priceOf(it item) profile.Value[float64] {
	v, ok := s.price(it)
	if !ok {
		return profile.Value[float64]{}
	}
	return value(v, it)
}

// others says whether a variable holds the key of a built-in provider or of one
// of the user's.
func (s section) others(env string) bool {
	return slices.Contains(s.builtIn().KeyVariables(), env) || slices.ContainsFunc(s.cfg.Providers, func(p catalog.Provider) bool {
		return s.user[p.Name] && p.KeyEnv.V == env
	})
}

// builtIn knows the built-in providers.
func (s section) builtIn() *catalog.Catalog {
	if s.builtin == nil {
		s.builtin = catalog.New(catalog.Options{})
	}
	return s.builtin
}
