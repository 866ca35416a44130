package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/message"
)

func (c *cli) mcpListCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers",
		Long: `Lists the MCP servers of the workspace, or with --profile those that a profile has:
where each is written, and how many tools it had when it was last reached. It starts
and reaches nothing.`,
		Example: "  roster mcp list\n  roster mcp list --profile reviewer --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.mcpList(cmd.Context(), name) },
	}
	c.profileFlag(cmd, &name)
	return cmd
}

func (c *cli) mcpToolsCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of MCP servers",
		Long: `Starts or reaches the MCP servers of the workspace, or with --profile those that a
profile has, and lists the tools that an agent is offered of them, by the names that it
is offered them by. What is not to be had is said on standard error.`,
		Example: "  roster mcp tools\n  roster mcp tools --profile reviewer --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.mcpTools(cmd.Context(), name) },
	}
	c.profileFlag(cmd, &name)
	return cmd
}

func (c *cli) mcpCallCommand() *cobra.Command {
	var name, input string
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL",
		Short: "Call a tool of an MCP server",
		Long: `Calls a tool of an MCP server yourself, without an agent and without being asked. TOOL
is the server's name for it, or the name that agents know it by. --input is a JSON
object; - reads it from standard input. A result that the server calls an error is
printed too, and the exit code is 1.`,
		Example: "  roster mcp call files read_text_file --input '{\"path\": \"notes.md\"}'",
		Args:    exactly("SERVER", "TOOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.mcpCall(cmd.Context(), name, args[0], args[1], input)
		},
	}
	cmd.Flags().StringVar(&input, "input", "{}", "what the tool is given, as a `JSON` object; - reads it from standard input")
	c.profileFlag(cmd, &name)
	return cmd
}

func (c *cli) profileFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "profile", "", "the profile's `NAME`; without it, the servers of the workspace")
	if err := cmd.RegisterFlagCompletionFunc("profile", c.completeProfiles); err != nil {
		panic(err) // the flag is there
	}
}

func (c *cli) mcpList(ctx context.Context, name string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	list, _, err := at.Servers(ctx, name)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(list)
	}
	render.Servers(c.stdout, list)
	return nil
}

func (c *cli) mcpTools(ctx context.Context, name string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.close(app, func() error {
		list, notes, err := app.ServerTools(ctx, name)
		if err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintf(c.stderr, "roster: %s\n", render.Safe(n))
		}
		if c.json {
			return c.writeJSON(list)
		}
		render.ServerTools(c.stdout, list)
		return nil
	}())
}

// maxCallInput bounds what is read from standard input, in bytes.
const maxCallInput = 16 << 20

func (c *cli) mcpCall(ctx context.Context, name, server, tool, input string) error {
	if input == "-" {
		data, err := io.ReadAll(io.LimitReader(c.stdin, maxCallInput))
		if err != nil {
			return err
		}
		input = string(data)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &object); err != nil || object == nil {
		return usagef("--input takes a JSON object, such as '{\"path\": \"notes.md\"}'")
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.close(app, func() error {
		res, err := app.CallServer(ctx, name, server, tool, json.RawMessage(input))
		if err != nil {
			return err
		}
		text := saying(res.Parts)
		if c.json {
			err = c.writeJSON(map[string]any{"is_error": res.Error, "text": text})
		} else {
			_, err = fmt.Fprintln(c.stdout, render.Safe(text))
		}
		if err == nil && res.Error {
			err = errors.New("the server says that the call has failed")
		}
		return err
	}())
}

// saying is the text of the parts, each on lines of its own, in which an image is
// named.
func saying(parts []message.Part) string {
	var lines []string
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			lines = append(lines, strings.Trim(p.Text, "\n"))
		case message.Image:
			lines = append(lines, fmt.Sprintf("[image %s, %d bytes]", p.MediaType, len(p.Data)))
		}
	}
	return strings.Join(lines, "\n")
}
