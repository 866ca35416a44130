package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsSearchCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Find sessions by what was said",
		Long: `Lists the sessions in which a message of the user or of the model has all of the
words, the newest first, and the line in which the first one stands. Words in
"double quotes" stand next to each other. Case does not matter.`,
		Example: `  roster sessions search 'broken links'
  roster sessions search '"broken links" anchors' --limit 5`,
		Args: exactly("WORDS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(session.ParseSearch(args[0])) == 0 {
				return usagef("WORDS is %q: it has no word to look for", args[0])
			}
			at, err := c.reach()
			if err != nil {
				return err
			}
			return c.close(at, c.search(cmd.Context(), at, args[0], limit))
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most `N`; 0: all")
	return cmd
}

func (c *cli) search(ctx context.Context, at place, words string, limit int) error {
	list, err := at.Search(ctx, roster.LocalTenant, words, limit)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(list)
	}
	if len(list) == 0 {
		if !c.quiet {
			fmt.Fprintln(c.stderr, "roster: no session has that")
		}
		return nil
	}
	rows := make([][]string, len(list))
	for i, f := range list {
		rows[i] = []string{f.ID, f.Profile, f.Updated.Local().Format(time.DateTime), f.Match}
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "PROFILE", "UPDATED", "FOUND"}, rows)
	return nil
}

func (c *cli) sessionsPruneCommand() *cobra.Command {
	var older string
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune [ID…]",
		Short: "Remove sessions for good",
		Long: `Removes sessions with all that belongs to them: their events, the sessions that
they delegated to, and large results that no other session needs. Forks of them
stay. Name them, or say with --older-than how long nothing has happened in them.
Sessions that run or wait for an answer are left alone: cancel them first.

The space is given back to the disk. There is no way back, but for
roster sessions export beforehand.`,
		Example: `  roster sessions prune --older-than 30d --dry-run
  roster sessions prune 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11`,
		RunE: func(cmd *cobra.Command, args []string) error {
			age, err := ageOf("--older-than", older)
			if err != nil {
				return err
			}
			if (len(args) == 0) == (older == "") {
				return usagef("name the sessions, or say --older-than 30d")
			}
			at, err := c.reach()
			if err != nil {
				return err
			}
			return c.close(at, c.prune(cmd.Context(), at, args, age, dry))
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "", "those in which nothing has happened for `TIME`, such as 30d or 12h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be removed")
	return cmd
}

// ageOf reads a time of days (30d), or one as Go writes it.
func ageOf(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	days, isDays := strings.CutSuffix(text, "d")
	if n, err := strconv.ParseUint(days, 10, 16); isDays && err == nil {
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("%s %s: it takes a time such as 30d or 12h", flag, text)
	}
	return d, nil
}

func (c *cli) prune(ctx context.Context, at place, ids []string, age time.Duration, dry bool) error {
	b, err := at.Reader(ctx)
	if err != nil {
		return err
	}
	var list []session.Summary
	for _, id := range ids {
		if id != session.StreamOf(id) {
			return usagef("session %s works for session %s: name that one", id, session.StreamOf(id))
		}
		if err := knownSession(ctx, at, id); err != nil {
			return err
		}
		sum, err := b.Summary(ctx, session.Key{Tenant: roster.LocalTenant, Stream: id})
		if err != nil {
			return err
		}
		if !sum.AtRest() {
			return fmt.Errorf("session %s is %s: cancel it first (roster sessions cancel %s)", id, sum.Status(), id)
		}
		if err := at.HoldsWorktree(id); err != nil {
			return err
		}
		list = append(list, sum)
	}
	if len(ids) == 0 {
		if list, err = at.Outdated(ctx, roster.LocalTenant, time.Now().Add(-age)); err != nil {
			return err
		}
	}
	if !dry {
		return c.prunedNow(ctx, at, list)
	}
	views := make([]view.Session, len(list))
	rows := make([][]string, len(list))
	for i := range list {
		v := view.NewSession(&list[i])
		views[i], rows[i] = v, []string{v.ID, v.Profile, v.Updated.Local().Format(time.DateTime), v.Title}
	}
	if c.json {
		return c.writeJSON(views)
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "PROFILE", "UPDATED", "TITLE"}, rows)
	return nil
}

// prunedNow removes sessions and writes the ids of those that are gone.
func (c *cli) prunedNow(ctx context.Context, at place, list []session.Summary) error {
	pruned, err := at.PruneAll(ctx, list)
	ids := make([]string, len(pruned))
	for i, k := range pruned {
		ids[i] = k.Stream
	}
	if c.json {
		if err := c.writeJSON(map[string][]string{"pruned": ids}); err != nil {
			return err
		}
	} else if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %d of %d sessions removed\n", len(ids), len(list))
	}
	return err
}
