package openapi

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rosterrun/roster/internal/corpus"
)

// both reads a text at once and in pieces, and fails unless both say the same.
func both(t *testing.T, name string, data []byte) (inPieces bool) {
	t.Helper()
	whole := &file{name: name}
	err := whole.yaml(data, 1<<24, 1<<24, 1<<24)
	for _, size := range []int{1, 20, 100, 1000} {
		apart := &file{name: name}
		w := yamlWriter{f: apart, most: 1 << 24, piece: size, maxPiece: 1 << 24}
		if size == 1 && len(data) > size {
			inPieces = w.pieces(data) == nil
		}
		err2 := apart.yaml(data, 1<<24, size, 1<<24)
		if (err == nil) != (err2 == nil) { // of several errors, another may come first
			t.Errorf("%s in pieces of %d: %v, and at once: %v", name, size, err2, err)
		}
		if err != nil || err2 != nil {
			continue
		}
		if !bytes.Equal(whole.text, apart.text) {
			t.Errorf("%s in pieces of %d:\n%.500s\nat once:\n%.500s", name, size, apart.text, whole.text)
		}
		if !slices.Equal(whole.marks, apart.marks) {
			i := 0
			for i < len(apart.marks)-1 && i < len(whole.marks)-1 && apart.marks[i] == whole.marks[i] {
				i++
			}
			t.Errorf("%s in pieces of %d: a place is %v, and at once %v", name, size, apart.marks[i], whole.marks[i])
		}
	}
	return inPieces
}

// TestPiecesOfRealDocuments: it makes no difference whether a text is read at once.
func TestPiecesOfRealDocuments(t *testing.T) {
	files := corpus.Files(t, func(path string) bool {
		real := strings.HasPrefix(path, "_aux/npm-readme-oas-examples/") || strings.HasPrefix(path, "_aux/OAI+")
		return real && strings.HasSuffix(path, ".yaml") && !strings.Contains(path, "star-trek") // which is long
	})
	n := 0
	for name, data := range files {
		if both(t, name, data) {
			n++
		}
	}
	if n < len(files)/2 || len(files) == 0 {
		t.Errorf("only %d of %d were read in pieces", n, len(files))
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		apart      bool // it can be read in pieces
	}{
		{"a map", "a: 1\nb:\n  c: 2\n  d: [1,\n   2]\ne: x\n", true},
		{"comments and blanks", "---\n# one\n\na: 1 # two\n# three\nb:\n\n    # four\n    c: 2\n\n    d: 3\n# five\n", true},
		{"a block of text", "a:\n  text: |\n    b: 1\n\n    c: 2\n  more: >-\n      b: 1\n       c: 2\nd: 1\n", true},
		{"a list below a key", "a:\n- b: 1\n- c: 2\n-\n  e\nd: 3\n", true},
		{"nothing but a list", "- a: 1\n- b: 2\n", false},
		{"a list without a key", "a: 1\n- b: 2\n- c: 3\n", false},
		{"a list", "a:\n  - b: 1\n  - c: 2\nd: 3\n", true},
		{"keys in quotes", "\"a b\": 1\n'c: d':\n  e: 2\nf: g\n", true},
		{"keys with colons", "a:b: 1\nhttp://x: 2\n/c/{d}:\n  e: 3\n", true},
		{"paths", "paths:\n  /a/{b}:\n    get: {}\n  /c:\n    put:\n      x: 1\n", true},
		{"windows' lines", "a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n", true},
		{"other ends of lines", "a: 1\r\rb: 2\nc: 3\n", false},
		{"no line at the end", "a: 1\nb:\n  c: 2\n  d: 3", true},
		{"an empty value", "a:\nb:\n  c:\n  d:\n", true},
		{"a key twice", "a: 1\nb: 2\na: 3\n", false},
		{"a key twice, below", "a:\n  b: 1\n  c: 2\n  b: 3\n", false},
		{"an anchor here and an alias there", "a: &x\n  b: 1\nc: *x\nd: 2\n", false},
		{"a key with an anchor", "&x a: 1\n*x : 2\n", false},
		{"an anchor on a map", "a: &x\n  b: 1\n  c: 2\nd: 3\n", true},
		{"a merge", "a:\n  <<: {b: 1}\n  b: 2\n  c: 3\n", true},
		{"a tag", "a: !!map\n  b: 1\nc: 2\n", true},
		{"quotes over lines", "a: \"x\nb: y\"\nc: 1\n", false},
		{"single quotes over lines", "a: 'x\n  b: y\n  c: z'\nd: 1\n", true},
		{"brackets over lines", "a: {x: 1,\nb: 2}\nc: 3\n", false},
		{"plain text over lines", "a: x\n  y\nb: z\n", true},
		{"an explicit key", "? a\n: 1\nb: 2\n", false},
		{"two documents", "a: 1\n---\nb: 2\n", false},
		{"an end", "a: 1\nb: 2\n...\n", false},
		{"tabs", "a:\n\tb: 1\nc: 2\n", false},
		{"odd indents", "a:\n    b: 1\n  c: 2\nd: 3\n", false},
		{"not YAML", "a: [1\nb: 2\nc: 3\n", false},
		{"a text", "hello\nworld: 1\n", false},
		{"a number for a key", "200: {a: 1}\n404:\n  b: 2\n", true},
		{"null for a key", "~: 1\nnull: 2\n", true},
		{"nothing but comments", "# a\n# b\n\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := both(t, "x", []byte(c.text)); got != c.apart {
				t.Errorf("read in pieces: %v", got)
			}
		})
	}
}

// FuzzPieces: it makes no difference to what a text says whether it is read at once.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("a: 1\nb:\n  c: |\n    d: 2\n  e: {f: [1,\n  2]}\n"))
	f.Add([]byte("paths:\n  /a:\n    get: &x {}\n  /b: *x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 || !utf8.Valid(data) {
			return
		}
		whole, apart := &file{name: "x"}, &file{name: "x"}
		if whole.yaml(data, 1<<24, 1<<24, 1<<24) == nil && apart.yaml(data, 1<<24, 1, 1<<24) == nil && !bytes.Equal(whole.text, apart.text) {
			t.Errorf("in pieces:\n%s\nat once:\n%s", apart.text, whole.text)
		}
	})
}
