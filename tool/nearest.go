package tool

import (
	"fmt"
	"strings"
)

const (
	nearestFileLines = 20_000 // looked at
	nearestOldLines  = 40     // compared
	nearestLineBytes = 400    // of a line compared
	likeEnough       = 0.6    // of 1
)

// nearest describes the place in text that is most like old, or is empty if
// none is.
func nearest(text []byte, old string) string {
	lines := strings.SplitN(string(text), "\n", nearestFileLines+1)
	if len(lines) > nearestFileLines {
		lines = lines[:nearestFileLines]
	}
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	if len(want) > nearestOldLines {
		want = want[:nearestOldLines]
	}
	for i := range want {
		want[i] = compared(want[i])
	}
	best, bestAt := 0.0, 0
	for i := 0; i+len(want) <= len(lines); i++ {
		// A block whose first line has nothing in common is not looked at.
		score := likeness(compared(lines[i]), want[0])
		if score < likeEnough/2 {
			continue
		}
		for j := 1; j < len(want); j++ {
			score += likeness(compared(lines[i+j]), want[j])
		}
		if score /= float64(len(want)); score > best {
			best, bestAt = score, i
		}
	}
	if best < likeEnough {
		return ""
	}
	how := "the nearest"
	if best == 1 {
		how = "it differs only in white space from what"
	}
	block := lines[bestAt : bestAt+len(want)]
	for i := range block {
		block[i] = valid(string(appendLine(nil, []byte(block[i]), nearestLineBytes, 0)))
	}
	return fmt.Sprintf("; %s is at line %d:\n%s", how, bestAt+1, strings.Join(block, "\n"))
}

func compared(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	return line[:min(len(line), nearestLineBytes)]
}

// likeness of two lines, from 0 to 1: how much of them is the same at the
// beginning and at the end.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	short, long := min(len(a), len(b)), max(len(a), len(b))
	head := 0
	for head < short && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return float64(head+tail) / float64(long)
}
