// Package audit is the log of who did what: every call that changes something,
// and every one that was refused.
package audit

import (
	"context"
	"time"
)

// Entry is one call.
type Entry struct {
	ID      int64 // the entry's place in the log, given by the store; later ones are larger
	Time    time.Time
	Tenant  string // empty: nobody knew who it was
	User    string
	Key     string // the id of the API key
	Action  string // the name of the operation, as in the OpenAPI document
	Target  string // what it was about: the path of the request, without its query
	Status  int    // of the answer
	Code    string // of the error
	Address string // where it came from
	Request string // the id of the request
	Chain   string // the id that its events share
	Times   int    // how many calls were refused alike within a minute, and are this one entry; 1: one
}

// Query narrows a list. The zero Query lists everything.
type Query struct {
	User, Key, Action string // empty: any
	Refused           bool   // only what was refused
	Since             time.Time
	Before            int64 // entries before this one: the last one of the page before; 0: from the newest on
	Limit             int   // 0: 100
}

// AllTenants stands for every tenant, and for calls of nobody that is known, in a
// Store. It is for the machine's own administration alone.
const AllTenants = "*"

// Store keeps the log. It stands beside session.Store in each backend, and is
// safe for concurrent use. Entries are added and, when they are old, taken out;
// none is changed.
type Store interface {
	// Record adds entries, all or none, durably.
	Record(ctx context.Context, entries []Entry) error
	// Recorded lists the entries of a tenant, or of AllTenants, the newest first.
	Recorded(ctx context.Context, tenant string, q Query) ([]Entry, error)
	// ForgetRecorded takes out what is older.
	ForgetRecorded(ctx context.Context, before time.Time) error
}

// MaxPage is how many entries one list has at most.
const MaxPage = 1000

// Page is the limit that a query comes to.
func (q Query) Page() int {
	if q.Limit <= 0 {
		return 100
	}
	return min(q.Limit, MaxPage)
}

// Takes says whether a query lists an entry, limits apart.
func (q Query) Takes(e *Entry) bool {
	return (q.User == "" || e.User == q.User) && (q.Key == "" || e.Key == q.Key) && (q.Action == "" || e.Action == q.Action) &&
		(!q.Refused || Refused(e.Status)) && (q.Since.IsZero() || !e.Time.Before(q.Since)) && (q.Before == 0 || e.ID < q.Before)
}

// Refused says whether a status is that of a call that was refused for who made
// it, or how many of them.
func Refused(status int) bool { return status == 401 || status == 403 || status == 429 }
