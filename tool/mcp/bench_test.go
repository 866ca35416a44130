package mcp_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/mcp"
)

// BenchmarkCall is what a call costs with a server that does nothing: at most 1 ms by
// pipes and 2 ms by HTTP.
func BenchmarkCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	pool := mcp.NewPool(mcp.Options{})
	b.Cleanup(func() { _ = pool.Close() })
	env := append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GO") }), "SERVER_OF_TEST=plain")
	s := listen(b, "127.0.0.1:0", over(library(b), nil))
	for name, server := range map[string]mcp.Server{
		"stdio": {Name: "one", Command: self, Exec: sandbox.Self(), Dir: b.TempDir(), Env: env},
		"http":  {Name: "web", URL: s.URL},
	} {
		b.Run(name, func(b *testing.B) {
			c := pool.Get(server)
			if err := c.Connect(b.Context()); err != nil {
				b.Fatal(err)
			}
			echo := find(b, c, "echo")
			b.ReportAllocs()
			for b.Loop() {
				p, err := echo.Prepare(context.Background(), tool.Call{ID: "x", Input: []byte(`{"text":"hello"}`)})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Run(context.Background(), nil); err != nil {
					b.Fatal(err)
				}
				_ = p.Close()
			}
		})
	}
}
