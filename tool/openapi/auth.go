package openapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rosterrun/roster/service"
)

// shown is what a service is shown with one call, and what of it is a secret.
type shown struct {
	header  http.Header
	cookies []pair
	query   []pair // escaped
	secrets []string
}

// credentials finds what an operation is shown. lookup gives what a variable holds.
func (d *Document) credentials(e *service.Entry, o *Operation, lookup func(string) (string, bool)) (*shown, error) {
	s := &shown{header: http.Header{}}
	for _, h := range e.Headers {
		text, err := h.Expand(func(name string) (string, bool) {
			v, ok := lookup(name)
			if ok {
				s.secrets = append(s.secrets, v)
			}
			return v, ok
		})
		if err != nil {
			return nil, err
		}
		if headerText(text) != nil {
			return nil, fmt.Errorf("the header %s of the service %s: %w", h.Name, e.Name, errHeader)
		}
		s.header.Set(h.Name, text)
	}
	for _, c := range o.wanted(e.Auth) {
		v, ok := lookup(c.Variable)
		if v = strings.TrimSpace(v); !ok || v == "" {
			return nil, &service.Missing{Of: "the service " + e.Name, Variable: c.Variable}
		}
		if headerText(v) != nil {
			return nil, fmt.Errorf("the variable %s: %w", c.Variable, errHeader)
		}
		s.secrets = append(s.secrets, v)
		if err := s.show(d, e, o, c, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// wanted are the credentials for an operation: those that are for no scheme in
// particular, and those of the first alternative that all is there for.
func (o *Operation) wanted(all []service.Credential) []service.Credential {
	var out []service.Credential
	for _, c := range all {
		if c.Scheme == "" {
			out = append(out, c)
		}
	}
	has := func(r Requirement) bool {
		return slices.ContainsFunc(all, func(c service.Credential) bool { return c.Scheme == r.Scheme })
	}
	for _, alternative := range o.Security {
		if len(alternative) == 0 || slices.ContainsFunc(alternative, func(r Requirement) bool { return !has(r) }) {
			continue
		}
		for _, r := range alternative {
			for _, c := range all {
				if c.Scheme == r.Scheme {
					out = append(out, c)
				}
			}
		}
		break
	}
	return out
}

func (s *shown) show(d *Document, e *service.Entry, o *Operation, c service.Credential, v string) error {
	switch c.Kind {
	case service.Bearer:
		s.header.Set("Authorization", "Bearer "+v)
	case service.Basic:
		if !strings.Contains(v, ":") {
			return fmt.Errorf("the variable %s does not hold USER:PASSWORD", c.Variable)
		}
		_, password, _ := strings.Cut(v, ":")
		coded := base64.StdEncoding.EncodeToString([]byte(v))
		s.secrets = append(s.secrets, coded, password)
		s.header.Set("Authorization", "Basic "+coded)
	default:
		in, name, err := d.place(e, o, c)
		if err != nil {
			return err
		}
		escaped := escape(v, false)
		s.secrets = append(s.secrets, escaped, url.QueryEscape(v))
		switch in {
		case "query":
			s.query = append(s.query, pair{escape(name, false), escaped})
		case "cookie":
			s.cookies = append(s.cookies, pair{name, escaped})
		default:
			s.header.Set(name, v)
		}
	}
	return nil
}

// place is where an API key goes: as the user says, or as the document says.
func (d *Document) place(e *service.Entry, o *Operation, c service.Credential) (in, name string, err error) {
	if c.In != "" {
		return c.In, c.Name, nil
	}
	var names []string
	for _, n := range sortedKeys(d.SecuritySchemes) {
		if d.SecuritySchemes[n].Type == "apiKey" && (c.Scheme == "" || c.Scheme == n) {
			names = append(names, n)
		}
	}
	if len(names) > 1 { // those that the operation asks for
		names = slices.DeleteFunc(names, func(n string) bool {
			return !slices.ContainsFunc(o.Security, func(a []Requirement) bool {
				return slices.ContainsFunc(a, func(r Requirement) bool { return r.Scheme == n })
			})
		})
	}
	if len(names) != 1 {
		return "", "", fmt.Errorf("the document does not say where the API key of the service %s goes: write in and name beside key-env", e.Name)
	}
	s := d.SecuritySchemes[names[0]]
	if s.In != "query" && !isToken(s.Name) || s.Name == "" || s.In == "header" && service.Reserved(s.Name) && !strings.EqualFold(s.Name, "authorization") {
		return "", "", fmt.Errorf("the document has the API key of the service %s in the %s %q, which cannot be: write in and name beside key-env", e.Name, s.In, short(s.Name))
	}
	return s.In, s.Name, nil
}

var errOpen = errors.New("it would send a secret over http, where others can read it; nothing was sent. Only the user can name an address with https under server")

// onto puts what is shown onto a request. What a model gave under the same names is
// replaced.
func (s *shown) onto(u *url.URL, h http.Header, cookies []pair) (*url.URL, http.Header, error) {
	if len(s.secrets) > 0 && service.Open(u) {
		return nil, nil, errOpen
	}
	for name, v := range s.header {
		h[name] = v
	}
	if len(s.cookies) > 0 {
		cookies = slices.DeleteFunc(slices.Clone(cookies), func(c pair) bool {
			return slices.ContainsFunc(s.cookies, func(o pair) bool { return o.name == c.name })
		})
		h.Set("Cookie", cookieText(append(cookies, s.cookies...)))
	}
	if len(s.query) == 0 {
		return u, h, nil
	}
	var parts []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		if part != "" && (err != nil || !slices.ContainsFunc(s.query, func(p pair) bool { return p.name == escape(plain, false) })) {
			parts = append(parts, part)
		}
	}
	with := *u
	with.RawQuery = strings.Join(append(parts, query(s.query)), "&")
	return &with, h, nil
}
