package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/tool"
)

// request is a call as it will be sent, without what the user's variables hold.
type request struct {
	method  string
	url     *url.URL
	header  http.Header
	cookies []pair
	body    *payload // nil: there is none
}

// maxURL bounds an address, in bytes.
const maxURL = 16 << 10

// build makes a request of an input, which has passed the schema. What it opens is
// closed by close.
func (o *Operation) build(at *url.URL, input []byte, files *tool.Files) (_ *request, err error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	r := &request{method: o.Method, header: http.Header{}}
	path, pairs := map[string]string{}, []pair(nil)
	for i := range o.Parameters {
		p := &o.Parameters[i]
		raw, given := in[p.Arg]
		if !given || string(raw) == "null" && !p.Required {
			continue
		}
		more, err := r.put(p, raw, path)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	if r.url, err = o.address(at, path, pairs); err != nil {
		return nil, err
	}
	if o.Body != nil {
		if r.body, err = o.Body.payload(in, files); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// put writes one parameter. It gives what goes into the query.
func (r *request) put(p *Parameter, raw json.RawMessage, path map[string]string) ([]pair, error) {
	v, err := p.value(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Arg, err)
	}
	switch p.In {
	case "path":
		path[p.Name], err = p.inPath(v)
		return nil, err
	case "query":
		return v.pairs(p.Name, p.Style, p.Explode, p.AllowReserved), nil
	case "header":
		text := v.simple(p.Explode, func(s string) string { return s })
		if service.Reserved(p.Name) || !isToken(p.Name) {
			return nil, fmt.Errorf("%s: %q is no header that can be set", p.Arg, p.Name)
		}
		if err := headerText(text); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Arg, err)
		}
		r.header.Set(p.Name, text)
	case "cookie":
		if p.Style == "cookie" { // as it is
			more, err := plainCookies(p, v)
			r.cookies = append(r.cookies, more...)
			return nil, err
		}
		r.cookies = append(r.cookies, v.pairs(p.Name, "form", p.Explode, false)...)
	}
	return nil, nil
}

// value reads the input of a parameter: as its media type, or by its style.
func (p *Parameter) value(raw json.RawMessage) (value, error) {
	if p.Content == "" {
		return valueOf(raw)
	}
	if _, kind := mediaType(p.Content); kind == JSON {
		return value{kind: 't', text: compacted(raw)}, nil
	}
	v, err := decodeAny(raw)
	return value{kind: 't', text: textOf(v)}, err
}

func plainCookies(p *Parameter, v value) ([]pair, error) {
	var out []pair
	switch {
	case v.kind == 'n' && p.Explode:
		out = v.named
	case v.kind == 'l' && p.Explode:
		for _, s := range v.list {
			out = append(out, pair{p.Name, s})
		}
	default:
		same := func(s string) string { return s }
		out = []pair{{p.Name, v.simple(false, same)}}
	}
	for _, c := range out {
		if !isToken(c.name) || strings.ContainsFunc(c.value, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ';' || r == ',' || r == '"' || r == '\\' }) {
			return nil, fmt.Errorf("%s: it holds what no cookie can have", p.Arg)
		}
	}
	return out, nil
}

// address is where a call goes: below the server, and nowhere else.
func (o *Operation) address(at *url.URL, values map[string]string, pairs []pair) (*url.URL, error) {
	path, err := template(o.Path, values)
	if err != nil {
		return nil, err
	}
	path, fixed, _ := strings.Cut(path, "?")
	u := *at
	escaped := strings.TrimSuffix(at.EscapedPath(), "/") + cmp.Or(path, "/")
	if u.Path, err = url.PathUnescape(escaped); err != nil {
		return nil, fmt.Errorf("the path %s is none", path)
	}
	u.RawPath = escaped
	u.RawQuery = strings.Join(slices.DeleteFunc([]string{fixed, query(pairs)}, func(s string) bool { return s == "" }), "&")
	if n := len(u.String()); n > maxURL {
		return nil, fmt.Errorf("the address has %d bytes, and %d are the most", n, maxURL)
	}
	return &u, nil
}

func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// cookieText writes cookies as a header has them.
func cookieText(all []pair) string {
	parts := make([]string, len(all))
	for i, c := range all {
		parts[i] = c.name + "=" + c.value
	}
	return strings.Join(parts, "; ")
}

// headers is the header of the request, which the caller may change.
func (r *request) headers() http.Header {
	h := r.header.Clone()
	if len(r.cookies) > 0 {
		h.Set("Cookie", cookieText(r.cookies))
	}
	if r.body != nil {
		h.Set("Content-Type", r.body.kind)
	}
	return h
}

func (r *request) close() error {
	if r.body == nil {
		return nil
	}
	var errs []error
	for _, f := range r.body.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// changes says whether a call may change something, by its method.
func changes(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "QUERY":
		return false
	}
	return true
}
