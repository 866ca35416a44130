package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// linker finds the parents of the profiles of one source, when all names up to
// that source are claimed: so none is found in a later one.
type linker struct {
	s        *Snapshot
	owners   map[string]owner
	from, to int // the files of the source
	nodes    []node
	of       map[*profile.Profile]int // the node of a profile of this source
	before   map[string]*profile.Profile
	same     map[string]sourced // the files of the catalog around, by real path
	missed   int                // parents that are not there
}

// node is a profile that extends others.
type node struct {
	p       *profile.Profile
	file    int
	parents []parent
	linked  *profile.Profile // nil as long as it does not serve
	settled bool             // by the catalog around
}

// parent is what one name stands for: a node of the same source, another
// profile, or neither.
type parent struct {
	name string
	at   source.Origin
	node int // -1: none
	p    *profile.Profile
}

// link gives the profiles of the files in a range their parents. One that
// cannot have them does not serve.
func (s *Snapshot) link(owners map[string]owner, from, to int) {
	l := &linker{s: s, owners: owners, from: from, to: to, of: map[*profile.Profile]int{}}
	for i := from; i < to; i++ {
		for _, p := range s.files[i].serving() {
			if len(p.Extends.V) > 0 {
				l.of[p] = len(l.nodes)
				l.nodes = append(l.nodes, node{p: p, file: i})
			}
		}
	}
	if len(l.nodes) == 0 {
		return
	}
	for i := range l.nodes {
		if l.settle(i); !l.nodes[i].settled {
			l.find(&l.nodes[i])
		}
	}
	for _, group := range components(len(l.nodes), l.edges) {
		if len(group) > 1 || slices.Contains(l.edges(group[0]), group[0]) {
			for _, i := range group {
				l.refuse(i, l.cycle(i))
			}
			continue
		}
		if !l.nodes[group[0]].settled {
			l.linkOne(group[0])
		}
	}
}

// serving gives the profiles of a file that may serve: those that it holds or,
// when it is refused, those that it held when it last loaded.
func (f sourced) serving() []*profile.Profile {
	switch {
	case f.status == Loaded:
		return f.profiles
	case f.entry != nil && f.entry.good != nil:
		return f.entry.good.profiles
	}
	return nil
}

func (l *linker) edges(i int) []int {
	var out []int
	for _, p := range l.nodes[i].parents {
		if p.node >= 0 {
			out = append(out, p.node)
		}
	}
	return out
}

// find looks up the names. A profile that extends its own name means the one in
// an earlier source that it takes the place of.
func (l *linker) find(n *node) {
	for i, name := range n.p.Extends.V {
		to := parent{name: name, at: n.p.Extends.At, node: -1}
		if i < len(n.p.ExtendsAt) {
			to.at = n.p.ExtendsAt[i]
		}
		found := l.owners[name].p
		if name == n.p.Name {
			if earlier := l.earlier()[name]; earlier != nil || found == nil {
				found = earlier
			}
		}
		if found == nil && l.s.around != nil {
			found = l.s.around().byName[name]
		}
		if other, ok := l.of[found]; ok {
			to.node = other
		} else {
			to.p = found
		}
		n.parents = append(n.parents, to)
	}
}

// earlier gives what each name stands for in the sources before this one.
func (l *linker) earlier() map[string]*profile.Profile {
	if l.before != nil {
		return l.before
	}
	l.before = map[string]*profile.Profile{}
	in := map[string]int{}
	for i, f := range l.s.files[:l.from] {
		for _, p := range f.serving() {
			if linked := l.s.linked[p]; linked != nil {
				p = linked
			}
			l.before[p.Name], in[p.Name] = p, i
		}
		for _, p := range f.profiles {
			if f.status == Refused && !f.keeps(p.Name) && l.s.files[in[p.Name]].source != f.source {
				delete(l.before, p.Name)
			}
		}
	}
	return l.before
}

// linkOne links a profile whose parents are dealt with.
func (l *linker) linkOne(i int) {
	n := &l.nodes[i]
	var parents []*profile.Profile
	var ds []profile.Diagnostic
	seen := map[*profile.Profile]bool{}
	for _, to := range n.parents {
		p := to.p
		if to.node >= 0 {
			p = l.nodes[to.node].linked
		}
		if p == nil {
			ds = append(ds, l.missing(n, to))
			continue
		}
		for _, q := range append(slices.Clone(p.Parents), p) {
			if !seen[q] {
				seen[q] = true
				parents = append(parents, q)
			}
		}
	}
	if len(parents) > profile.MaxParents {
		ds = append(ds, profile.Diagnose(profile.CodeParents, n.p.Extends.At, "extends",
			fmt.Sprintf("%s has %d parents with theirs, more than %d", n.p.Name, len(parents), profile.MaxParents), ""))
	}
	if len(ds) > 0 {
		l.refuse(i, ds...)
		return
	}
	l.serve(n, parents)
}

