package history

import (
	"bytes"
	"unicode/utf8"
)

// maxEdits bounds how different two texts may be to be merged, in lines.
const maxEdits = 2000

// isText says whether a content has lines that a person would read.
func isText(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
}

// merge makes of base what mine and yours have made of it. ok is false where both
// have changed the same place, or lines beside each other.
func merge(base, mine, yours []byte) (out []byte, ok bool) {
	if !isText(base) || !isText(mine) || !isText(yours) {
		return nil, false
	}
	b, m, y := lines(base), lines(mine), lines(yours)
	inMine, ok1 := match(b, m)
	inYours, ok2 := match(b, y)
	if !ok1 || !ok2 {
		return nil, false
	}
	var i, j, k int
	for {
		// To the next line that all three have.
		next := i
		for next < len(b) && (inMine[next] < 0 || inYours[next] < 0) {
			next++
		}
		endMine, endYours := len(m), len(y)
		if next < len(b) {
			endMine, endYours = inMine[next], inYours[next]
		}
		part, ok := choose(b[i:next], m[j:endMine], y[k:endYours])
		if !ok {
			return nil, false
		}
		for _, line := range part {
			out = append(out, line...)
		}
		if next == len(b) {
			return out, true
		}
		out = append(out, b[next]...)
		i, j, k = next+1, endMine+1, endYours+1
	}
}

// choose takes the side that has changed a part.
func choose(base, mine, yours [][]byte) ([][]byte, bool) {
	switch {
	case equal(base, mine):
		return yours, true
	case equal(base, yours), equal(mine, yours):
		return mine, true
	}
	return nil, false
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// lines splits a text after each newline.
func lines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	list := bytes.SplitAfter(b, []byte("\n"))
	if len(list[len(list)-1]) == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// match finds for each line of a the line of b that it has become, or -1: the
// longest common subsequence, by Myers.
func match(a, b [][]byte) ([]int, bool) {
	to := make([]int, len(a))
	for i := range to {
		to[i] = -1
	}
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		to[head] = head
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
		to[len(a)-tail] = len(b) - tail
	}
	return to, middle(a[head:len(a)-tail], b[head:len(b)-tail], to[head:], head)
}

// middle fills to for what has no common beginning and end. shift is where b
// begins.
func middle(a, b [][]byte, to []int, shift int) bool {
	var trace [][]int32 // the furthest x on each diagonal, by the number of edits
	for d := 0; d <= min(maxEdits, len(a)+len(b)); d++ {
		v := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := from(trace, d, k)
			for x < len(a) && x-k < len(b) && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			v[k+d] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				back(append(trace, v), len(a), len(b), to, shift)
				return true
			}
		}
		trace = append(trace, v)
	}
	return false
}

// from is where the d-th edit on a diagonal ends: after a line of a is left out,
// or one of b is put in.
func from(trace [][]int32, d, k int) int {
	if d == 0 {
		return 0
	}
	x, _ := before(trace[d-1], d-1, k)
	return x
}

// before finds the better of the two ways to a diagonal.
func before(v []int32, d, k int) (x, diagonal int) {
	at := func(k int) int {
		if k < -d || k > d {
			return -1
		}
		return int(v[k+d])
	}
	left, up := at(k-1), at(k+1)
	if left+1 > up && left >= 0 || up < 0 {
		return left + 1, k - 1
	}
	return up, k + 1
}

// back walks the edits from the end and notes the lines that are the same.
func back(trace [][]int32, x, y int, to []int, shift int) {
	for d := len(trace) - 1; d >= 0; d-- {
		k := x - y
		start, diagonal := 0, 0
		if d > 0 {
			start, diagonal = before(trace[d-1], d-1, k)
		}
		for x > start && y > start-k {
			x, y = x-1, y-1
			to[x] = y + shift
		}
		if d > 0 {
			x = int(trace[d-1][diagonal+d-1])
			y = x - diagonal
		}
	}
}
