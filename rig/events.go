package rig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// Awaited is an event that other knots wait for.
type Awaited struct {
	ID string
	// Descriptions are what the knots that wait say of when it happens, each once.
	Descriptions []string
}

// Takes says whether the knot waits for an event of a knot. What it sends itself is not
// what it waits for from its whole loom, unless Self is set.
func (k *Knot) Takes(loom, name, id string) bool {
	in := k.Input.V
	if in.Producer == loom && k.Loom == loom && k.Name == name && !k.Self.V {
		return false
	}
	return in.FiredBy(loom, name, id)
}

// Consumers are the knots that wait for an event of a knot, by loom and name.
func (r *Rig) Consumers(loom, name, id string) (knots []*Knot) {
	for _, k := range r.Knots() {
		if k.Takes(loom, name, id) {
			knots = append(knots, k)
		}
	}
	return knots
}

// Awaits lists the events that other knots wait for from a knot, by id.
func (r *Rig) Awaits(k *Knot) (list []Awaited) {
	for _, c := range r.Knots() {
		in := c.Input.V
		if in.ID == "" || !c.Takes(k.Loom, k.Name, in.ID) {
			continue
		}
		i := slices.IndexFunc(list, func(a Awaited) bool { return a.ID == in.ID })
		if i < 0 {
			i = len(list)
			list = append(list, Awaited{ID: in.ID})
		}
		if d := c.EventDescription.V; d != "" && !slices.Contains(list[i].Descriptions, d) {
			list[i].Descriptions = append(list[i].Descriptions, d)
		}
	}
	slices.SortFunc(list, func(a, b Awaited) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// producers warns of the knots that wait for one that is not there. A file that does not
// hold still counts for its name.
func (r *Rig) producers() {
	var names []string
	for _, l := range r.Looms {
		names = append(names, l.Name)
		for _, f := range l.Files {
			if f.Name != "" {
				names = append(names, f.Name, l.Name+"/"+f.Name)
			}
		}
	}
	for _, l := range r.Looms {
		for i := range l.Files {
			f := &l.Files[i]
			if f.Knot == nil {
				continue
			}
			in := f.Knot.Input
			if in.V.ID == "" || slices.Contains(names, in.V.Producer) {
				continue
			}
			hint := "name a knot, LOOM/KNOT or a loom of this rig"
			if near := profile.Nearest(in.V.Producer, names, 1); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			f.Diagnostics = inOrder(append(f.Diagnostics, profile.Diagnose(profile.CodeNoProducer, in.At, "strand-dir",
				fmt.Sprintf("%s has no knot or loom %q, so that nothing sends %s", r.Name, in.V.Producer, in.V.ID), hint)))
		}
	}
}
