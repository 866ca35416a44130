package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/internal/view"
)

// callers are who may come to a server, and what they did. Here a tenant may be
// key.AllTenants; a server knows those of the key that it is asked with.
type callers interface {
	Keys(ctx context.Context, tenant string) ([]view.Key, error)
	AddKey(context.Context, key.Request) (view.Key, error)
	RotateKey(ctx context.Context, id string, grace time.Duration) (view.Key, error)
	RevokeKey(ctx context.Context, id string) (view.Key, error)
	AuditLog(ctx context.Context, tenant string, q audit.Query) (view.Audit, error)
}

func (h here) Keys(ctx context.Context, tenant string) ([]view.Key, error) {
	store, err := h.APIKeys(ctx)
	if err != nil {
		return nil, err
	}
	all, err := store.Keys(ctx, tenant)
	return view.NewKeys(all), err
}

func (h here) AddKey(ctx context.Context, r key.Request) (view.Key, error) {
	store, err := h.APIKeys(ctx)
	if err != nil {
		return view.Key{}, err
	}
	r.By = "cli"
	text, k, err := key.Issue(ctx, store, r)
	return h.did(ctx, "createKey", k, text, err)
}

func (h here) RotateKey(ctx context.Context, id string, grace time.Duration) (view.Key, error) {
	store, err := h.APIKeys(ctx)
	if err != nil {
		return view.Key{}, err
	}
	old, err := key.Find(ctx, store, key.AllTenants, id)
	if err != nil {
		return view.Key{}, err
	}
	text, k, err := key.Rotate(ctx, store, old, grace, "cli")
	return h.did(ctx, "rotateKey", k, text, err)
}

func (h here) RevokeKey(ctx context.Context, id string) (view.Key, error) {
	store, err := h.APIKeys(ctx)
	if err != nil {
		return view.Key{}, err
	}
	k, err := store.RevokeKey(ctx, key.AllTenants, id, time.Now())
	return h.did(ctx, "revokeKey", k, "", err)
}

// did notes in the audit log what was done to a key. A key that was made is shown
// also where that failed.
func (h here) did(ctx context.Context, action string, k key.Key, text string, err error) (view.Key, error) {
	if err != nil {
		return view.Key{}, err
	}
	log, err := h.Audit(ctx)
	if err == nil {
		who := "cli"
		if u, err := user.Current(); err == nil {
			who = "cli:" + u.Username
		}
		err = log.Record(ctx, []audit.Entry{{Time: time.Now(), Tenant: k.Tenant, User: who, Action: action, Target: "/keys/" + k.ID, Status: 200, Address: "local", Times: 1}})
	}
	if err != nil {
		err = fmt.Errorf("it is done, and does not stand in the audit log: %w", err)
	}
	return view.NewKey(&k, text), err
}

func (h here) AuditLog(ctx context.Context, tenant string, q audit.Query) (view.Audit, error) {
	log, err := h.Audit(ctx)
	if err != nil {
		return view.Audit{}, err
	}
	list, err := log.Recorded(ctx, tenant, q)
	return view.NewAudit(q, list), err
}

func (s server) Keys(ctx context.Context, tenant string) ([]view.Key, error) {
	if tenant != key.AllTenants {
		return nil, errOwnTenant
	}
	return s.c.APIKeys(ctx)
}

func (s server) AddKey(ctx context.Context, r key.Request) (view.Key, error) {
	k := client.NewAPIKey{Name: r.Name, TenantID: r.Tenant, UserID: r.User, Roles: strings.Split(r.Roles.String(), ",")}
	if !r.Expires.IsZero() {
		k.Expires = &r.Expires
	}
	return s.c.CreateAPIKey(ctx, k)
}

func (s server) RotateKey(ctx context.Context, id string, grace time.Duration) (view.Key, error) {
	k, err := s.c.RotateAPIKey(ctx, id, grace)
	return k, noSuchKey(err)
}

func (s server) RevokeKey(ctx context.Context, id string) (view.Key, error) {
	return view.Key{ID: id}, noSuchKey(s.c.RevokeAPIKey(ctx, id))
}

func (s server) AuditLog(ctx context.Context, tenant string, q audit.Query) (view.Audit, error) {
	if tenant != audit.AllTenants {
		return view.Audit{}, errOwnTenant
	}
	return s.c.Audit(ctx, client.AuditQuery{User: q.User, Key: q.Key, Action: q.Action, Refused: q.Refused, Since: q.Since, Before: q.Before, Limit: q.Limit})
}

var errOwnTenant = usagef("--tenant is for this machine: a server shows what is the tenant's of the key that it is asked with")

func noSuchKey(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == "KeyNotFound" {
		return key.ErrNone
	}
	return err
}
