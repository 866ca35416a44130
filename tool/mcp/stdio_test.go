package mcp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/tool/mcp"
)

func TestStdio(t *testing.T) {
	f := newFixture(t)
	s := server(t, "one", "plain", func(s *mcp.Server) { s.Env = append(s.Env, "OF_TEST=given") })
	c := f.pool.Get(s)
	if c != f.pool.Get(s) {
		t.Error("the same server has two clients")
	}
	if st := c.State(); st.Up || st.Err != nil || c.Tools() != nil {
		t.Errorf("it was started though nobody has used it: %+v", st)
	}
	if err := c.Connect(within(t, 20*time.Second)); err != nil {
		t.Fatal(err)
	}
	st := c.State()
	if !st.Up || st.Generation != 1 || st.Info.Name != "plain" || st.Info.Version != "1.0[31m" || st.Info.Instructions != "Be kind." || st.Info.Protocol != "2025-06-18" {
		t.Errorf("%+v", st)
	}
	x := find(t, c, "echo")
	if x.Def().Name != "one_echo" || x.Def().Description != "It is echo." || string(x.Def().Schema) != `{"properties":{},"type":"object"}` {
		t.Errorf("%+v", x.Def())
	}
	if text, _, err := call(t, x, `{"a": 1}`); err != nil || text != `{"a":1} call-1 given` {
		t.Errorf("%q, %v", text, err)
	}
}

func TestResults(t *testing.T) {
	f := newFixture(t)
	c := f.connect(server(t, "one", "plain"))
	for name, want := range map[string]string{
		"error": "it did not work",
		"image": "<image/png 70 bytes>",
		"wrong": "right",
		"mixed": "one\uFFFDtwo\n[audio, audio/wav, 3 bytes: it cannot be listened to]\n[an image, image/png, 3 bytes: only PNG, JPEG, GIF and WebP can be looked at]\n" +
			"[a resource that can be read: demo://1 (text/plain), first]\n[resource demo://2 (text/plain)]\ninside\n[resource demo://3 (application/zip), 3 bytes that are no text]\n" +
			"[an image of demo://4]\n<image/png 70 bytes>\n{\"count\":3}",
		"garbled": "the MCP server one: it answered with error -32700: its answer cannot be read",
		"values":  "the MCP server one: it answered with error -32000: a message of more than 100000 objects and lists was left out",
		"batch":   "[the tool gave nothing]",
		"stream":  "the MCP server one: it answered with error -32602: unknown tool[2J",
	} {
		t.Run(name, func(t *testing.T) {
			text, r, err := call(t, find(t, c, name), `{}`)
			if text != want || r.Error != (name == "error") || (err != nil) != strings.HasPrefix(want, "the MCP") {
				t.Errorf("%q, %v, %v\nwant %q", text, r.Error, err, want)
			}
		})
	}
	if !strings.Contains(f.logged(), "no message to its standard output: nonsense") {
		t.Error(f.logged())
	}
}
