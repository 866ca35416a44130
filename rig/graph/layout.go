package graph

import (
	"cmp"
	"slices"
)

// Sizes of the picture, in pixels.
const (
	rowGap    = 18.0
	columnGap = 56.0
	margin    = 24.0
)

// maxBends bounds the places that edges pass between columns. A graph with more has its
// long edges drawn straight.
const maxBends = 20_000

// sweeps is how often the order of the columns is bettered, from left to right and back.
const sweeps = 12

// layout is where everything stands. Items are the nodes, in their order, and behind
// them the bends of edges that pass a column.
type layout struct {
	items   []item
	columns [][]int // of items, from the top
	paths   []route
	w, h    float64
}

type item struct {
	column     int
	x, y, w, h float64 // of the upper left corner
	right      float64 // where the column ends
	in, out    []int   // items in the columns before and behind
}

// route is the items that an edge leads through, from left to right. Back says that the
// edge leads from right to left: its end is the first item.
type route struct {
	items []int
	back  bool
}

// arrange puts the nodes, of given sizes, into columns, each edge leading from left to
// right but for those that close a cycle, and orders the columns so that few edges
// cross (Sugiyama's method). Nothing overlaps.
func arrange(g *Graph, width, height []float64) *layout {
	l := &layout{items: make([]item, len(g.Nodes)), paths: make([]route, len(g.Edges))}
	for i := range l.items {
		l.items[i].w, l.items[i].h = width[i], height[i]
	}
	ends := l.forward(g)
	l.layers(ends)
	l.bends(ends)
	l.order()
	l.place()
	return l
}

// forward turns the edges around that close a cycle, and gives the ends of all.
func (l *layout) forward(g *Graph) [][2]int {
	next := make([][]int, len(g.Nodes)) // edges
	for i, e := range g.Edges {
		next[e.From] = append(next[e.From], i)
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.Nodes))
	ends := make([][2]int, len(g.Edges))
	var visit func(n int)
	visit = func(n int) {
		state[n] = open
		for _, i := range next[n] {
			to := g.Edges[i].To
			ends[i] = [2]int{n, to}
			if state[to] == open {
				ends[i], l.paths[i].back = [2]int{to, n}, true
			} else if state[to] == unseen {
				visit(to)
			}
		}
		state[n] = done
	}
	for _, n := range l.roots(g) {
		if state[n] == unseen {
			visit(n)
		}
	}
	return ends
}

// roots are all nodes, those first to which no edge leads.
func (l *layout) roots(g *Graph) []int {
	leads := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		leads[e.To] = true
	}
	roots := make([]int, len(g.Nodes))
	for i := range roots {
		roots[i] = i
	}
	slices.SortStableFunc(roots, func(a, b int) int {
		switch {
		case leads[a] == leads[b]:
			return 0
		case leads[b]:
			return -1
		}
		return 1
	})
	return roots
}

