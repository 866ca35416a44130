package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// List is what a value of the key says: services by name, or the names of those that
// there are.
type List struct {
	Entries []Entry
	// Off are the names of services that it takes away.
	Off []string
	// Names narrows the services of weaker layers to these; Listed says that it does.
	Names  []string
	Listed bool
}

// ReadList reads a value: a map of names to entries, or a list of names. each reads
// one entry.
func ReadList(n *yaml.Node, each func(name string, value *yaml.Node) error) (l List, err error) {
	n = deref(n)
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, v := deref(n.Content[i]).Value, deref(n.Content[i+1])
			if Off(v) {
				l.Off = append(l.Off, name)
			} else if err := each(name, v); err != nil {
				return l, err
			}
		}
		return l, nil
	case yaml.SequenceNode:
		l.Listed, l.Names = true, []string{}
		for _, item := range n.Content {
			name := deref(item)
			if name.Kind != yaml.ScalarNode {
				return l, errors.New("openapi takes a map of services by name, or a list of the names of those in roster.yaml")
			}
			if err := NameError(name.Value); err != nil {
				return l, err
			}
			l.Names = append(l.Names, name.Value)
		}
		return l, nil
	}
	if n.Tag == "!!null" {
		return l, nil
	}
	l.Listed, l.Names = true, []string{}
	for name := range strings.SplitSeq(n.Value, ",") {
		name = strings.TrimSpace(name)
		if err := NameError(name); err != nil {
			return l, fmt.Errorf("openapi: %w", err)
		}
		l.Names = append(l.Names, name)
	}
	return l, nil
}

// Over lays what a stronger layer says over the services of the weaker ones: names
// leave only those, and an entry takes the place of the whole one of its name, so
// that no credential goes to the address that another file names.
func (l List) Over(weaker []Entry) []Entry {
	out := slices.Clone(weaker)
	if l.Listed {
		out = slices.DeleteFunc(out, func(e Entry) bool { return !slices.Contains(l.Names, e.Name) })
	}
	out = slices.DeleteFunc(out, func(e Entry) bool { return slices.Contains(l.Off, e.Name) })
	for _, e := range l.Entries {
		if i := named(out, e.Name); i >= 0 {
			out[i] = e
		} else {
			out = append(out, e)
		}
	}
	return out
}

func named(list []Entry, name string) int {
	return slices.IndexFunc(list, func(e Entry) bool { return e.Name == name })
}
