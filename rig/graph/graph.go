// Package graph draws rigs: where the strands of each knot come from, what it writes,
// and which knots start which by their events.
package graph

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/tieoff"
)

// Kind is what a node stands for.
type Kind string

// The kinds of nodes.
const (
	Folder   Kind = "folder"
	Schedule Kind = "schedule"
	Event    Kind = "event" // of one knot, or of those of a loom
	Knot     Kind = "knot"
	Broken   Kind = "broken" // a file that is no knot as it is
	TieOff   Kind = "tie-off"
)

// Node is one thing of a rig.
type Node struct {
	// ID is unique in the graph, and the same in each graph of the same files.
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Label string `json:"label"`
	// Detail is what is said in smaller letters: the loom of a knot, the folder of a
	// tie-off.
	Detail string `json:"detail,omitempty"`
	// File is that of a knot or a tie-off, relative to the workspace.
	File string `json:"file,omitempty"`
	// Missing says of an event that nothing sends it.
	Missing bool `json:"missing,omitempty"`
}

// Edge leads from a node to another, by their places in Nodes.
type Edge struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Cycle says that the way leads back to where it began.
	Cycle bool `json:"cycle,omitempty"`
}

// Graph is what rigs look like. Nodes and edges have the order of the files.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
	// Cycles are the ways that lead back to where they began, one for each group of
	// nodes that reach each other, by their places in Nodes. The first is not repeated.
	Cycles [][]int `json:"cycles"`
}

// New draws rigs.
func New(rigs ...*rig.Rig) *Graph {
	b := newBuilder()
	for _, r := range rigs {
		b.rig(r)
	}
	b.g.findCycles()
	return b.g
}

// Join draws in one what others show. Nodes that have the same ID are one.
func Join(all ...*Graph) *Graph {
	b := newBuilder()
	for _, g := range all {
		at := make([]int, len(g.Nodes))
		for i, n := range g.Nodes {
			at[i] = b.node(n)
		}
		for _, e := range g.Edges {
			b.edge(at[e.From], at[e.To])
		}
	}
	b.g.findCycles()
	return b.g
}

// Check says whether the edges and cycles of a graph that was read lead to its nodes;
// the other methods take one that does.
func (g *Graph) Check() error {
	n := len(g.Nodes)
	for _, e := range g.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= n {
			return fmt.Errorf("an edge leads from node %d to %d, and there are %d nodes", e.From, e.To, n)
		}
	}
	for _, c := range g.Cycles {
		if len(c) == 0 || slices.Min(c) < 0 || slices.Max(c) >= n {
			return fmt.Errorf("a cycle leads over the nodes %v, and there are %d", c, n)
		}
	}
	return nil
}

func newBuilder() *builder {
	return &builder{g: &Graph{Nodes: []Node{}, Edges: []Edge{}, Cycles: [][]int{}}, at: map[string]int{}, edges: map[Edge]bool{}}
}

type builder struct {
	g     *Graph
	at    map[string]int // of nodes, by ID
	edges map[Edge]bool
}

func (b *builder) node(n Node) int {
	i, there := b.at[n.ID]
	if !there {
		i = len(b.g.Nodes)
		b.at[n.ID] = i
		b.g.Nodes = append(b.g.Nodes, n)
	}
	return i
}

func (b *builder) edge(from, to int) {
	if e := (Edge{From: from, To: to}); !b.edges[e] {
		b.edges[e] = true
		b.g.Edges = append(b.g.Edges, e)
	}
}

// tieOff is the file to which the answers of a knot are added, relative to the workspace.
func tieOff(rigName string, k *rig.Knot) string {
	file, err := tieoff.File(k.Loom, k.Name)
	if err != nil {
		panic(err) // names of knots are checked when they are read
	}
	return path.Join(rigName, file)
}

func knotID(rigName, id string) string { return "knot:" + rigName + "/" + id }

func (b *builder) rig(r *rig.Rig) {
	for _, l := range r.Looms {
		for _, f := range l.Files {
			if f.Knot == nil {
				b.node(Node{ID: "file:" + f.Path, Kind: Broken, Label: path.Base(f.Path), Detail: l.Name, File: f.Path})
			}
		}
	}
	knots := r.Knots()
	for _, k := range knots {
		b.node(Node{ID: knotID(r.Name, k.ID()), Kind: Knot, Label: k.Name, Detail: k.Loom, File: k.File})
	}
	for _, k := range knots {
		own := b.at[knotID(r.Name, k.ID())]
		file := tieOff(r.Name, k)
		folder, name := path.Dir(file), path.Base(file)
		b.edge(own, b.node(Node{ID: "tie-off:" + file, Kind: TieOff, Label: name, Detail: folder, File: file}))
	}
	for _, k := range knots {
		b.inputs(r, k, knots)
	}
}

