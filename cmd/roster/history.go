package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
)

func (c *cli) rmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a profile's file",
		Long: `Removes the file of a profile. What it held is kept: roster profile rollback
brings it back.`,
		Args: exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.remove(cmd.Context(), args[0]) },

		ValidArgsFunction: c.completeProfiles,
	}
}

func (c *cli) remove(ctx context.Context, name string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	file, err := at.Delete(ctx, name)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]string{"removed": name, "file": file})
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: removed %s %s\n", name, file)
	}
	return nil
}

func (c *cli) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Profiles: what their files held before",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "history NAME",
		Short: "List the versions of a profile's file",
		Long: `Lists the versions of a profile's file, the newest first: the commits that changed
it, where there is a git repository, and what roster itself replaced. What cannot
be read of them, such as a damaged repository, is said on standard error.`,
		Args:              exactly("NAME"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.history(cmd.Context(), args[0]) },
		ValidArgsFunction: c.completeProfiles,
	}, &cobra.Command{
		Use:   "diff NAME [FROM [TO]]",
		Short: "Show what changed between two versions of a profile's file",
		Long: `Shows what changed from one version to another: by default, from the version
before to the one in the file. FROM and TO are revisions that roster profile
history lists, or the start of one.`,
		Args:              arguments(1, "NAME", "FROM", "TO"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.diff(cmd.Context(), args) },
		ValidArgsFunction: c.completeProfiles,
	}, &cobra.Command{
		Use:   "rollback NAME REVISION",
		Short: "Write an earlier version into a profile's file",
		Long: `Writes an earlier version into the profile's file, byte for byte. It also brings
back a profile that was removed. What the file holds now stays in the history.`,
		Args:              exactly("NAME", "REVISION"),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.rollback(cmd.Context(), args[0], args[1]) },
		ValidArgsFunction: c.completeProfiles,
	})
	return cmd
}

// revisionRunes is how much of a revision is shown.
const revisionRunes = 12

func (c *cli) history(ctx context.Context, name string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	versions, ds, err := at.ProfileHistory(ctx, name)
	if err != nil {
		return err
	}
	for i := range ds {
		render.Diagnostic(c.stderr, c.style(c.stderr), &ds[i], nil)
	}
	if c.json {
		if versions == nil {
			versions = []view.Version{}
		}
		return c.writeJSON(versions)
	}
	var rows [][]string
	for _, v := range versions {
		now := ""
		if v.Current {
			now = "now"
		}
		message, _, _ := strings.Cut(v.Message, "\n")
		rows = append(rows, []string{v.Revision[:min(revisionRunes, len(v.Revision))], now,
			v.Time.UTC().Format(time.DateTime), v.Source, orDash(v.Author), message})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"REVISION", "", "TIME (UTC)", "FROM", "AUTHOR", "MESSAGE"}, rows)
	return nil
}

func (c *cli) diff(ctx context.Context, args []string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	args = append(args, "", "")
	text, err := at.ProfileDiff(ctx, args[0], args[1], args[2])
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]string{"diff": text})
	}
	if terminal(c.stdout.file) {
		text = render.Safe(text)
	}
	_, err = io.WriteString(c.stdout, text)
	return err
}

func (c *cli) rollback(ctx context.Context, name, revision string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	p, err := at.Rollback(ctx, name, revision)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]string{"name": p.Name, "file": p.Source.File, "revision": p.Revision})
	}
	fmt.Fprintln(c.stdout, p.Source.File)
	return nil
}
