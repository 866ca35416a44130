package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/ledger"
)

func (c *cli) tieOffsCommand() *cobra.Command {
	q, name := roster.TieOffQuery{}, ""
	cmd := &cobra.Command{
		Use:   "tieoffs [KNOT]",
		Short: "Read what the knots of a rig have answered",
		Long: `Lists the answers in the tie-offs of a rig, the newest first. With KNOT, as LOOM/NAME or as
a name that only one knot has, or with --full, it shows the answers themselves. It reads
the files: what people have written between the answers is passed over, and an answer that
somebody has changed is shown as it is now.`,
		Example: "  roster tieoffs\n  roster tieoffs review-loom/clarity --limit 1\n  roster tieoffs --full --json",
		Args:    arguments(0, "KNOT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 1 || q.Limit > ledger.MaxPage {
				return usagef("--limit takes a number from 1 to %d", ledger.MaxPage)
			}
			if len(args) > 0 {
				q.Knot, q.Answers = args[0], true
			}
			return c.withRig(cmd.Context(), name, func(at place, name string) error {
				found, err := at.RigTieOffs(cmd.Context(), name, q)
				if err != nil {
					return err
				}
				return c.showTieOffs(found, q.Answers)
			})
		},
	}
	c.rigFlag(cmd, &name)
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "show at most `N` answers")
	cmd.Flags().BoolVar(&q.Answers, "full", false, "show the answers, and not only a list")
	return cmd
}

func (c *cli) showTieOffs(found view.TieOffs, full bool) error {
	if c.json {
		return c.writeJSON(found)
	}
	if !c.quiet {
		for _, p := range found.Problems {
			fmt.Fprintf(c.stderr, "roster: %s/%s\n", found.Rig, render.Visible(p))
		}
	}
	if len(found.Sections) == 0 {
		fmt.Fprintln(c.stdout, "there are no answers")
		return nil
	}
	if full {
		for i := range found.Sections {
			c.showAnswer(&found.Sections[i], i > 0)
		}
		return nil
	}
	var rows [][]string
	for i := range found.Sections {
		s := &found.Sections[i]
		rows = append(rows, []string{localTime(s.Time), s.Knot, s.Event, orDash(s.Path), dollars(s.Cost), orDash(s.Session)})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"TIME", "KNOT", "EVENT", "PATH", "COST", "SESSION"}, rows)
	return nil
}

// showAnswer shows an answer below a line that says of what it is, which no name of a
// file may break.
func (c *cli) showAnswer(s *view.TieOff, behind bool) {
	if behind {
		fmt.Fprintln(c.stdout)
	}
	said := []string{s.Knot, s.Event}
	for _, more := range []string{s.Path, s.Session, dollars(s.Cost)} {
		if more != "" {
			said = append(said, more)
		}
	}
	if s.Edited {
		said = append(said, "(changed since)")
	}
	fmt.Fprintf(c.stdout, "=== %s  %s\n\n%s\n", localTime(s.Time), render.Visible(strings.Join(said, "  ")), render.Safe(strings.Trim(s.Answer, "\n")))
}

func localTime(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

func dollars(cost float64) string { return fmt.Sprintf("$%.4f", cost) }
