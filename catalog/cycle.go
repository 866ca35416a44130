package catalog

import "slices"

// components groups the nodes of a graph so that two are in one group if there
// is a way from each to the other. A group comes after those that it leads to.
func components(n int, edges func(int) []int) [][]int {
	t := &tarjan{edges: edges, index: make([]int, n), low: make([]int, n), on: make([]bool, n)}
	for i := range n {
		if t.index[i] == 0 {
			t.visit(i)
		}
	}
	return t.groups
}

type tarjan struct {
	edges      func(int) []int
	next       int
	index, low []int // from 1; 0: not visited
	on         []bool
	stack      []int
	groups     [][]int
}

func (t *tarjan) visit(i int) {
	t.next++
	t.index[i], t.low[i] = t.next, t.next
	t.stack, t.on[i] = append(t.stack, i), true
	for _, j := range t.edges(i) {
		if t.index[j] == 0 {
			t.visit(j)
			t.low[i] = min(t.low[i], t.low[j])
		} else if t.on[j] {
			t.low[i] = min(t.low[i], t.index[j])
		}
	}
	if t.low[i] != t.index[i] {
		return
	}
	var group []int
	for {
		j := t.stack[len(t.stack)-1]
		t.stack, t.on[j] = t.stack[:len(t.stack)-1], false
		group = append(group, j)
		if j == i {
			break
		}
	}
	t.groups = append(t.groups, group)
}

// maxWay bounds the nodes that are looked at for the way back to one.
const maxWay = 256

// wayBack gives the shortest way from a node back to itself, without its end; nil if it is not found among the nearest maxWay nodes.
func wayBack(start int, edges func(int) []int) []int {
	from := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 && len(from) < maxWay {
		i := queue[0]
		queue = queue[1:]
		for _, j := range edges(i) {
			if j == start {
				way := []int{i}
				for i != start {
					i = from[i]
					way = append(way, i)
				}
				slices.Reverse(way)
				return way
			}
			if _, seen := from[j]; !seen {
				from[j] = i
				queue = append(queue, j)
			}
		}
	}
	return nil
}
