package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/profile"
)

// serverFlags are those by which a server is described.
type serverFlags struct {
	url          string
	env, headers []string
	timeout      time.Duration
	user         bool
}

func (c *cli) mcpAddCommand() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "add NAME [--url URL | -- COMMAND [ARG…]]",
		Short: "Add an MCP server",
		Long: `Writes an MCP server into roster.yaml, in the place of the one of that name, and leaves
the rest of the file as it is. Write secrets as '${VARIABLE}': the variable is read when
the server is needed. In a workspace that you have trusted the server is trusted with
it; in another one it has no effect until roster trust. It starts nothing.`,
		Example: `  roster mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  roster mcp add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization=Bearer ${GITHUB_TOKEN}'
  roster mcp add memory --user --env MEMORY_FILE_PATH=/home/me/memory.json -- npx -y @modelcontextprotocol/server-memory`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.mcpAdd(cmd, args, f) },
	}
	cmd.Flags().StringVar(&f.url, "url", "", "the `URL` of a server that is there")
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "a variable that the command gets: `KEY=VALUE`; may be repeated")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "a header that the address is sent: `KEY=VALUE`; may be repeated")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "the longest that a call may take (default 1m)")
	cmd.Flags().BoolVar(&f.user, "user", false, "write it into your own roster.yaml, for all workspaces")
	return cmd
}

func (c *cli) mcpRmCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME",
		Short:   "Take an MCP server away",
		Long:    "Takes an MCP server out of roster.yaml, and leaves the rest of the file as it is.",
		Example: "  roster mcp rm github",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			if err := app.DropServer(cmd.Context(), args[0]); err != nil {
				return err
			}
			return c.edited(args[0], "removed")
		},
	}
}

func (c *cli) mcpAdd(cmd *cobra.Command, args []string, f serverFlags) error {
	s := profile.Server{Name: args[0], URL: f.url, Timeout: f.timeout}
	if rest := args[1:]; len(rest) > 0 {
		s.Command, s.Args = rest[0], rest[1:]
	}
	var err error
	if s.Env, err = keysAndValues("--env", f.env); err != nil {
		return err
	}
	if s.Headers, err = keysAndValues("--header", f.headers); err != nil {
		return err
	}
	if (s.Command == "") == (s.URL == "") {
		return usagef("roster mcp add needs either --url URL or a command behind --")
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	if err := app.PutServer(cmd.Context(), s, f.user); err != nil {
		return err
	}
	if !f.user && !app.Trust().Workspace() && !c.quiet {
		fmt.Fprintln(c.stderr, "roster: it has no effect until you have trusted the workspace: see roster trust")
	}
	return c.edited(s.Name, "added")
}

func (c *cli) edited(name, what string) error {
	if c.json {
		return c.writeJSON(map[string]string{"name": name, "status": what})
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "%s: %s\n", name, what)
	}
	return nil
}

func keysAndValues(flag string, list []string) (pairs []profile.Pair, err error) {
	for _, kv := range list {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, usagef("%s takes KEY=VALUE, not %q", flag, name)
		}
		pairs = append(pairs, profile.Pair{Name: name, Value: value})
	}
	return pairs, nil
}