// layers gives each node the column behind the last of those that lead to it.
func (l *layout) layers(ends [][2]int) {
	next, waits := make([][]int, len(l.items)), make([]int, len(l.items))
	for _, e := range ends {
		if e[0] != e[1] {
			next[e[0]] = append(next[e[0]], e[1])
			waits[e[1]]++
		}
	}
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for ; len(ready) > 0; ready = ready[1:] {
		n := ready[0]
		for _, to := range next[n] {
			l.items[to].column = max(l.items[to].column, l.items[n].column+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
}

// bends leads each edge through an item in each column that it passes.
func (l *layout) bends(ends [][2]int) {
	total := 0
	for _, e := range ends {
		total += max(0, l.items[e[1]].column-l.items[e[0]].column-1)
	}
	for i, e := range ends {
		way := []int{e[0]}
		for c := l.items[e[0]].column + 1; c < l.items[e[1]].column && total <= maxBends; c++ {
			l.items = append(l.items, item{column: c, h: 2})
			way = append(way, len(l.items)-1)
		}
		l.paths[i].items = append(way, e[1])
		for j, n := range way {
			to := l.paths[i].items[j+1]
			l.items[n].out = append(l.items[n].out, to)
			l.items[to].in = append(l.items[to].in, n)
		}
	}
	for i := range l.items {
		for len(l.columns) <= l.items[i].column {
			l.columns = append(l.columns, nil)
		}
		l.columns[l.items[i].column] = append(l.columns[l.items[i].column], i)
	}
}

// order sorts each column by the mean place of the neighbours in the one beside it, and
// keeps the best order that it finds.
func (l *layout) order() {
	rank := make([]float64, len(l.items))
	l.rank(rank)
	best, fewest := l.copyOfColumns(), l.crossings(rank)
	for s := range sweeps {
		if fewest == 0 {
			break
		}
		for i := range l.columns {
			c := i
			if s%2 == 1 {
				c = len(l.columns) - 1 - i
			}
			l.sortColumn(c, s%2 == 0, rank)
		}
		if n := l.crossings(rank); n < fewest {
			best, fewest = l.copyOfColumns(), n
		}
	}
	l.columns = best
}

func (l *layout) copyOfColumns() [][]int {
	out := make([][]int, len(l.columns))
	for i, c := range l.columns {
		out[i] = slices.Clone(c)
	}
	return out
}

func (l *layout) rank(rank []float64) {
	for _, column := range l.columns {
		for i, n := range column {
			rank[n] = float64(i)
		}
	}
}

func (l *layout) sortColumn(c int, byLeft bool, rank []float64) {
	column := l.columns[c]
	mean := make(map[int]float64, len(column))
	for _, n := range column {
		beside := l.items[n].out
		if byLeft {
			beside = l.items[n].in
		}
		mean[n] = rank[n]
		if len(beside) > 0 {
			sum := 0.0
			for _, b := range beside {
				sum += rank[b]
			}
			mean[n] = sum / float64(len(beside))
		}
	}
	slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for i, n := range column {
		rank[n] = float64(i)
	}
}

// crossings counts the pairs of edges between two columns that cross.
func (l *layout) crossings(rank []float64) (count int) {
	for _, column := range l.columns {
		var ends []float64 // of the edges, in the order in which they begin
		for _, n := range column {
			to := make([]float64, 0, len(l.items[n].out))
			for _, m := range l.items[n].out {
				to = append(to, rank[m])
			}
			slices.Sort(to)
			ends = append(ends, to...)
		}
		count += inversions(ends)
	}
	return count
}

// inversions counts the pairs that stand in the wrong order, sorting them.
func inversions(a []float64) int {
	if len(a) < 2 {
		return 0
	}
	left, right := slices.Clone(a[:len(a)/2]), slices.Clone(a[len(a)/2:])
	count := inversions(left) + inversions(right)
	for i, l, r := 0, 0, 0; i < len(a); i++ {
		if r == len(right) || l < len(left) && left[l] <= right[r] {
			a[i], l = left[l], l+1
		} else {
			a[i], r = right[r], r+1
			count += len(left) - l
		}
	}
	return count
}

// place gives each item its corner: columns beside each other, and in a column each item
// as near to its neighbours as those above it let it be.
func (l *layout) place() {
	x := margin
	for _, column := range l.columns {
		width := 0.0
		for _, n := range column {
			width = max(width, l.items[n].w)
		}
		y := margin
		for _, n := range column {
			it := &l.items[n]
			it.x, it.y, it.right = x, y, x+width
			y += it.h + rowGap
			if it.w == 0 { // a bend passes the whole column
				it.w = width
			}
		}
		x += width + columnGap
	}
	l.w = x - columnGap + margin
	for range sweeps {
		for i := range l.columns {
			l.pull(l.columns[i], true)
		}
		for i := range l.columns {
			l.pull(l.columns[len(l.columns)-1-i], false)
		}
	}
	l.settle()
}

// pull moves the items of a column to the mean of their neighbours, as far as their
// order and the gaps between them allow. Items that push each other share what is left.
func (l *layout) pull(column []int, byLeft bool) {
	type block struct {
		items       []int
		want, size  float64 // where its upper edge wants to be, and its height
		offsets     []float64
		wants, pull float64 // sum of the wishes, and how many
	}
	var blocks []block
	for _, n := range column {
		it := &l.items[n]
		want, weight := it.y, 0.01
		if w, ok := l.mean(n, byLeft); ok {
			want, weight = w-it.h/2, 1
		}
		b := block{items: []int{n}, offsets: []float64{0}, size: it.h, wants: want * weight, pull: weight, want: want}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.want+last.size+rowGap <= b.want {
				break
			}
			for i := range b.offsets { // join them
				b.offsets[i] += last.size + rowGap
			}
			b.wants = last.wants + b.wants - b.pull*(last.size+rowGap)
			b.pull += last.pull
			b.size += last.size + rowGap
			b.items, b.offsets = append(last.items, b.items...), append(last.offsets, b.offsets...)
			b.want = b.wants / b.pull
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for i, n := range b.items {
			l.items[n].y = b.want + b.offsets[i]
		}
	}
}

// mean is that of the middles of an item's neighbours: on one side, or where there are
// none on the other.
func (l *layout) mean(n int, byLeft bool) (y float64, ok bool) {
	beside, other := l.items[n].out, l.items[n].in
	if byLeft {
		beside, other = other, beside
	}
	if len(beside) == 0 {
		beside = other
	}
	for _, b := range beside {
		y += l.items[b].y + l.items[b].h/2
	}
	return y / float64(max(1, len(beside))), len(beside) > 0
}

// settle moves everything so that it begins at the margin.
func (l *layout) settle() {
	top, bottom := 0.0, 0.0
	for i := range l.items {
		if i == 0 || l.items[i].y < top {
			top = l.items[i].y
		}
	}
	for i := range l.items {
		l.items[i].y += margin - top
		bottom = max(bottom, l.items[i].y+l.items[i].h)
	}
	l.h = bottom + margin
}
