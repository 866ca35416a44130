package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
)

func (c *cli) acpCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "acp [PROFILE]",
		Short: "Serve the workspace to an editor, on standard input and output",
		Long: `Serves the workspace to an editor that speaks the Agent Client Protocol, such as Zed.
The editor starts this command and talks to it over standard input and output. Its
sessions are Roster's, and the profiles are the modes that it can switch between:
they begin with PROFILE, or else with the first one that is no subagent.

What a profile has to ask a person is asked by the editor. MCP servers of the editor's
own are not used: those that agents are to have stand in the workspace. Nothing but
the protocol is written to standard output.`,
		Example: `  roster acp
  roster acp reviewer --mode plan`,
		Args: arguments(0, "PROFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.acp(cmd.Context(), args, f)
		},
		ValidArgsFunction: c.completeProfiles,
	}
	fs := cmd.Flags()
	fs.StringVar(&f.model, "model", "", "use this `MODEL`: provider/model-id, an alias, or script:FILE")
	fs.StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	fs.IntVar(&f.maxTurns, "max-turns", 0, "end each run after `N` model calls")
	fs.Float64Var(&f.maxCost, "max-cost", 0, "end each run when it has cost `USD`")
	modeFlag(cmd, &f)
	fs.BoolVar(&f.allowAll, "dangerously-allow-all", false, "let the permission mode bypass run everything unasked that is not denied")
	fs.StringVar(&f.onDeny, "on-deny", "", "\"stop\" ends each run at the first denied tool call")
	return cmd
}

func (c *cli) acp(ctx context.Context, args []string, f runFlags) error {
	set, err := f.overrides()
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if c.quiet {
		level = slog.LevelError
	}
	app, err := c.open(roster.Options{Log: slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: level}))})
	if err != nil {
		return err
	}
	o := roster.ACPOptions{Flags: set, AllowAll: f.allowAll, OnDeny: f.onDeny}
	if len(args) > 0 {
		o.Profile = args[0]
		if _, err := app.Catalog().Get(o.Profile); err != nil {
			return c.close(app, err)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // an editor that is gone must not end the program before its runs are handed over
	err = app.ServeACP(ctx, o, c.stdin, c.stdout)
	stop() // a second signal ends the program at once
	return c.close(app, err)
}
