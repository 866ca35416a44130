package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// usageFlags are those of roster usage.
type usageFlags struct {
	since, until, by string
	tenant           string
	limit            int
	query            session.UsageQuery
}

func (c *cli) usageCommand() *cobra.Command {
	var f usageFlags
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "What was used: tokens, cost, loops, turns and errors",
		Long: `Sums up what the sessions of the workspace have used, by days in UTC. What was
pruned stays counted. A bar shows the cost of each row, or its tokens where no
model has a price.

A day is written like 2026-01-31, today, or 30d for the last 30 days.`,
		Example: `  roster usage
  roster usage --by profile,model --since 7d
  roster usage --by user --profile reviewer --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.usage(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "30d", "the first `DAY`, or all")
	flags.StringVar(&f.until, "until", "", "the last `DAY`")
	flags.StringVar(&f.by, "by", "day", "what to tell apart, with commas between: `LIST` of day, profile, model, user, key, tenant")
	flags.StringVar(&f.query.Profile, "profile", "", "of the profile `NAME` only")
	flags.StringVar(&f.query.Model, "model", "", "of the model `PROVIDER/ID` only")
	flags.StringVar(&f.query.User, "user", "", "of the user `NAME` only")
	flags.StringVar(&f.query.KeyID, "key", "", "of the API key `ID` only")
	flags.StringVar(&f.tenant, "tenant", "", "of the tenant `NAME` only")
	flags.IntVar(&f.limit, "limit", 1000, "show at most `N` rows")
	return cmd
}

func (c *cli) usage(ctx context.Context, f usageFlags) (err error) {
	q := f.query
	if q.By, err = view.UsageBy(f.by); err != nil {
		return usagef("--by: %v", err)
	}
	if f.since != "all" {
		if q.From, err = view.UsageDay(f.since, time.Now()); err != nil {
			return usagef("--since: %v", err)
		}
	}
	if f.until != "" {
		if q.To, err = view.UsageDay(f.until, time.Now()); err != nil {
			return usagef("--until: %v", err)
		}
	}
	if f.limit < 1 {
		return usagef("--limit takes a number from 1")
	}
	q.AllTenants = f.tenant == ""
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, c.showUsage(ctx, at, f.tenant, q, f.limit))
}

func (c *cli) showUsage(ctx context.Context, at place, tenant string, q session.UsageQuery, limit int) error {
	u, err := at.Usage(ctx, tenant, q, limit)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(u)
	}
	render.UsageTable(c.stdout, c.style(c.stdout.file), u, c.width())
	return nil
}

// pipeWidth is how wide tables are that no terminal shows.
const pipeWidth = 100

// width is how many columns standard output has.
func (c *cli) width() int {
	if n, err := strconv.Atoi(c.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f := c.stdout.file; terminal(f) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return pipeWidth
}