// inputs leads to a knot from all that starts it.
func (b *builder) inputs(r *rig.Rig, k *rig.Knot, knots []*rig.Knot) {
	own := b.at[knotID(r.Name, k.ID())]
	if s := k.Schedule.V; s != nil {
		b.edge(b.node(Node{ID: "schedule:" + s.Text, Kind: Schedule, Label: s.Text}), own)
	}
	in := k.Input.V
	switch {
	case in.ID != "":
		b.edge(b.event(r, k, knots), own)
	case in.Dir != "":
		folder := b.node(Node{ID: "folder:" + in.Dir, Kind: Folder, Label: in.Dir + "/"})
		b.edge(folder, own)
		if strings.HasPrefix(in.Dir+"/", path.Join(r.Name, tieoff.Folder)+"/") {
			b.written(r.Name, in.Dir, folder, knots)
		}
	}
}

// event leads to the event that a knot waits for from each knot that may send it.
func (b *builder) event(r *rig.Rig, to *rig.Knot, knots []*rig.Knot) int {
	in := to.Input.V
	var from []string
	for _, k := range knots {
		if to.Takes(k.Loom, k.Name, in.ID) {
			from = append(from, k.ID())
		}
	}
	if len(from) == 0 {
		return b.node(Node{ID: "event:" + r.Name + "/" + in.String(), Kind: Event, Label: in.ID, Detail: "nothing sends it: " + in.Producer, Missing: true})
	}
	i := b.node(Node{ID: "event:" + r.Name + "/" + strings.Join(from, ",") + ":" + in.ID, Kind: Event, Label: in.ID})
	for _, id := range from {
		b.edge(b.at[knotID(r.Name, id)], i)
	}
	return i
}

// written leads to a folder of tie-offs from those in it.
func (b *builder) written(rigName, dir string, folder int, knots []*rig.Knot) {
	for _, k := range knots {
		if file := tieOff(rigName, k); strings.HasPrefix(file, dir+"/") {
			b.edge(b.at["tie-off:"+file], folder)
		}
	}
}

// next gives, for each node, where its edges lead.
func (g *Graph) next() [][]int {
	next := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	return next
}

// findCycles marks the edges between nodes that reach each other, and finds a way
// around in each group of them.
func (g *Graph) findCycles() {
	next := g.next()
	group := components(next)
	first := map[int]int{} // of a group, the first node in a cycle
	for i := range g.Edges {
		e := &g.Edges[i]
		if group[e.From] != group[e.To] {
			continue
		}
		e.Cycle = true
		if n, there := first[group[e.From]]; !there || e.From < n {
			first[group[e.From]] = e.From
		}
	}
	starts := []int{}
	for _, n := range first {
		starts = append(starts, n)
	}
	slices.Sort(starts)
	for _, n := range starts {
		g.Cycles = append(g.Cycles, around(next, group, n))
	}
}

// around gives a shortest way from a node back to it.
func around(next [][]int, group []int, start int) []int {
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for _, to := range next[n] {
			if to == start {
				way := []int{n}
				for n != start {
					n = from[n]
					way = append(way, n)
				}
				slices.Reverse(way)
				return way
			}
			if _, seen := from[to]; !seen && group[to] == group[start] {
				from[to] = n
				queue = append(queue, to)
			}
		}
	}
	return []int{start} // not reached: start lies in a cycle
}

// components gives each node the number of its group: of the nodes that it reaches and
// that reach it (Tarjan's algorithm).
func components(next [][]int) []int {
	t := tarjan{next: next, index: make([]int, len(next)), low: make([]int, len(next)), group: make([]int, len(next))}
	for i := range t.group {
		t.group[i] = -1
	}
	for i := range next {
		if t.index[i] == 0 {
			t.visit(i)
		}
	}
	return t.group
}

type tarjan struct {
	next              [][]int
	index, low, group []int // index counts from 1; group is -1 until it is known
	stack             []int
	count, groups     int
}

func (t *tarjan) visit(n int) {
	t.count++
	t.index[n], t.low[n] = t.count, t.count
	t.stack = append(t.stack, n)
	for _, to := range t.next[n] {
		if t.index[to] == 0 {
			t.visit(to)
			t.low[n] = min(t.low[n], t.low[to])
		} else if t.group[to] < 0 {
			t.low[n] = min(t.low[n], t.index[to])
		}
	}
	if t.low[n] != t.index[n] {
		return
	}
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.group[last] = t.groups
		if last == n {
			break
		}
	}
	t.groups++
}
