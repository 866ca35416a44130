package config

import (
	"net/url"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// Search says which service answers searches of the web. The zero Search says
// that none does.
type Search struct {
	Kind   string // one of SearchKinds
	URL    string
	KeyEnv string // the variable that has the key; empty: none is sent
	At     source.Origin
}

// SearchKinds are the services whose answers can be read.
func SearchKinds() []string { return []string{"brave", "searxng", "tavily"} }

// searchDefaults are where a service is, and the variable of its key.
func searchDefaults(kind string) (address, key string) {
	switch kind {
	case "brave":
		return "https://api.search.brave.com/res/v1/web/search", "BRAVE_API_KEY"
	case "tavily":
		return "https://api.tavily.com/search", "TAVILY_API_KEY"
	}
	return "", ""
}

// search reads the service as a whole: a key must not go to the address that
// another file names.
func (s section) search(it item) {
	acts := s.mayAll(it)
	found := Search{At: it.at}
	wrong := len(s.ds)
	keyed := false
	s.each(it, func(it item) {
		it.key = strings.ReplaceAll(it.key, "_", "-")
		switch it.key {
		case "kind":
			found.Kind, _ = s.oneOf(it, SearchKinds()...)
		case "url":
			found.URL = s.searchURL(it)
		case "key-env":
			found.KeyEnv, keyed = s.variableName(it), true
		default:
			s.unknown(it, "kind", "url", "key-env")
		}
	})
	if isNull(it.node) || profile.Refused(s.ds[wrong:]) {
		return
	}
	where, key := searchDefaults(found.Kind)
	if !keyed && found.URL == "" { // a key goes by itself only to whom it is for
		found.KeyEnv = key
	}
	if found.URL == "" {
		found.URL = where
	}
	switch {
	case found.Kind == "":
		s.notAllowed(it, "search needs its kind: one of %s", strings.Join(SearchKinds(), ", "))
	case found.URL == "":
		s.notAllowed(it, "search of kind %s needs the url of a server", found.Kind)
	case found.KeyEnv != "" && strings.HasPrefix(found.URL, "http:") && !trust.Loopback(found.URL):
		s.notAllowed(it, "search would send its key over http, where others can read it; use https")
	case acts:
		s.cfg.Search = found
	}
}

func (s section) searchURL(it item) string {
	v, ok := s.text(it)
	if !ok {
		return ""
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		s.notAllowed(it, "%s takes an http or https URL", it.path)
	case u.User != nil:
		s.report(CodeNotAllowed, s.valueAt(it), it.path, it.path+" holds a user name or password", "put the key into the environment and name the variable under key-env")
	case u.RawQuery != "" || u.Fragment != "":
		s.notAllowed(it, "%s takes a URL without ? and #", it.path)
	default:
		return strings.TrimSuffix(v, "/")
	}
	return ""
}
