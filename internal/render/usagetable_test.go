package render

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func TestUsageTable(t *testing.T) {
	day := func(name string, cost float64) view.UsageRow {
		return view.UsageRow{Day: name, Loops: 1, Turns: 2, Usage: message.Usage{Input: 1000, CacheRead: 10, Output: 5, Cost: cost}}
	}
	by := []session.UsageBy{session.ByDay}
	gaps := view.Usage{By: by, Rows: []view.UsageRow{day("2026-02-27", 2), day("2026-03-01", 1)}, Total: view.UsageRow{Loops: 2}}
	for _, c := range []struct {
		name  string
		u     view.Usage
		width int
		want  string
	}{
		{"nothing", view.Usage{By: by}, 80, "nothing was used\n"},
		{"one row has no bar", view.Usage{By: by, Rows: []view.UsageRow{day("2026-02-27", 2)}}, 80, `
DAY         LOOPS  TURNS  ERRORS  INPUT  CACHED  OUTPUT  COST
2026-02-27      1      2       0  1,010      10       5  $2.0000
`},
		{"days without use are there", gaps, 78, `
DAY         LOOPS  TURNS  ERRORS  INPUT  CACHED  OUTPUT     COST  COST
2026-02-27      1      2       0  1,010      10       5  $2.0000  ##########
2026-02-28      0      0       0      0       0       0  $0.0000
2026-03-01      1      2       0  1,010      10       5  $1.0000  #####
all             2      0       0      0       0       0  $0.0000
`},
		{"a narrow terminal has no bars", gaps, 60, `
DAY         LOOPS  TURNS  ERRORS  INPUT  CACHED  OUTPUT  COST
2026-02-27      1      2       0  1,010      10       5  $2.0000
2026-02-28      0      0       0      0       0       0  $0.0000
2026-03-01      1      2       0  1,010      10       5  $1.0000
all             2      0       0      0       0       0  $0.0000
`},
		{"names are made safe, and without prices tokens are shown", view.Usage{
			By:    []session.UsageBy{session.ByProfile, session.ByUser},
			Rows:  []view.UsageRow{{Account: session.Account{Profile: "a\x1b[31m"}, Usage: message.Usage{Input: 4}}, {Usage: message.Usage{Input: 1}}},
			Total: view.UsageRow{}, More: true,
		}, 200, `
PROFILE    USER  LOOPS  TURNS  ERRORS  INPUT  CACHED  OUTPUT     COST  TOKENS
a\x1b[31m  -         0      0       0      4       0       0  $0.0000  ########################################
-          -         0      0       0      1       0       0  $0.0000  ##########
all                  0      0       0      0       0       0  $0.0000
there is more: narrow it with --since or --profile, or raise --limit
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			UsageTable(&b, Style{}, c.u, c.width)
			if want := strings.TrimPrefix(c.want, "\n"); b.String() != want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}
