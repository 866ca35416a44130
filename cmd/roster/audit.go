package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
)

func (c *cli) auditCommand() *cobra.Command {
	q, tenant, since := audit.Query{}, "", ""
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who did what with a server, and who was refused",
		Long: `Lists the calls that changed something, and those that were refused for who made them,
the newest first. So do the commands that make and revoke keys have entries. The calls of
somebody who did not show who he is have no tenant; they are seen here, and by no admin of
a tenant.

A day is written like 2026-01-31, today, or 30d for the last 30 days.`,
		Example: `  roster audit
  roster audit --refused --since today
  roster audit --action createKey --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 1 || q.Limit > audit.MaxPage {
				return usagef("--limit takes a number from 1 to %d", audit.MaxPage)
			}
			if since != "" {
				day, err := view.UsageDay(since, time.Now())
				if err != nil {
					return usagef("--since: %v", err)
				}
				q.Since = day.Start()
			}
			return c.withCallers(func(at callers) error {
				page, err := at.AuditLog(cmd.Context(), tenant, q)
				if err != nil {
					return err
				}
				return c.showAudit(page)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&tenant, "tenant", audit.AllTenants, "of a `TENANT` alone")
	f.StringVar(&q.User, "user", "", "of the user `NAME` only")
	f.StringVar(&q.Key, "key", "", "of the API key `ID` only")
	f.StringVar(&q.Action, "action", "", "of one `OPERATION` only, as createKey")
	f.BoolVar(&q.Refused, "refused", false, "only what was refused")
	f.StringVar(&since, "since", "", "the first `DAY`")
	f.Int64Var(&q.Before, "before", 0, "entries before the one with this `ID`")
	f.IntVar(&q.Limit, "limit", 100, "show at most `N` entries")
	return cmd
}

func (c *cli) showAudit(page view.Audit) error {
	if c.json {
		return c.writeJSON(page)
	}
	if len(page.Entries) == 0 {
		fmt.Fprintln(c.stdout, "there are no entries")
		return nil
	}
	var rows [][]string
	for i := range page.Entries {
		e := &page.Entries[i]
		outcome := strconv.Itoa(e.Status)
		if e.Code != "" {
			outcome += " " + e.Code
		}
		if e.Times > 1 {
			outcome += fmt.Sprintf(" (%d times)", e.Times)
		}
		rows = append(rows, []string{
			e.Time.UTC().Format(time.DateTime), orDash(e.TenantID), orDash(e.UserID), orDash(e.Key), orDash(e.Address), e.Action, outcome, e.Target,
		})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"TIME (UTC)", "TENANT", "USER", "KEY", "ADDRESS", "ACTION", "OUTCOME", "TARGET"}, rows)
	if page.Before > 0 {
		fmt.Fprintf(c.stdout, "there may be more: --before %d\n", page.Before)
	}
	return nil
}
