package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// maxInputs bounds what one operation may take.
const maxInputs = 300

// styles are those that a place allows, its default first.
var styles = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	"header": {"simple"},
	"cookie": {"form", "cookie"},
}

// oldFormats are 2.0's ways to write lists, but "multi" and the default, "csv".
var oldFormats = map[string]string{"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}

// clientHeaders are set by whoever sends a request; parameters of these names do not
// count, as the format says.
var clientHeaders = []string{"accept", "content-type", "authorization"}

func leftOut(n node, format string, args ...any) *Problem {
	return &Problem{At: n.at(), Text: fmt.Sprintf(format, args...)}
}

// parameters reads a list of parameters into an operation: one that was there before
// is replaced. It gives those of 2.0 that make the body.
func (r *reader) parameters(op *Operation, list node) (body []node, why *Problem) {
	if list.there() && list.kind() != '[' && !list.isNull() {
		return nil, leftOut(list, "parameters is a list")
	}
	list.items(func(item node) bool {
		n, err := r.refs.resolve(item)
		if err != nil {
			why = leftOut(item, "a parameter cannot be read: %v", err)
			return false
		}
		in := n.get("in").str()
		if r.old && (in == "body" || in == "formData") {
			body = append(body, n)
			return len(body) <= maxInputs
		}
		why = r.parameter(op, n, in)
		return why == nil && len(op.Parameters) <= maxInputs
	})
	return body, why
}

func (r *reader) parameter(op *Operation, n node, in string) *Problem {
	p := Parameter{Name: n.get("name").scalar(), In: in, Required: n.get("required").isTrue() || in == "path"}
	switch {
	case n.kind() != '{':
		return leftOut(n, "a parameter is a map")
	case p.Name == "" || len(p.Name) > maxWord:
		return leftOut(n, "a parameter has no name, or one of more than %d bytes", maxWord)
	case in == "header" && slices.Contains(clientHeaders, strings.ToLower(p.Name)):
		return nil
	case styles[in] == nil && p.Required:
		return leftOut(n, "the parameter %q is in %q, which is none of path, query, header and cookie", p.Name, short(in))
	case styles[in] == nil:
		r.problem(n.at(), op, "the parameter %q is left out: it is in %q, which is none of path, query, header and cookie", p.Name, short(in))
		return nil
	}
	p.text = n.get("description").str()
	if n.get("deprecated").isTrue() {
		p.text = strings.TrimSpace(p.text + " Deprecated.")
	}
	r.written(op, &p, n)
	same := func(q Parameter) bool { return q.Name == p.Name && q.In == p.In }
	if i := slices.IndexFunc(op.Parameters, same); i >= 0 {
		op.Parameters[i] = p
	} else {
		op.Parameters = append(op.Parameters, p)
	}
	return nil
}

// written reads how the value of a parameter is written.
func (r *reader) written(op *Operation, p *Parameter, n node) {
	p.Style = styles[p.In][0]
	p.Explode = p.Style == "form"
	if r.old {
		p.schema = n
		p.Explode = false
		switch format := n.get("collectionFormat").str(); {
		case format == "multi":
			p.Explode = true
		case oldFormats[format] != "":
			p.Style = oldFormats[format]
		}
		return
	}
	p.schema = n.get("schema")
	p.AllowReserved = n.get("allowReserved").isTrue()
	n.get("content").each(func(media string, _, v node) bool {
		p.Content, _ = mediaType(media)
		p.schema = v.get("schema")
		return false // there is one
	})
	if s := n.get("style"); s.kind() == '"' {
		if slices.Contains(styles[p.In], s.str()) {
			p.Style = s.str()
		} else {
			r.problem(s.at(), op, "the style %q of the parameter %q is none for a %s: %s is used", short(s.str()), p.Name, p.In, p.Style)
		}
		p.Explode = p.Style == "form" || p.Style == "cookie"
	}
	if e := n.get("explode"); e.there() {
		p.Explode = e.isTrue()
	}
}

// template holds the parameters against the path: what it names is there, and
// nothing else is in it.
func (r *reader) template(op *Operation) *Problem {
	names := placeholders(op.Path)
	op.Parameters = slices.DeleteFunc(op.Parameters, func(p Parameter) bool {
		drop := p.In == "path" && !slices.Contains(names, p.Name)
		if drop {
			r.problem(op.at.at(), op, "the parameter %q is left out: the path has no {%s}", p.Name, p.Name)
		}
		return drop
	})
	for _, name := range names {
		if slices.ContainsFunc(op.Parameters, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			continue
		}
		r.problem(op.at.at(), op, "{%s} of the path is not described: it is taken as a text", name)
		op.Parameters = append(op.Parameters, Parameter{Name: name, In: "path", Style: "simple", Required: true})
	}
	slices.SortStableFunc(op.Parameters, func(a, b Parameter) int {
		return slices.Index(places, a.In) - slices.Index(places, b.In)
	})
	if len(op.Parameters) > maxInputs {
		return leftOut(op.at, "it has more than %d parameters", maxInputs)
	}
	return nil
}

// places is the order in which inputs get their names.
var places = []string{"path", "query", "header", "cookie"}

// placeholders are the names in braces in a path, each once.
func placeholders(path string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(path, "{")
		if !ok {
			return names
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return names
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		path = after
	}
}
