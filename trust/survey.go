package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// Survey is all of a workspace that its trust is about.
type Survey struct {
	Items []Item
	// Allows are the rules that count as ask while the workspace is not
	// trusted.
	Allows []permission.Rule
}

func origin(file string) source.Origin { return source.Origin{File: file} }

// Sort puts the survey in the order of files and places, each item once.
func (s *Survey) Sort() {
	slices.SortStableFunc(s.Items, func(a, b Item) int {
		return cmp.Or(place(a.At, b.At), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Digest, b.Digest))
	})
	s.Items = slices.Compact(s.Items)
	slices.SortStableFunc(s.Allows, func(a, b permission.Rule) int {
		return cmp.Or(place(a.At, b.At), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Subject, b.Subject))
	})
	s.Allows = slices.Compact(s.Allows)
}

func place(a, b source.Origin) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Empty says that there is nothing to ask about.
func (s Survey) Empty() bool { return len(s.Items) == 0 && len(s.Allows) == 0 }

// Digest tells one survey from another.
func (s Survey) Digest() string {
	d := digester{hash: sha256.New(), left: maxNodes}
	for _, i := range s.Items {
		d.text(i.id())
		d.text(i.Digest)
	}
	d.text("")
	for _, r := range s.Allows {
		d.text(r.Tool)
		d.text(r.Subject)
		d.text(r.At.File)
	}
	return hex.EncodeToString(d.hash.Sum(nil))
}

// Inert gives the part of a survey that has no effect in a view.
func (v View) Inert(s Survey) Survey {
	var out Survey
	for _, i := range s.Items {
		if !v.State(i).Acts() {
			out.Items = append(out.Items, i)
		}
	}
	for _, r := range s.Allows {
		if !v.Rules(r.At.File) {
			out.Allows = append(out.Allows, r)
		}
	}
	return out
}

// Declined says that somebody was shown this survey and did not trust it.
func (v View) Declined(s Survey) bool { return v.refused != "" && v.refused == s.Digest() }

// Was gives what an item that changed said when it was trusted.
func (v View) Was(i Item) []string {
	var out []string
	for _, p := range v.pins[i.id()] {
		out = append(out, Show(p.Text)) // the file may have been edited
	}
	return out
}

// Gone lists what was trusted and is not there any more.
func (v View) Gone(s Survey) []Pin {
	there := map[string]bool{}
	for _, i := range s.Items {
		there[i.id()] = true
	}
	var out []Pin
	for id, pins := range v.pins {
		if !there[id] {
			out = append(out, pins...)
		}
	}
	slices.SortFunc(out, func(a, b Pin) int { return cmp.Or(cmp.Compare(a.id(), b.id()), cmp.Compare(a.Digest, b.Digest)) })
	return out
}
