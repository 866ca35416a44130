package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) toolsCommand() *cobra.Command {
	var name string
	var f runFlags
	cmd := &cobra.Command{
		Use:   "tools [--profile NAME]",
		Short: "List the tools, or say which of them a profile is offered and why",
		Long: `Lists the tools that there are, by the groups that a profile may list them by, each
with what holds for it where no rule says otherwise.

With --profile it lists the tools that the model of a profile's runs is told of and
those that are withheld, each with the step and the rule that decided, and the
profiles that it may give tasks to or hand its session over to. A tool that is offered
is not allowed for everything: roster permit judges one call. It starts nothing.`,
		Example: "  roster tools\n  roster tools --profile reviewer\n  roster tools --profile reviewer --mode plan --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name != "" {
				return c.tools(cmd, name, f)
			}
			if f.mode != "" || len(f.set) > 0 {
				return usagef("--mode and --set need --profile NAME")
			}
			return c.capabilities(cmd.Context())
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

func (c *cli) capabilities(ctx context.Context) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	all, err := at.AllTools(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]any{"capabilities": all})
	}
	render.Capabilities(c.stdout, c.style(c.stdout.file), all)
	return nil
}

func (c *cli) tools(cmd *cobra.Command, name string, f runFlags) error {
	f.allowAll = true // nothing runs
	keys, err := f.overrides()
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	t, ds, err := at.Tools(cmd.Context(), name, session.Overrides{Flags: keys, AllowAll: f.mode != ""})
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
