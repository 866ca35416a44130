package dialect_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile/dialect"
)

// TestCorpusDamaged changes one byte of valid files: each still means the same,
// but for the key that was changed, or a diagnostic names the line. Where a line
// break splits a key, what is left is sometimes well formed and its neighbour is
// not: one in 500 may name the neighbour.
func TestCorpusDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var valid []entry
	for _, e := range entries(t) {
		if e.valid == "yes" && plainYAML(t, e.data) != nil {
			valid = append(valid, e)
		}
	}
	const signs = "\n\r\t :#-\"'[]{}|>*&!%@`,?\\\x00\x7f"
	inFront := func(e entry) int {
		end := bytes.Index(e.data[4:], []byte("\n---")) + 9
		return rng.IntN(min(end, len(e.data)))
	}
	tests := []struct {
		name       string
		runs, most int
		at         func(entry) int
		with       func() byte
	}{
		{"anywhere", 200, 0, func(e entry) int { return rng.IntN(len(e.data)) }, func() byte { return byte(rng.IntN(256)) }},
		{"in the frontmatter", 2000, 4, inFront, func() byte { return byte(rng.IntN(128)) }},
		{"with what YAML minds", 2000, 4, inFront, func() byte { return signs[rng.IntN(len(signs))] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var wrong []string
			for range tt.runs {
				e := valid[rng.IntN(len(valid))]
				if s := damage(e, tt.at(e), tt.with()); s != "" {
					wrong = append(wrong, s)
				}
			}
			if len(wrong) > tt.most {
				t.Errorf("%d of %d:\n%s", len(wrong), tt.runs, strings.Join(wrong, "\n"))
			}
		})
	}
}

// damage says what is wrong with the reading of a file whose byte was changed.
func damage(e entry, at int, with byte) string {
	was, _, _ := dialect.ReadDocument(e.file())
	line := 1 + bytes.Count(e.data[:at], []byte("\n"))
	old := e.data[at]
	e.data = bytes.Clone(e.data)
	e.data[at] = with
	is, ds, ok := dialect.ReadDocument(e.file())
	split := old == '\n' || with == '\n'
	for _, d := range ds {
		if d.Line == line || split && d.Line == line+1 {
			return ""
		}
	}
	what := fmt.Sprintf("%s: byte %d from %q to %q in line %d %q", e.path, at, old, with, line, lineOf(e.data, line))
	if !ok {
		return fmt.Sprintf("%s: %v", what, ds)
	}
	// The key that was changed may mean something else, or be another key.
	key := -1
	for i, fd := range was {
		if fd.At.Line <= line || old == '\n' && fd.At.Line == line+1 {
			key = i
		}
	}
	for i, fd := range was {
		if i == key || i == key-1 && old == '\n' {
			continue
		}
		if n := find(is, fd.Key); n == nil || sameTree(n, fd.Node) != "" {
			return fmt.Sprintf("%s: %s in line %d is lost or changed", what, fd.Key, fd.At.Line)
		}
	}
	return ""
}

func find(fields []dialect.ReadField, key string) *yaml.Node {
	for _, f := range fields {
		if f.Key == key {
			return f.Node
		}
	}
	return nil
}
