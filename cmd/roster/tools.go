package main

import (
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) toolsCommand() *cobra.Command {
	var name string
	var f runFlags
	cmd := &cobra.Command{
		Use:   "tools --profile NAME",
		Short: "Say which tools a profile is offered, and why not others",
		Long: `Lists the tools that the model of a profile's runs is told of and those that are
withheld, each with the step and the rule that decided, and the profiles that it
may give tasks to or hand its session over to. A tool that is offered is not
allowed for everything: roster permit judges one call. It starts nothing.`,
		Example: "  roster tools --profile reviewer\n  roster tools --profile reviewer --mode plan --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return usagef("say of which profile: --profile NAME")
			}
			return c.tools(cmd, name, f)
		},
	}
	cmd.Flags().StringVar(&name, "profile", "", "the profile's `NAME`")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	modeFlag(cmd, &f)
	if err := cmd.RegisterFlagCompletionFunc("profile", c.completeProfiles); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

func (c *cli) tools(cmd *cobra.Command, name string, f runFlags) error {
	f.allowAll = true // nothing runs
	keys, err := f.overrides()
	if err != nil {
		return err
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	t, ds, err := app.Tools(cmd.Context(), name, session.Overrides{Flags: keys, AllowAll: f.mode != ""})
	if err != nil {
		return err
	}
	c.warn(ds)
	if c.json {
		return c.writeJSON(t)
	}
	render.Tools(c.stdout, c.style(c.stdout.file), t)
	return nil
}
