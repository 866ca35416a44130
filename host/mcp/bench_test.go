package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/model/script"
)

// BenchmarkCall is a whole run of one turn, asked for by a client.
func BenchmarkCall(b *testing.B) {
	for _, way := range []string{"lines", "HTTP"} {
		b.Run(way, func(b *testing.B) {
			s := newSite(b, nil, script.Reply{Text: "ok"})
			c := s.connect(nil)
			if way == "HTTP" {
				c, _ = s.overHTTP(nil)
			}
			p := &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "x"}}
			b.ReportAllocs()
			for b.Loop() {
				if res, err := c.CallTool(b.Context(), p); err != nil || res.IsError {
					b.Fatal(res, err)
				}
			}
		})
	}
}

// BenchmarkPing is what the way alone takes.
func BenchmarkPing(b *testing.B) {
	c := newSite(b, nil).connect(nil)
	for b.Loop() {
		if err := c.Ping(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListTools lists 1,000 profiles.
func BenchmarkListTools(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		name := fmt.Sprintf("p%04d", i)
		files["profiles/"+name+".md"] = strings.Replace(echo, "name: echo", "name: "+name, 1)
	}
	c := newSite(b, files).connect(nil)
	for b.Loop() {
		if list, err := c.ListTools(b.Context(), nil); err != nil || len(list.Tools) < 1000 {
			b.Fatal(len(list.Tools), err)
		}
	}
}
