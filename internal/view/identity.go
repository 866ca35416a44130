package view

import (
	"strings"
	"time"

	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/key"
)

// Key is what is to be known of an API key.
type Key struct {
	Key       string     `json:"key,omitempty"` // itself: it is shown once, when it is made
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	TenantID  string     `json:"tenantId"`
	UserID    string     `json:"userId"`
	Roles     []string   `json:"roles"`
	Created   time.Time  `json:"created"`
	CreatedBy string     `json:"createdBy,omitempty"`
	Expires   *time.Time `json:"expires,omitempty"` // absent: never
	Revoked   *time.Time `json:"revoked,omitempty"` // from when on it is not taken; absent: it is not revoked
	Used      *time.Time `json:"used,omitempty"`    // last, to within a minute; absent: never
	Alive     bool       `json:"alive"`             // it is taken now
}

// NewKey is the view of a key. Its text is known only where it was just made, and
// else empty.
func NewKey(k *key.Key, text string) Key {
	return Key{
		Key: text, ID: k.ID, Name: k.Name, TenantID: k.Tenant, UserID: k.User, Roles: strings.Split(k.Roles.String(), ","),
		Created: k.Created, CreatedBy: k.CreatedBy, Expires: orNone(k.Expires), Revoked: orNone(k.Revoked), Used: orNone(k.Used), Alive: k.Alive(time.Now()),
	}
}

// NewKeys are the views of keys.
func NewKeys(all []key.Key) []Key {
	list := make([]Key, len(all))
	for i := range all {
		list[i] = NewKey(&all[i], "")
	}
	return list
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// AuditEntry is a call that changed something, or was refused.
type AuditEntry struct {
	ID        int64     `json:"id"`
	Time      time.Time `json:"time"`
	TenantID  string    `json:"tenantId"` // empty: nobody knew who it was
	UserID    string    `json:"userId,omitempty"`
	Key       string    `json:"key,omitempty"`       // the id of the API key
	Action    string    `json:"action"`              // the operation, by its operationId
	Target    string    `json:"target"`              // the method and the path
	Status    int       `json:"status"`              // of the answer
	Code      string    `json:"code,omitempty"`      // of the error
	Address   string    `json:"address,omitempty"`   // where it came from; behind a proxy, the proxy's
	RequestID string    `json:"requestId,omitempty"` // stands in the log of the server
	ChainID   string    `json:"chainId,omitempty"`   // stands in events
	Times     int       `json:"times"`               // how many refused calls in a row are this one entry
}

// Audit is a page of the audit log, the newest entry first.
type Audit struct {
	Entries []AuditEntry `json:"entries"`
	Before  int64        `json:"before,omitempty"` // of the next page; absent: this is the last one
}

// NewAudit is the view of what a query has found.
func NewAudit(q audit.Query, list []audit.Entry) Audit {
	out := Audit{Entries: make([]AuditEntry, len(list))}
	for i, e := range list {
		out.Entries[i] = AuditEntry{
			ID: e.ID, Time: e.Time, TenantID: e.Tenant, UserID: e.User, Key: e.Key, Action: e.Action, Target: e.Target,
			Status: e.Status, Code: e.Code, Address: e.Address, RequestID: e.Request, ChainID: e.Chain, Times: e.Times,
		}
	}
	if n := len(list); n == q.Page() {
		out.Before = list[n-1].ID
	}
	return out
}
