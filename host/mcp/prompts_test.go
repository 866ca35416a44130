package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/model/script"
)

func TestCommandsArePrompts(t *testing.T) {
	s := newSite(t, map[string]string{
		"commands/named.md":  "---\ndescription: With names.\narguments: [from, to]\n---\nGo from $from to $to.\n",
		"commands/plain.md":  "Say $ARGUMENTS now, and see @roster.yaml.\n",
		"commands/runs.md":   "It is !`echo hi > ran.txt`.\n",
		"commands/agents.md": "---\nagent: echo\n---\nIt is !`echo hi > ran.txt`.\n",
	}, script.Reply{Text: "ok"})
	c := s.connect(nil)
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]string{}
	for _, p := range list.Prompts {
		var names []string
		for _, a := range p.Arguments {
			names = append(names, a.Name)
		}
		takes[p.Name] = strings.Join(names, " ")
	}
	if len(takes) < 4 || takes["named"] != "from to" || takes["plain"] != "arguments" || takes["runs"] != "" {
		t.Errorf("prompts %q", takes)
	}
	get := func(name string, in map[string]string) (string, error) {
		res, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: in})
		if err != nil {
			return "", err
		}
		var all string
		for _, m := range res.Messages {
			if m.Role != "user" {
				t.Errorf("%s has the role %s", name, m.Role)
			}
			all += m.Content.(*sdk.TextContent).Text
		}
		return all, nil
	}
	if text, err := get("named", map[string]string{"from": "the old town", "to": "$ARGUMENTS"}); err != nil || text != "Go from the old town to $ARGUMENTS." {
		t.Errorf("named: %q %v", text, err)
	}
	// A command without an agent has nobody by whose rules a file is read.
	if text, err := get("plain", map[string]string{"arguments": "hello"}); err != nil || text != "Say hello now, and see @roster.yaml." {
		t.Errorf("plain: %q %v", text, err)
	}
	for _, name := range []string{"runs", "agents", "nobody", "../x", ""} {
		if text, err := get(name, nil); err == nil {
			t.Errorf("%s came to %q", name, text)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran.txt")); err == nil {
		t.Error("a command line has run")
	}
}
