package main

import (
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) permitCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "permit NAME TOOL SUBJECT",
		Short: "Say what a profile may do, and which rule decides",
		Long: `Judges a call of a tool on a subject: a path, a command line, a URL or a name.
Neither has to exist, and nothing is started. Shown are the effect, allow, ask or
deny, the step and the rule that decided, and of a command line each command and
redirection in it. What would be asked is shown as ask: a run without anybody to
answer denies it. The exit code is 0 for every effect.`,
		Example: "  roster permit reviewer bash 'git log | sh'\n  roster permit reviewer write README.md --mode accept-edits",
		Args:    exactly("NAME", "TOOL", "SUBJECT"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.permit(cmd, args, f) },

		ValidArgsFunction: c.completeProfiles,
	}
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	modeFlag(cmd, &f)
	return cmd
}

func (c *cli) permit(cmd *cobra.Command, args []string, f runFlags) error {
	f.allowAll = true // nothing runs
	keys, err := f.overrides()
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	over := session.Overrides{Flags: keys, AllowAll: f.mode != ""}
	p, ds, err := at.Permit(cmd.Context(), args[0], over, args[1], args[2])
	if err != nil {
		return err
	}
	c.warn(ds)
	if c.json {
		return c.writeJSON(p)
	}
	render.Permit(c.stdout, c.style(c.stdout.file), args[1], args[2], p)
	return nil
}
