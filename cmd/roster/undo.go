package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsUndoCommand() *cobra.Command {
	var o roster.UndoOptions
	var yes bool
	cmd := &cobra.Command{
		Use:   "undo ID",
		Short: "Take back what a session has changed of files",
		Long: `Shows what a session, with those that it delegated to, has changed of the files of
the workspace, as a diff from what is there now to what was there before; asks; and
restores that. What you have changed since is kept: where you and the session have
changed different lines of a file, only the session's are taken back, and where they
are the same the file is left alone, and named. An undo can be taken back: --redo.

Not undone are files that .gitignore names, .git, files over 5 MiB, what lies outside
of the workspace, and whatever else a command did. The session must not be running.`,
		Example: `  roster sessions undo 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --dry-run
  roster sessions undo 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --last --yes`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atRoot(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key) error {
				return c.undo(ctx, at, k, o, yes)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&yes, "yes", false, "do it without a question")
	f.BoolVar(&o.DryRun, "dry-run", false, "only show it")
	f.BoolVar(&o.Last, "last", false, "only what was changed since the last prompt")
	f.BoolVar(&o.Redo, "redo", false, "take the last undo back")
	f.BoolVar(&o.Shared, "shared", false, "also what another session may have changed, which ran a command at the same time")
	return cmd
}

// undo shows what it would do before it does that.
func (c *cli) undo(ctx context.Context, at place, k session.Key, o roster.UndoOptions, yes bool) error {
	ask := !yes && !o.DryRun
	if ask && !c.attended() {
		return usagef("there is no terminal to ask on: say --yes, or --dry-run to see what it would do")
	}
	first := o
	first.DryRun = true
	plan, err := at.Undo(ctx, k, first)
	if err != nil {
		return err
	}
	if !c.json && !c.quiet || ask {
		if err := render.UndoDiff(c.stdout, &plan, terminal(c.stdout.file)); err != nil {
			return err
		}
	}
	if !o.DryRun && plan.Changes() > 0 {
		if ask {
			render.UndoNotes(c.stderr, &plan, c.quiet)
			if do, err := c.confirm(fmt.Sprintf("Take that back, in %s?", files(plan.Changes()))); err != nil || !do {
				fmt.Fprintln(c.stderr, "roster: nothing was changed")
				return err
			}
		}
		o.Plan = plan.Plan
		if plan, err = at.Undo(ctx, k, o); err != nil {
			return err
		}
	}
	again := " --redo"
	if o.Redo {
		again = ""
	}
	return c.undone(&plan, ask, "roster sessions undo "+k.Stream+again)
}

// undone says what came of it. noted says that what is left alone was said, and
// back what takes it back.
func (c *cli) undone(u *view.Undo, noted bool, back string) error {
	if c.json {
		return c.writeJSON(u)
	}
	if !noted || u.Changes() == 0 {
		render.UndoNotes(c.stderr, u, c.quiet)
	}
	switch n := u.Changes(); {
	case c.quiet:
	case n == 0:
		fmt.Fprintln(c.stderr, "roster: there is nothing to take back")
	case u.DryRun:
		fmt.Fprintf(c.stderr, "roster: %s would be changed\n", files(n))
	default:
		fmt.Fprintf(c.stderr, "roster: %s changed; %s takes that back\n", files(n), back)
	}
	return nil
}

func files(n int) string {
	if n == 1 {
		return "1 file or folder"
	}
	return fmt.Sprintf("%d files and folders", n)
}
