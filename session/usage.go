package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
)

// Day is a day in UTC, counted from 1970-01-01.
type Day int32

// DayOf is the day of a time.
func DayOf(t time.Time) Day {
	const seconds = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= seconds - 1
	}
	return Day(s / seconds)
}

// ParseDay reads a day as String writes it.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("%q is no day: write it like 2026-01-31", text)
	}
	return DayOf(t), nil
}

// Start is the first moment of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

func (d Day) String() string { return d.Start().Format(time.DateOnly) }

// MarshalText implements encoding.TextMarshaler.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Day) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDay(string(text))
	return err
}

// Account is what use is counted for. User and KeyID are those of the prompt
// that the work is for; empty: none was named.
type Account struct {
	Profile string `json:"profile,omitempty"`
	Model   string `json:"model,omitempty"`
	User    string `json:"user,omitempty"`
	KeyID   string `json:"key,omitempty"`
}

// Payer is an open loop and what its use is counted for.
type Payer struct {
	Loop string `json:"loop"`
	Account
}

// Used is what was used on a day, or on several. Of what its query does not ask
// apart it has nothing.
type Used struct {
	Tenant string
	Day    Day
	Account
	Loops  int64 // that began
	Turns  int64 // model calls of loops, without those that planned or summed up
	Errors int64 // loops that ended with an error
	Usage  message.Usage
}

// Add adds the counts of another row.
func (u *Used) Add(v *Used) {
	u.Loops += v.Loops
	u.Turns += v.Turns
	u.Errors += v.Errors
	u.Usage = u.Usage.Add(v.Usage)
}

// UsageQuery narrows what Store.Usage sums up. The zero query asks for the sum of
// everything.
type UsageQuery struct {
	// From and To bound the days, both included; 0: no bound.
	From, To Day
	// Profile, Model, User and KeyID leave out what is another's; empty: nothing.
	Profile, Model, User, KeyID string
	// By says what is asked apart; each at most once.
	By []UsageBy
	// AllTenants asks for those of all tenants, whichever is named.
	AllTenants bool
	// Limit bounds the rows; 0: no bound.
	Limit int
}

// UsageBy is something by which use can be told apart.
type UsageBy string

// What use can be told apart by.
const (
	ByTenant  UsageBy = "tenant"
	ByDay     UsageBy = "day"
	ByProfile UsageBy = "profile"
	ByModel   UsageBy = "model"
	ByUser    UsageBy = "user"
	ByKey     UsageBy = "key"
)

// UsageBys are all of them,
// in the order of a store's columns.
var UsageBys = []UsageBy{ByTenant, ByDay, ByProfile, ByModel, ByUser, ByKey}

// Of gives of a row what the query asks apart.
func (q *UsageQuery) Of(u *Used) Used {
	var out Used
	for _, by := range q.By {
		switch by {
		case ByTenant:
			out.Tenant = u.Tenant
		case ByDay:
			out.Day = u.Day
		case ByProfile:
			out.Profile = u.Profile
		case ByModel:
			out.Model = u.Model
		case ByUser:
			out.User = u.User
		case ByKey:
			out.KeyID = u.KeyID
		}
	}
	return out
}

// Wants says whether a row is among those that the query sums up.
func (q *UsageQuery) Wants(u *Used) bool {
	return (q.From == 0 || u.Day >= q.From) && (q.To == 0 || u.Day <= q.To) &&
		(q.Profile == "" || u.Profile == q.Profile) && (q.Model == "" || u.Model == q.Model) &&
		(q.User == "" || u.User == q.User) && (q.KeyID == "" || u.KeyID == q.KeyID)
}

// Check refuses a query that asks by something that is not known, or twice.
func (q *UsageQuery) Check() error {
	for i, by := range q.By {
		if !slices.Contains(UsageBys, by) {
			return fmt.Errorf("usage is not told apart by %q: take one of %v", by, UsageBys)
		}
		if slices.Contains(q.By[:i], by) {
			return fmt.Errorf("usage is told apart by %q twice", by)
		}
	}
	return nil
}

// Tally is what events add to the use of their tenant, with one row for each day
// and account. A store keeps the sums of all tallies; nothing but retention
// changes them otherwise, and that leaves them as they are.
type Tally []Used

