package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/source"
)

// Filter chooses operations. An operation must fit each list that is not empty, and
// fits a list by any of its words.
type Filter struct {
	Operations []string // IDs or operationIds; a "*" in one stands for any text
	Tags       []string
	Paths      []string // prefixes of paths, by whole segments: /pets is also /pets/{id}
	Methods    []string // GET or get
}

// choose leaves the operations that the filter fits. A word of the filter that fits
// nothing is a problem.
func (d *Document) choose() []Problem {
	lists := []struct {
		name  string
		words []string
		fits  func(*Operation, string) bool
	}{
		{"operations", d.options.Filter.Operations, func(o *Operation, w string) bool { return glob(w, o.ID) || glob(w, o.OperationID) }},
		{"tags", d.options.Filter.Tags, func(o *Operation, w string) bool { return slices.Contains(o.Tags, w) }},
		{"paths", d.options.Filter.Paths, func(o *Operation, w string) bool { return below(o.Path, w) }},
		{"methods", d.options.Filter.Methods, func(o *Operation, w string) bool { return strings.EqualFold(o.Method, w) }},
	}
	var problems []Problem
	left := slices.Clone(d.Operations)
	for _, l := range lists {
		if len(l.words) == 0 {
			continue
		}
		for _, w := range l.words {
			if !slices.ContainsFunc(d.Operations, func(o *Operation) bool { return l.fits(o, w) }) {
				problems = append(problems, Problem{At: source.Origin{File: d.Name}, Text: fmt.Sprintf("%s: %q fits no operation of the document", l.name, short(w))})
			}
		}
		left = slices.DeleteFunc(left, func(o *Operation) bool {
			return !slices.ContainsFunc(l.words, func(w string) bool { return l.fits(o, w) })
		})
	}
	d.Operations = left
	return problems
}

// below says whether a path is that of a prefix or below it.
func below(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(prefix, "/"))
	if rest == "" {
		return ok && !strings.HasSuffix(prefix, "/")
	}
	return ok && rest[0] == '/'
}

// glob says whether a pattern, in which "*" is any text, fits a name.
func glob(pattern, name string) bool {
	if name == "" {
		return false
	}
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}
