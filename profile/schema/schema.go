// Package schema is the one table of the native keys: what each takes, its
// default, what it means and whether this version acts on it. Decoding, the
// JSON Schema for editors and the reference page follow it.
package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Key is one native key.
type Key struct {
	Name    string // kebab-case, as it stands in its map
	Default string // as one would write it; empty: none
	Meaning string // one line
	Shape

	Acts  bool // this version acts on it, or shows it
	Guard bool // leaving it aside makes a profile less restricted than it says
	Adds  bool // "+KEY" adds to the list that the parents have
	Own   bool // parents do not pass it on
}

// Kind is what a value is.
type Kind int

const (
	Any      Kind = iota // judged by nobody
	Text                 // a scalar as it is written
	Bool                 // true or false
	Number               // from Low to High
	Count                // a whole number of at least Low
	Duration             // a time with its unit, above zero
	Word                 // one of Words
	List                 // texts, or one text with commas; with Each, a list of these
	Map                  // of Keys; without Keys, of names to Each
)

// Shape is what a key takes.
type Shape struct {
	Kind      Kind
	Words     []string
	Low, High float64
	None      bool // the word none is no limit
	Filled    bool // blank is an error
	Keys      []Key
	Each      *Shape
	Or        *Shape // another shape that it may have instead
	Says      string // what it takes, in words, where the rest says it badly
}

// Keys lists the top-level keys in the order in which they are written. The
// result must not be changed.
func Keys() []Key { return keys[:] }

// Find gives the key at a dotted path, such as limits.turns. A name that a
// person chooses, such as that of a server, is no part of the table. A leading
// "+" of the last name finds the list that it adds to.
func Find(path string) (Key, bool) {
	in := keys[:]
	for {
		name, rest, more := strings.Cut(path, ".")
		plain, add := strings.CutPrefix(name, "+")
		k := find(in, plain)
		if k == nil || add && (more || !k.Adds) {
			return Key{}, false
		}
		if !more {
			return *k, true
		}
		in, path = k.nested(), rest
	}
}

func find(in []Key, name string) *Key {
	for i := range in {
		if in[i].Name == name {
			return &in[i]
		}
	}
	return nil
}

// nested gives the keys of the map that a value may be.
func (s *Shape) nested() []Key {
	for ; s != nil; s = s.Or {
		if s.Kind == Map {
			return s.Keys
		}
	}
	return nil
}

// Find gives the key of this name in the map that the shape takes.
func (s *Shape) Find(name string) (Key, bool) {
	if k := find(s.nested(), name); k != nil {
		return *k, true
	}
	return Key{}, false
}

// Names lists the keys of the map that the shape takes.
func (s *Shape) Names() []string { return names(s.nested()) }

// Names lists the top-level keys.
func Names() []string { return names(keys[:]) }

func names(in []Key) []string {
	const added = 8 // room for the keys with a sign, and for those of a caller
	out := make([]string, 0, len(in)+added)
	for i := range in {
		out = append(out, in[i].Name)
		if in[i].Adds {
			out = append(out, "+"+in[i].Name)
		}
	}
	return out
}

// Takes says in words what the shape takes.
func (s *Shape) Takes() string {
	if s.Says != "" {
		return s.Says
	}
	text := s.takes()
	if s.None {
		text += " or `none`"
	}
	if s.Or != nil {
		text += ", or " + s.Or.Takes()
	}
	return text
}

func (s *Shape) takes() string {
	switch s.Kind {
	case Text:
		return "text"
	case Bool:
		return "true or false"
	case Number:
		return fmt.Sprintf("a number from %s to %s", plain(s.Low), plain(s.High))
	case Count:
		return fmt.Sprintf("a whole number from %s", plain(s.Low))
	case Duration:
		return "a time such as `90s`"
	case Word:
		return "`" + strings.Join(s.Words, "`, `") + "`"
	case List:
		if s.Each != nil {
			return "a list of " + plural(s.Each.Takes())
		}
		return "a list of texts"
	case Map:
		return s.takesMap()
	}
	return "anything"
}

func (s *Shape) takesMap() string {
	switch {
	case s.Keys != nil:
		return "a map"
	case s.Each == nil || s.Each.Kind == Any:
		return "a map of names"
	case s.Each.Kind == Map && s.Each.Keys == nil:
		return "a map of names to maps"
	}
	if s.Each.Or != nil {
		return "a map of names"
	}
	return "a map of names to " + plural(s.Each.Takes())
}

func plural(takes string) string {
	switch takes {
	case "text":
		return "texts"
	case "a map":
		return "maps"
	}
	return takes
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
