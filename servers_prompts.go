package roster

import (
	"context"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/tool/mcp"
)

// serverCommand is a prompt of an MCP server of the workspace as a command, by the name
// SERVER:PROMPT; nil: there is no such server. It is asked for when it is called.
func (a *App) serverCommand(name string) *command.Command {
	server, prompt, ok := strings.Cut(name, ":")
	if !ok || prompt == "" {
		return nil
	}
	s, _, err := a.serverSpec("")
	if err != nil {
		return nil
	}
	x, err := serverNamed(s, server)
	if err != nil {
		return nil
	}
	return &command.Command{
		Name: name, Kind: "mcp", File: x.At.File, At: x.At, Description: fmt.Sprintf("The prompt %s of the MCP server %s.", prompt, server),
		Fetch: func(ctx context.Context, arguments string) ([]message.Part, error) {
			c, err := a.serverClient(s, x)
			if err != nil {
				return nil, err
			}
			parts, err := promptParts(ctx, c, prompt, arguments)
			return parts, a.cleanError(err)
		},
	}
}

// promptParts asks for a prompt. Its arguments are given in the order in which the
// server names them; the last has the rest.
func promptParts(ctx context.Context, c *mcp.Client, name, arguments string) ([]message.Part, error) {
	list, _, err := c.Prompts(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range list {
		if names = append(names, p.Name); p.Name != name {
			continue
		}
		given := map[string]string{}
		rest := strings.TrimSpace(arguments)
		for i, arg := range p.Arguments {
			word := rest
			if i < len(p.Arguments)-1 {
				word, rest, _ = strings.Cut(rest, " ")
				rest = strings.TrimSpace(rest)
			}
			switch {
			case word != "":
				given[arg.Name] = word
			case arg.Required:
				return nil, fmt.Errorf("the prompt %s of the MCP server %s needs %s", name, c.Name(), arg.Name)
			}
		}
		said, err := c.Prompt(ctx, name, given)
		var parts []message.Part
		for _, m := range said {
			if m.Role == message.Assistant {
				parts = append(parts, message.Text{Text: "You have said:"})
			}
			parts = append(parts, m.Parts...)
		}
		return parts, err
	}
	return nil, fmt.Errorf("the MCP server %s has no prompt %q (it has: %s)", c.Name(), name, strings.Join(names, ", "))
}
