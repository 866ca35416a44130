package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/trust"
)

// TestServers reads the servers of all files, the weakest first.
func TestServers(t *testing.T) {
	o := placed(t, "mcp-servers: {ours: {command: run, timeout: 5s}, gone: false}", "mcp-servers: {mine: {command: mine}}", nil)
	for name, text := range map[string]string{
		".mcp.json":      `{"mcpServers": {"web": {"type": "http", "url": "https://x.example/mcp", "headers": {"K": "${K}"}}, "bad": {"command": "a", "url": "https://b"}}}`,
		"opencode.json":  "{\n  // comments are fine\n  \"mcp\": {\"local\": {\"type\": \"local\", \"command\": [\"npx\", \"srv\"], \"environment\": {\"A\": \"{env:B}\"}, \"timeout\": 2000, /* so */ \"oauth\": {}}}\n}",
		"opencode.jsonc": "{,",
	} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, trusted := range []bool{false, true} {
		o.Trust = func(_, home string) trust.View {
			if trusted {
				return trust.Everything()
			}
			v, err := (trust.Files{Home: home}).View(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		cfg, ds, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range cfg.Servers {
			acts := "acts"
			if s.Inert != nil {
				acts = "inert"
			}
			got = append(got, strings.Join([]string{s.Name, s.Command + s.URL, strings.Join(s.Args, " "), s.Timeout.String(), filepath.Base(s.Item.At.File), acts}, "|"))
		}
		acts := "inert"
		if trusted {
			acts = "acts"
		}
		want := []string{
			"mine|mine||0s|roster.yaml|acts", "local|npx|srv|2s|opencode.json|" + acts,
			"web|https://x.example/mcp||0s|.mcp.json|" + acts, "ours|run||5s|roster.yaml|" + acts,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("trusted %t: %s", trusted, diff)
		}
		var said []string
		for _, d := range ds {
			if d.Code == CodeServers {
				said = append(said, d.Message)
			}
		}
		if all := strings.Join(said, "\n"); len(said) != 3 || !strings.Contains(all, "mcpServers.bad: a server has a command or a url, and this has both") || !strings.Contains(all, "mcp.local: oauth has no effect here") {
			t.Errorf("said:\n%s", all)
		}
		if s := cfg.Servers[1]; s.Env[0].Value != "${B}" || s.Item.At.Line != 3 {
			t.Errorf("%+v", s)
		}
	}
}

// TestServersOfRoster refuses what is wrong in a file of ours.
func TestServersOfRoster(t *testing.T) {
	for text, want := range map[string]string{
		"mcp-servers: {a: {args: [x]}}":              "neither",
		"mcp-servers: {a: {command: x, comand: y}}":  "mcp-servers.a.comand",
		"mcp-servers: [a]":                           "a map of servers by name",
		"mcp-servers: {a: {command: x, timeout: 1}}": "timeout",
	} {
		if _, _, err := Load(placed(t, text, "", nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if cfg, _, err := Load(placed(t, "", "mcp-servers: {a: {command: x, timeout: 90s}}", nil)); err != nil || cfg.Servers[0].Timeout != 90*time.Second {
		t.Error(err)
	}
}
