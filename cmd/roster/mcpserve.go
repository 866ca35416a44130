package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/profile"
)

func (c *cli) mcpServeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve [PROFILE…]",
		Short: "Serve profiles as tools on standard input and output",
		Long: `Serves the workspace to a client of the Model Context Protocol, which starts this
command and talks to it over standard input and output. Each profile is a tool,
each session a resource. Without arguments all profiles are offered that are not
hidden; PROFILE is a name, or a pattern such as 'team/*'.

What a profile has to ask a person is asked by the client, where it can do that,
and else denied at once. Nothing but the protocol is written to standard output.

roster serve offers the same over HTTP, at /mcp.`,
		Example: `  roster mcp serve
  roster mcp serve reviewer 'team/*'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.mcpServe(cmd.Context(), args)
		},
		ValidArgsFunction: c.completeProfiles,
	}
}

func (c *cli) mcpServe(ctx context.Context, patterns []string) error {
	level := slog.LevelWarn
	if c.quiet {
		level = slog.LevelError
	}
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: level}))
	offer, err := offered(patterns)
	if err != nil {
		return err
	}
	app, err := c.open(roster.Options{Log: log})
	if err != nil {
		return err
	}
	if err := mustOffer(app, patterns); err != nil {
		return c.close(app, err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a client that is gone must not end the program before its runs are handed over
	server := app.MCP(offer)
	err = server.Serve(ctx, c.stdin, c.stdout)
	stop() // a second signal ends the program at once
	server.Close()
	return c.close(app, err)
}

// offered says which profiles the patterns name; nil: none were given.
func offered(patterns []string) (func(*profile.Profile) bool, error) {
	for _, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			return nil, usagef("%q is neither the name of a profile nor a pattern of names such as 'team/*'", p)
		}
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	return func(p *profile.Profile) bool { return namesProfile(patterns, p.Name) }, nil
}

func namesProfile(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if doublestar.MatchUnvalidated(pattern, name) {
			return true
		}
	}
	return false
}

// mustOffer refuses a pattern that no profile has: a name that is misspelt would
// be a tool that is missing.
func mustOffer(app *roster.App, patterns []string) error {
	all := app.Catalog().Snapshot()
	for _, pattern := range patterns {
		found := false
		for p := range all.List() {
			found = found || namesProfile([]string{pattern}, p.Name)
		}
		if !found {
			return usagef("no profile has the name %s: roster list shows those that there are", pattern)
		}
	}
	return nil
}
