package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) worktreeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "What sessions changed in git worktrees of their own",
		Long: `A profile with "workspace: worktree", and a run with --worktree, works in a git
worktree of the session's own, on a branch roster/ID. What was changed there waits
until one of these commands is given. No hook, filter or other program that the
repository's configuration names is run by them.`,
		Args: subcommand,
		RunE: needSubcommand,
	}
	cmd.AddCommand(
		c.worktreeListCommand(),
		c.worktreeOf("diff ID", "Show what was changed in the worktree of a session",
			"Shows what was changed since the worktree began, with what is not committed and\nwith new files.", c.diffWorktree),
		c.worktreeMergeCommand(),
		c.worktreeOf("keep ID", "Leave the changes on their branch",
			"Commits what is not committed to the branch roster/ID, and takes the worktree\naway. The branch stays.", c.keepWorktree),
		c.worktreeDropCommand(),
	)
	return cmd
}

func (c *cli) worktreeOf(use, short, long string, do func(context.Context, *roster.App, session.Key, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.withSession(cmd.Context(), args[0], do) },
	}
}

func (c *cli) worktreeListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the worktrees that wait",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			return c.close(app, c.listWorktrees(cmd.Context(), app))
		},
	}
}

func (c *cli) listWorktrees(ctx context.Context, app *roster.App) error {
	list, err := app.Worktrees(ctx, roster.LocalTenant)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(append([]roster.Worktree{}, list...))
	}
	if len(list) == 0 {
		if !c.quiet {
			fmt.Fprintln(c.stderr, "roster: no worktrees wait")
		}
		return nil
	}
	rows := make([][]string, len(list))
	for i := range list {
		w := &list[i]
		rows[i] = []string{w.Session, w.Profile, w.Status, done(w), w.Dir, w.Title}
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "PROFILE", "STATUS", "CHANGES", "FOLDER", "TITLE"}, rows)
	return nil
}

// done says in a few words what was done in a worktree.
func done(w *roster.Worktree) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(len(w.Files), "file", "files")
	add(w.Commits, "commit", "commits")
	add(len(w.LeftOut), "repository", "repositories")
	switch {
	case w.Status == "gone":
		return "?"
	case len(parts) == 0:
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (c *cli) diffWorktree(ctx context.Context, app *roster.App, k session.Key, id string) error {
	text, w, err := app.WorktreeDiff(ctx, k, id)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(struct {
			roster.Worktree
			Diff string `json:"diff"`
		}{w, text})
	}
	if terminal(c.stdout.file) {
		text = render.Safe(text)
	}
	if text != "" {
		text += "\n"
	}
	if _, err := io.WriteString(c.stdout, text); err != nil {
		return err
	}
	c.sayLeftOut(&w)
	if w.Unchanged() && !c.quiet {
		fmt.Fprintf(c.stderr, "roster: nothing was changed in %s\n", render.Safe(w.Dir))
	}
	return nil
}

// sayLeftOut names what of a worktree is no part of its changes.
func (c *cli) sayLeftOut(w *roster.Worktree) {
	if c.quiet {
		return
	}
	for _, dir := range w.LeftOut {
		fmt.Fprintf(c.stderr, "roster: %s is a repository of its own: what is in it is not taken up\n", render.Safe(dir))
	}
	if w.Ignored > 0 {
		fmt.Fprintf(c.stderr, "roster: what .gitignore names is not taken up (%d)\n", w.Ignored)
	}
}

