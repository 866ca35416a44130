package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// The bars of a table of use are as long as there is room for, in characters.
const (
	minBar = 8
	maxBar = 40
)

// UsageTable writes what was used as a table of at most width columns, with a bar in
// each row where there is room. Rows by day alone have those between in which
// nothing was used.
func UsageTable(w io.Writer, s Style, u view.Usage, width int) {
	if len(u.Rows) == 0 {
		fmt.Fprintln(w, "nothing was used")
		return
	}
	rows := u.Rows
	if slices.Equal(u.By, []session.UsageBy{session.ByDay}) {
		rows = everyDay(rows)
	}
	var header []string
	for _, by := range u.By {
		header = append(header, strings.ToUpper(string(by)))
	}
	header = append(header, "LOOPS", "TURNS", "ERRORS", "INPUT", "CACHED", "OUTPUT", "COST")
	cells := make([][]string, 0, len(rows)+1)
	for i := range rows {
		cells = append(cells, usageCells(&rows[i], u.By))
	}
	if len(rows) > 1 {
		total := usageCells(&u.Total, nil)
		for i := range u.By {
			total = slices.Insert(total, i, []string{"all", ""}[min(i, 1)])
		}
		cells = append(cells, total)
	}
	alignRight(header, cells, len(u.By))
	bars(&header, cells, rows, width)
	Table(w, s, header, cells)
	if u.More {
		fmt.Fprintln(w, s.paint(dim, "there is more: narrow it with --since or --profile, or raise --limit"))
	}
}

func usageCells(r *view.UsageRow, by []session.UsageBy) []string {
	var cells []string
	for _, b := range by {
		cells = append(cells, named(map[session.UsageBy]string{
			session.ByTenant: r.Tenant, session.ByDay: r.Day, session.ByProfile: r.Profile,
			session.ByModel: r.Model, session.ByUser: r.User, session.ByKey: r.KeyID,
		}[b]))
	}
	x := r.Usage
	return append(cells, count(r.Loops), count(r.Turns), count(r.Errors),
		count(x.Input+x.CacheRead+x.CacheWrite), count(x.CacheRead), count(x.Output), fmt.Sprintf("$%.4f", x.Cost))
}

// named is a name as a table has it.
func named(name string) string {
	if name == "" {
		return "-"
	}
	return line(name, 40)
}

// alignRight pads the cells of numbers, which stand from a column on.
func alignRight(header []string, cells [][]string, from int) {
	for i := from; i < len(header); i++ {
		wide := utf8.RuneCountInString(header[i])
		for _, row := range cells {
			wide = max(wide, utf8.RuneCountInString(row[i]))
		}
		header[i] = strings.Repeat(" ", wide-utf8.RuneCountInString(header[i])) + header[i]
		for _, row := range cells {
			row[i] = strings.Repeat(" ", wide-utf8.RuneCountInString(row[i])) + row[i]
		}
	}
}

// bars adds a column that shows the cost of each row, or its tokens where nothing
// had a price.
func bars(header *[]string, cells [][]string, rows []view.UsageRow, width int) {
	room := width - 2
	for i := range *header {
		wide := utf8.RuneCountInString((*header)[i])
		for _, row := range cells {
			wide = max(wide, utf8.RuneCountInString(row[i]))
		}
		room -= wide + 2
	}
	if room < minBar || len(rows) < 2 {
		return
	}
	what, value := "COST", func(r *view.UsageRow) float64 { return r.Usage.Cost }
	if !slices.ContainsFunc(rows, func(r view.UsageRow) bool { return r.Usage.Cost > 0 }) {
		what, value = "TOKENS", func(r *view.UsageRow) float64 {
			return float64(r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite + r.Usage.Output)
		}
	}
	most := 0.0
	for i := range rows {
		most = max(most, value(&rows[i]))
	}
	if most == 0 {
		return
	}
	*header = append(*header, what)
	for i := range rows {
		n := int(math.Ceil(value(&rows[i]) / most * float64(min(room, maxBar))))
		cells[i] = append(cells[i], strings.Repeat("#", n))
	}
	if len(cells) > len(rows) {
		cells[len(rows)] = append(cells[len(rows)], "")
	}
}

// maxGap bounds the days without use that are shown.
const maxGap = 366

// everyDay puts in the days between in which nothing was used.
func everyDay(rows []view.UsageRow) []view.UsageRow {
	first, err1 := session.ParseDay(rows[0].Day)
	last, err2 := session.ParseDay(rows[len(rows)-1].Day)
	if err1 != nil || err2 != nil || last-first >= maxGap {
		return rows
	}
	all := make([]view.UsageRow, last-first+1)
	for i := range all {
		all[i].Day = (first + session.Day(i)).String()
	}
	for _, r := range rows {
		if day, err := session.ParseDay(r.Day); err == nil && day >= first && day <= last {
			all[day-first] = r
		}
	}
	return all
}
