package dialect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile/dialect"
)

func fix(data []byte) ([]byte, int) {
	out, fixed := dialect.Fix(&dialect.File{Name: "f.md", Path: "f.md", Data: data})
	return out, len(fixed)
}

// TestFix: the repairs are written in, and nothing else is changed.
func TestFix(t *testing.T) {
	tests := []struct {
		name, in, want string
		fixed          int
	}{
		{"clean", "---\na: b\n---\nx: y: z", "---\na: b\n---\nx: y: z", 0},
		{"no frontmatter", "# a\n", "# a\n", 0},
		{"refused", "---\na: b: c\nd: \"e\n---\n", "---\na: b: c\nd: \"e\n---\n", 0},
		{"colon", "---\na: b: c # d  \n# e\nf: g\n---\nx", "---\na: \"b: c # d\"  \n# e\nf: g\n---\nx", 1},
		{"line ends", "---\r\na: b: c\r\nd: e: f\n---\r\nx\r\n", "---\r\na: \"b: c\"\r\nd: \"e: f\"\n---\r\nx\r\n", 2},
		{"laid out with CRLF", "---\r\ndescription: a\r\n\r\n  - b: c\r\n---\r\n", "---\r\ndescription: |-\r\n  a\r\n\r\n  - b: c\r\n---\r\n", 1},
		{"over lines", "---\ndescription: a\n  b: 'c'\n---\n", "---\ndescription: \"a\n  b: 'c'\"\n---\n", 1},
		{"both quotes", "---\na: it's: \"b\"\n---\n", "---\na: 'it''s: \"b\"'\n---\n", 1},
		{"tabs", "---\na:\n\tb: c: d\n---\n", "---\na:\n  b: \"c: d\"\n---\n", 2},
		{"byte order mark", "\ufeff---\na: b\n---\nx", "---\na: b\n---\nx", 1},
		{"blank lines", "\r\n \r\n---\r\na: b\r\n---\r\nx", "---\r\na: b\r\n---\r\nx", 1},
		{"comments", "<!--\n  one\n\ntwo -->\n\n<!-- three -->\n--- \na: b: c\n---\nx", "--- \n#  one\n#\n# two\n# three\na: \"b: c\"\n---\nx", 2},
		{"a comment in the line of the dashes", "<!-- one -->---\na: b\n---\n", "---\n# one\na: b\n---\n", 1},
		{"a comment that YAML cannot hold", "<!-- one\x01 -->\n---\na: b: c\n---\n", "<!-- one\x01 -->\n---\na: \"b: c\"\n---\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			got, n := fix(in)
			if string(got) != tt.want || n != tt.fixed {
				t.Errorf("got %q with %d fixes, want %q with %d", got, n, tt.want, tt.fixed)
			}
			if string(in) != tt.in {
				t.Error("the input was changed")
			}
			if again, n := fix(got); n > 0 || !bytes.Equal(again, got) {
				t.Errorf("a second time changes it: %q", again)
			}
		})
	}
	data := []byte("---\na: b: c\n---\n")
	for _, name := range strings.Fields("x.json x.yaml x.toml") {
		if got, fixed := dialect.Fix(&dialect.File{Name: name, Path: name, Data: data}); len(fixed) > 0 || !bytes.Equal(got, data) {
			t.Errorf("%s is no Markdown", name)
		}
	}
}
