package config

import (
	"net/url"
	"path/filepath"

	"github.com/rosterrun/roster/internal/address"
	"github.com/rosterrun/roster/profile"
)

// Web says what of the web the tools reach.
type Web struct {
	// Allow names what may be reached though it is private: hosts, addresses and
	// blocks of addresses, of the user's file and of the workspace's.
	Allow []profile.Value[string]
	// Proxy is "environment" or a URL.
	Proxy profile.Value[string]
	// Browser is the file of the browser, or "none"; without it one is looked for.
	Browser profile.Value[string]
}

// web reads what is reached, also where it has no effect, for what is wrong.
func (s section) web(it item) {
	into := &s.cfg.Web
	if !s.mayAll(it) {
		into = &Web{}
	}
	s.webInto(into, it)
}

func (s section) webInto(w *Web, it item) {
	s.each(it, func(it item) {
		switch it.key {
		case "allow":
			s.webAllow(w, it)
		case "proxy":
			v, ok := s.text(it)
			u, err := url.Parse(v)
			if ok && v != "environment" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
				s.notAllowed(it, "%s takes the URL of a proxy (http or https), or the word environment for those that it names", it.path)
			} else if ok {
				w.Proxy = value(v, it)
			}
		case "browser":
			v, ok := s.text(it)
			if ok && v != "none" && !filepath.IsAbs(v) {
				s.notAllowed(it, "%s takes the file of a Chromium, as an absolute path, or the word none", it.path)
			} else if ok {
				w.Browser = value(v, it)
			}
		default:
			s.unknown(it, "allow", "proxy", "browser")
		}
	})
}

func (s section) webAllow(w *Web, it item) {
	for sub, v := range s.texts(it, "a list of hosts") {
		if _, err := address.Allow(v); err != nil {
			s.notAllowed(sub, "%s: %v", it.path, err)
			continue
		}
		w.Allow = append(w.Allow, value(v, sub))
	}
}
