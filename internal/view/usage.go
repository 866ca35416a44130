package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Usage is what was used, told apart by some things.
type Usage struct {
	Since string            `json:"since,omitempty"` // the first day, in UTC; empty: the first of all
	Until string            `json:"until,omitempty"` // the last day; empty: the last of all
	By    []session.UsageBy `json:"by"`
	Rows  []UsageRow        `json:"rows"`
	Total UsageRow          `json:"total"`
	// More says that there are rows beyond the limit. Total has them all.
	More bool `json:"more,omitempty"`
}

// UsageRow is one sum. It names what Usage.By tells apart.
type UsageRow struct {
	Tenant string `json:"tenant,omitempty"`
	Day    string `json:"day,omitempty"`
	session.Account
	Loops  int64         `json:"loops"`
	Turns  int64         `json:"turns"`
	Errors int64         `json:"errors"` // loops that ended with one
	Usage  message.Usage `json:"usage"`
}

// NewUsage makes the view of what a query has found. The query was asked for one row
// more than limit.
func NewUsage(q *session.UsageQuery, sums []session.Used, limit int) Usage {
	out := Usage{By: q.By, Rows: make([]UsageRow, 0, len(sums))}
	if q.From != 0 {
		out.Since = q.From.String()
	}
	if q.To != 0 {
		out.Until = q.To.String()
	}
	var total session.Used
	for i := range sums {
		total.Add(&sums[i])
		out.Rows = append(out.Rows, usageRow(&sums[i], q.By))
	}
	out.Total = usageRow(&total, nil)
	if limit > 0 && len(out.Rows) > limit {
		out.Rows, out.More = out.Rows[:limit], true
	}
	return out
}

func usageRow(u *session.Used, by []session.UsageBy) UsageRow {
	row := UsageRow{Tenant: u.Tenant, Account: u.Account, Loops: u.Loops, Turns: u.Turns, Errors: u.Errors, Usage: u.Usage}
	if slices.Contains(by, session.ByDay) {
		row.Day = u.Day.String()
	}
	return row
}

// UsageDay reads a day: 2026-01-31, today, or as 30d so many days up to now, today
// among them.
func UsageDay(text string, now time.Time) (session.Day, error) {
	today := session.DayOf(now)
	if text == "today" {
		return today, nil
	}
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.ParseUint(n, 10, 15); err == nil && days > 0 {
			return max(today-session.Day(days)+1, 1), nil
		}
	}
	day, err := session.ParseDay(text)
	if err != nil || day < 1 {
		return 0, fmt.Errorf("%q is no day: write it like 2026-01-31, or 30d for the last 30 days", text)
	}
	return day, nil
}

// UsageBy reads by what use is told apart: names with commas between.
func UsageBy(text string) ([]session.UsageBy, error) {
	q := session.UsageQuery{By: []session.UsageBy{}}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			q.By = append(q.By, session.UsageBy(name))
		}
	}
	return q.By, q.Check()
}