func (c *cli) worktreeMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge ID…",
		Short: "Bring the changes back into the workspace",
		Long: `Commits what is not committed, merges it into the branch that the workspace is on,
and takes the worktree and its branch away. Files of the workspace that are not
committed stay as they are. Where the changes do not fit, or where such a file is
in the way, nothing is changed at all. Several are merged one after the other, up
to the first that does not fit.`,
		Example: `  roster sessions worktree merge 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11_1 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11_2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("ID is missing: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ends := []roster.WorktreeEnd{}
			for _, id := range args {
				err := c.withSession(cmd.Context(), id, func(ctx context.Context, app *roster.App, k session.Key, id string) error {
					end, err := app.MergeWorktree(ctx, k, id)
					if end.How != "" {
						ends = append(ends, end)
						c.sayEnd(&end)
					}
					return err
				})
				if err != nil {
					return errors.Join(err, c.writeEnds(ends))
				}
			}
			return c.writeEnds(ends)
		},
	}
}

// writeEnds tells programs.
func (c *cli) writeEnds(ends []roster.WorktreeEnd) error {
	if !c.json {
		return nil
	}
	return c.writeJSON(ends)
}

// sayEnd tells people what became of a worktree.
func (c *cli) sayEnd(end *roster.WorktreeEnd) {
	if c.json || c.quiet {
		return
	}
	c.sayLeftOut(&end.Worktree)
	switch {
	case end.How == session.WorktreeMerged && len(end.Files) == 0 && end.Commits == 0:
		fmt.Fprintf(c.stderr, "roster: nothing was changed in the worktree of session %s; it is gone\n", end.Session)
	case end.How == session.WorktreeMerged && end.Into == "":
		fmt.Fprintf(c.stderr, "roster: merged %s of session %s: the workspace is at %.12s, on no branch\n", done(&end.Worktree), end.Session, end.Commit)
	case end.How == session.WorktreeMerged:
		fmt.Fprintf(c.stderr, "roster: merged %s of session %s into %s (%.12s)\n", done(&end.Worktree), end.Session, render.Safe(end.Into), end.Commit)
	case end.How == session.WorktreeKept:
		fmt.Fprintf(c.stderr, "roster: the branch %s has %s of session %s (%.12s)\n", render.Safe(end.Branch), done(&end.Worktree), end.Session, end.Commit)
	default:
		fmt.Fprintf(c.stderr, "roster: the worktree of session %s and its branch are gone\n", end.Session)
	}
}

func (c *cli) keepWorktree(ctx context.Context, app *roster.App, k session.Key, id string) error {
	end, err := app.KeepWorktree(ctx, k, id)
	if end.How == "" {
		return err
	}
	if c.sayEnd(&end); c.json {
		err = errors.Join(err, c.writeJSON(end))
	}
	return err
}

func (c *cli) worktreeDropCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "drop ID",
		Short: "Throw the changes away",
		Long: `Takes the worktree of a session and its branch away, with all that was changed in
it. What would be lost is shown, and asked about on a terminal; elsewhere --yes has
to say so. There is no way back.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSession(cmd.Context(), args[0], func(ctx context.Context, app *roster.App, k session.Key, id string) error {
				return c.dropWorktree(ctx, app, k, id, yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (c *cli) dropWorktree(ctx context.Context, app *roster.App, k session.Key, id string, yes bool) error {
	if !yes {
		if sure, err := c.sureToDrop(ctx, app, k, id); !sure || err != nil {
			return err
		}
	}
	end, err := app.DropWorktree(ctx, k, id)
	if end.How == "" {
		return err
	}
	if c.sayEnd(&end); c.json {
		err = errors.Join(err, c.writeJSON(end))
	}
	return err
}

// sureToDrop shows what would be lost, if there is something, and asks.
func (c *cli) sureToDrop(ctx context.Context, app *roster.App, k session.Key, id string) (bool, error) {
	text, w, err := app.WorktreeDiff(ctx, k, id)
	if roster.Code(err) == "WorktreeGone" {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("what would be lost cannot be shown (--yes drops it unseen): %w", err)
	}
	if w.Unchanged() && w.Ignored == 0 {
		return true, nil
	}
	fmt.Fprintln(c.stderr, render.Safe(text))
	c.sayLeftOut(&w)
	question := fmt.Sprintf("Throw away %s of session %s?", done(&w), id)
	if !terminal(c.stdin) || !terminal(c.stderr) || c.json {
		return false, usagef("%s There is no way back: say it with --yes", question)
	}
	sure, err := c.confirm(question)
	if err == nil && !sure {
		err = exit(exitFailed)
	}
	return sure, err
}

// sayWorktrees says, at the end of a run, which worktrees wait.
func (c *cli) sayWorktrees(ctx context.Context, app *roster.App, k session.Key) {
	if c.json || c.quiet {
		return
	}
	list, err := app.WorktreesOf(ctx, k)
	if err != nil {
		fmt.Fprintf(c.stderr, "roster: what the worktrees of the session hold cannot be seen: %v\n", err)
		return
	}
	waits := make([]render.Waits, len(list))
	for i := range list {
		what := done(&list[i]) + " changed"
		if list[i].Unchanged() {
			what = "nothing was changed"
		}
		waits[i] = render.Waits{Session: list[i].Session, What: what}
	}
	render.Worktrees(c.stderr, c.style(c.stderr), waits)
}