// Add takes the next event of a stream in. s is the stream's summary before the
// event.
func (t *Tally) Add(s *Summary, e *Event) error {
	switch e.Type {
	case "loop.start", "turn.start", "usage", "loop.end":
	default:
		return nil
	}
	body, err := e.Decode()
	if err != nil {
		return err
	}
	of, more := s.payer(e.Loop), Used{}
	switch b := body.(type) {
	case *LoopStart:
		of, more.Loops = b.account(), 1
	case *TurnStart:
		more.Turns = 1
	case *Usage:
		of.Model, more.Usage = b.Model, b.Usage
	case *LoopEnd:
		if !b.failed() {
			return nil
		}
		more.Errors = 1
	}
	t.row(s.Key.Tenant, DayOf(e.Time), of).Add(&more)
	return nil
}

// Sum is what a query of a tenant asks for, of rows that may be of several.
func (t Tally) Sum(tenant string, q UsageQuery) ([]Used, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	var sums []Used
	at := map[Used]int{}
	for i := range t {
		u := &t[i]
		if u.Tenant != tenant && !q.AllTenants || !q.Wants(u) {
			continue
		}
		group := q.Of(u)
		n, there := at[group]
		if !there {
			n = len(sums)
			at[group], sums = n, append(sums, group)
		}
		sums[n].Add(u)
	}
	return q.Order(sums), nil
}

// Order sorts sums by what the query asks apart, in place, and cuts them to its limit.
func (q *UsageQuery) Order(sums []Used) []Used {
	slices.SortFunc(sums, q.compare)
	if q.Limit > 0 {
		sums = sums[:min(q.Limit, len(sums))]
	}
	return sums
}

// compare orders sums by what the query asks apart.
func (q *UsageQuery) compare(a, b Used) int {
	c := 0
	for _, by := range q.By {
		switch by {
		case ByTenant:
			c = strings.Compare(a.Tenant, b.Tenant)
		case ByDay:
			c = cmp.Compare(a.Day, b.Day)
		case ByProfile:
			c = strings.Compare(a.Profile, b.Profile)
		case ByModel:
			c = strings.Compare(a.Model, b.Model)
		case ByUser:
			c = strings.Compare(a.User, b.User)
		case ByKey:
			c = strings.Compare(a.KeyID, b.KeyID)
		}
		if c != 0 {
			break
		}
	}
	return c
}

// row finds the row that counts for an account, or makes one. A commit has few.
func (t *Tally) row(tenant string, day Day, of Account) *Used {
	for i := range *t {
		if u := &(*t)[i]; u.Day == day && u.Account == of && u.Tenant == tenant {
			return u
		}
	}
	*t = append(*t, Used{Tenant: tenant, Day: day, Account: of})
	return &(*t)[len(*t)-1]
}

func (b *LoopStart) account() Account {
	return Account{Profile: b.Profile, Model: b.Model, User: b.User, KeyID: b.KeyID}
}

// payer is what the use of a loop is counted for.
func (s *Summary) payer(loop string) Account {
	for i := range s.Payers {
		if s.Payers[i].Loop == loop {
			return s.Payers[i].Account
		}
	}
	return Account{Profile: s.Profile}
}

// pay keeps what the use of an open loop is counted for up to date. The list is
// shared by copies of the summary, and is never changed in place.
func (s *Summary) pay(e *Event, body Body) {
	i := slices.IndexFunc(s.Payers, func(p Payer) bool { return p.Loop == e.Loop })
	switch b := body.(type) {
	case *LoopStart:
		s.Payers = append(slices.Clip(s.Payers), Payer{e.Loop, b.account()})
	case *LoopEnd:
		switch {
		case e.Depth == 0: // with what has worked for it
			s.Payers = nil
		case i >= 0:
			s.Payers = slices.Concat(s.Payers[:i], s.Payers[i+1:]) // nil when none is left
		}
	case *Switched:
		if i >= 0 {
			s.Payers = slices.Clone(s.Payers)
			s.Payers[i].Profile, s.Payers[i].Model = b.To, b.Model
		}
	case *Fallback:
		if i >= 0 {
			s.Payers = slices.Clone(s.Payers)
			s.Payers[i].Model = b.To
		}
	}
}

// PayersText is a list of payers as ParsePayers reads it; empty: there are none.
func PayersText(list []Payer) string {
	if len(list) == 0 {
		return ""
	}
	text, _ := json.Marshal(list) // of strings, which cannot fail
	return string(text)
}

// ParsePayers reads what PayersText wrote.
func ParsePayers(text string) (list []Payer, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("who pays for it cannot be read: %w", err)
	}
	return list, nil
}