func (l *linker) serve(n *node, parents []*profile.Profile) {
	n.linked = n.p.Linked(parents)
	l.s.linked[n.p], l.s.fileOf[n.linked] = n.linked, n.file
	if l.owners[n.p.Name].p == n.p {
		l.owners[n.p.Name] = owner{n.linked, n.file}
	}
}

// maxHinted is how many missing parents are looked for under other names: each
// is compared with all that there are.
const maxHinted = 100

// missing says why a name gives no parent.
func (l *linker) missing(n *node, to parent) profile.Diagnostic {
	bad := l.s.broken[to.name]
	if to.node >= 0 {
		bad = l.s.files[l.nodes[to.node].file].loaded
	}
	if bad != nil {
		return profile.Diagnose(profile.CodeBadParent, to.at, "extends",
			fmt.Sprintf("%s extends %s, %s%s", n.p.Name, to.name, becauseOf, firstError(bad)), "repair "+bad.shown)
	}
	message := fmt.Sprintf("%s extends %s, and there is no such profile in its source or an earlier one", n.p.Name, to.name)
	if l.missed++; l.missed > maxHinted {
		return profile.Diagnose(profile.CodeNoParent, to.at, "extends", message, "name a profile, or take it out")
	}
	for _, f := range l.s.files[l.to:] {
		for _, p := range f.serving() {
			if p.Name == to.name {
				return profile.Diagnose(profile.CodeNoParent, to.at, "extends", message,
					fmt.Sprintf("%s is in a later source; move it to this one or an earlier one", f.shown))
			}
		}
	}
	hint := "name a profile, or take it out"
	const most = 3
	if near := profile.Nearest(to.name, slices.Sorted(maps.Keys(l.owners)), most); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return profile.Diagnose(profile.CodeNoParent, to.at, "extends", message, hint)
}

// becauseOf stands before the reason why a parent does not load.
const becauseOf = "which does not load: "

// firstError says why a file does not load. Of a chain of parents it is the
// last one's reason, not all of them: a chain can be long.
func firstError(bad *loaded) string {
	for i := range bad.diags {
		if d := &bad.diags[i]; d.Severity == profile.SeverityError {
			if _, reason, ok := strings.Cut(d.Message, becauseOf); ok && d.Code == profile.CodeBadParent {
				return reason
			}
			return fmt.Sprintf("%s: %s", source.Origin{File: d.File, Line: d.Line, Column: d.Column}, d.Message)
		}
	}
	return bad.shown
}

// cycle says how a profile extends itself.
func (l *linker) cycle(i int) profile.Diagnostic {
	n := &l.nodes[i]
	way := wayBack(i, l.edges)
	names := make([]string, 0, len(way)+1)
	for _, j := range way {
		names = append(names, l.nodes[j].p.Name)
	}
	at := n.p.Extends.At
	for _, to := range n.parents {
		if len(way) > 1 && to.node == way[1] || len(way) == 1 && to.node == i {
			at = to.at
		}
	}
	if way == nil { // the way is too long to be shown
		names = []string{n.p.Name, "…"}
	}
	names = append(names, n.p.Name)
	return profile.Diagnose(profile.CodeCycle, at, "extends", "the profile extends itself: "+strings.Join(names, " → "), "take one of them out of extends")
}

// refuse makes a file one that does not load. Nothing is served under its
// profile's name.
func (l *linker) refuse(i int, ds ...profile.Diagnostic) {
	n := &l.nodes[i]
	f := &l.s.files[n.file]
	bad := *f.loaded
	bad.status, bad.diags = Refused, slices.Concat(bad.diags, ds)
	f.loaded = &bad
	for _, p := range append([]*profile.Profile{n.p}, bad.profiles...) {
		if o, ok := l.owners[p.Name]; ok && o.file == n.file {
			delete(l.owners, p.Name)
			l.s.broken[p.Name] = &bad
		}
	}
}

// settle takes over what the catalog around says of a file that is in it too.
func (l *linker) settle(i int) {
	n := &l.nodes[i]
	e := l.s.files[n.file].entry
	if l.s.around == nil || e == nil || e.real == "" {
		return
	}
	if l.same == nil {
		l.same = map[string]sourced{}
		for _, f := range l.s.around().files {
			if f.entry != nil {
				l.same[f.entry.real] = f
			}
		}
	}
	f, ok := l.same[e.real]
	if !ok {
		return
	}
	for _, p := range f.profiles {
		if p.Name != n.p.Name || len(p.Extends.V) == 0 {
			continue
		}
		n.settled = true
		if linked := l.s.around().linked[p]; linked != nil {
			l.serve(n, linked.Parents)
		} else {
			l.refuse(i, l.refusals(f, n.file)...)
		}
		return
	}
}

// refusals gives what the linking of a file found, under another name for it.
func (l *linker) refusals(f sourced, file int) []profile.Diagnostic {
	var out []profile.Diagnostic
	for _, d := range f.diags {
		switch d.Code {
		case profile.CodeNoParent, profile.CodeCycle, profile.CodeBadParent, profile.CodeParents:
			d.File = l.s.files[file].shown
			out = append(out, d)
		}
	}
	return out
}
