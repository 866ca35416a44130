package openapi

import (
	"slices"
	"strings"
)

// maxServers bounds the addresses of a document, and the variables of one.
const maxServers = 100

func (r *reader) serverList(n node) []ServerURL {
	var all []ServerURL
	n.items(func(v node) bool {
		s := ServerURL{URL: v.get("url").str(), Description: cut(v.get("description").str(), defaultInnerText)}
		if s.URL == "" || len(s.URL) > maxPath {
			return true
		}
		v.get("variables").each(func(name string, _, v node) bool {
			s.Variables = append(s.Variables, Variable{Name: name, Default: v.get("default").scalar(), Enum: v.get("enum").strings()})
			return len(s.Variables) < maxServers
		})
		all = append(all, s)
		return len(all) < maxServers
	})
	return all
}

// oldServers makes addresses of 2.0's schemes, host and base path.
func (r *reader) oldServers(host node) {
	base := r.root.get("basePath").str()
	if host.str() == "" {
		if base != "" {
			r.oldServer(base)
		}
		return
	}
	schemes := r.root.get("schemes").strings()
	if len(schemes) == 0 {
		schemes = []string{"https"}
	}
	slices.SortStableFunc(schemes, func(a, b string) int { // the safe one first
		return strings.Compare(b, a)
	})
	for _, s := range schemes {
		if s == "https" || s == "http" {
			r.oldServer(s + "://" + host.str() + base)
		}
	}
}

func (r *reader) oldServer(url string) {
	r.Document.Servers = append(r.Document.Servers, ServerURL{URL: url})
}

// schemes reads the ways to say who calls.
func (r *reader) schemes() {
	r.definitions.each(func(name string, at, v node) bool {
		v, err := r.refs.resolve(v)
		if err != nil {
			r.problem(at.at(), nil, "the security scheme %q is left out: %v", short(name), err)
			return true
		}
		s := SecurityScheme{
			Type: v.get("type").str(), Scheme: strings.ToLower(v.get("scheme").str()),
			Name: v.get("name").str(), In: v.get("in").str(),
		}
		if s.Type == "basic" { // as 2.0 says it
			s.Type, s.Scheme = "http", "basic"
		}
		r.SecuritySchemes[name] = s
		return len(r.SecuritySchemes) < maxServers
	})
}

func requirements(n node) [][]Requirement {
	var all [][]Requirement
	n.items(func(v node) bool {
		one := []Requirement{}
		v.each(func(name string, _, scopes node) bool {
			one = append(one, Requirement{Scheme: name, Scopes: scopes.strings()})
			return len(one) < maxServers
		})
		all = append(all, one)
		return len(all) < maxServers
	})
	return all
}
