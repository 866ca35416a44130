package mcp

import (
	"io"
	"testing"
)

// TestWhatAServerSaidLast: of what a program wrote before it ended, the line that
// tells why.
func TestWhatAServerSaidLast(t *testing.T) {
	for _, c := range []struct{ name, wrote, want string }{
		{"one line", "no such option\n", "no such option"},
		{"nothing", "", ""},
		{"JavaScript", "node:internal/modules:12\n  throw err;\n\nError: Cannot find module '/x'\n    at Module\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n", "Error: Cannot find module '/x'"},
		{"Python", "Traceback (most recent call last):\n  File \"x\"\nModuleNotFoundError: No module named 'x'\n", "ModuleNotFoundError: No module named 'x'"},
		{"an error long ago and others since", "error: once\nready\n" + "working on error handling\n", "error: once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLogger(func(string) {}, nil)
			if _, err := io.WriteString(l, c.wrote); err != nil {
				t.Fatal(err)
			}
			l.flush()
			if got := l.last(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
