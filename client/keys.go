package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rosterrun/roster/internal/view"
)

// APIKey is a key by which callers show who they are.
type APIKey = view.Key

// NewAPIKey is what a key is to be.
type NewAPIKey struct {
	Name     string     `json:"name"`
	TenantID string     `json:"tenantId,omitempty"` // of whom it is; empty: of the caller's
	UserID   string     `json:"userId,omitempty"`   // whose it is; empty: the name
	Roles    []string   `json:"roles"`              // viewer, runner, approver, editor, admin
	Expires  *time.Time `json:"expires,omitempty"`  // nil: never
}

// APIKeys lists the keys of the tenant, the newest first. It takes the role admin,
// as all that is done to keys.
func (c *Client) APIKeys(ctx context.Context) ([]APIKey, error) {
	out, err := get[struct {
		Keys []APIKey `json:"keys"`
	}](ctx, c, "/keys", nil)
	return out.Keys, err
}

// CreateAPIKey makes a key, and shows it this once.
func (c *Client) CreateAPIKey(ctx context.Context, k NewAPIKey) (made APIKey, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/keys", body: k}, &made)
	return made, err
}

// RotateAPIKey puts a new key in the place of one, which is taken for grace longer,
// in whole seconds.
func (c *Client) RotateAPIKey(ctx context.Context, id string, grace time.Duration) (made APIKey, err error) {
	body := map[string]int64{"grace": int64(grace / time.Second)}
	_, err = c.call(ctx, request{method: http.MethodPost, path: escaped("/keys/%s/rotate", id), body: body}, &made)
	return made, err
}

// RevokeAPIKey has a key not taken any more.
func (c *Client) RevokeAPIKey(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: escaped("/keys/%s", id), idem: true}, nil)
	return err
}

type (
	// AuditEntry is a call that changed something, or was refused.
	AuditEntry = view.AuditEntry
	// AuditLog is a page of them.
	AuditLog = view.Audit
)

// AuditQuery narrows what Audit lists. The zero value lists the newest 100.
type AuditQuery struct {
	User, Key, Action string // empty: any
	Refused           bool
	Since             time.Time
	Before            int64 // the id of the last entry of the page before
	Limit             int   // 1 to 1000; 0: 100
}

// Audit lists who did what in the tenant, the newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (AuditLog, error) {
	v := url.Values{}
	for name, text := range map[string]string{"user": q.User, "key": q.Key, "action": q.Action} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Refused {
		v.Set("refused", "true")
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	if q.Before > 0 {
		v.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[AuditLog](ctx, c, "/audit", v)
}
