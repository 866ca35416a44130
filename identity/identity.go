// Package identity says who asks for something, and what he may do. The front
// doors find it out and put it into the context; what is behind them reads it.
package identity

import (
	"context"
	"fmt"
	"strings"
)

// Role is what a caller may do; a caller may have several.
type Role uint8

// The roles. Each of them may also do what a Viewer may, and an Admin all.
const (
	Viewer   Role = 1 << iota // reads profiles, sessions and what they cost
	Runner                    // prompts agents, steers and cancels them, and works on their sessions
	Approver                  // answers what runs ask for
	Editor                    // changes profiles and skills
	Admin                     // keys, servers, what executes, the audit log
)

var names = map[Role]string{Viewer: "viewer", Runner: "runner", Approver: "approver", Editor: "editor", Admin: "admin"}

// order is that of the constants.
var order = []Role{Viewer, Runner, Approver, Editor, Admin}

// String is the role's name; several are joined by commas.
func (r Role) String() string {
	var all []string
	for _, one := range order {
		if r&one != 0 {
			all = append(all, names[one])
		}
	}
	return strings.Join(all, ",")
}

// ParseRoles reads names of roles, separated by commas. None is an error: a caller
// without a role could do nothing.
func ParseRoles(text string) (Role, error) {
	var all Role
	for name := range strings.SplitSeq(text, ",") {
		one, err := parseRole(strings.TrimSpace(name))
		if err != nil {
			return 0, err
		}
		all |= one
	}
	return all, nil
}

func parseRole(name string) (Role, error) {
	for _, r := range order {
		if names[r] == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("there is no role %q: take viewer, runner, approver, editor or admin", name)
}

// Caller is who asks.
type Caller struct {
	// Tenant is whose sessions he reaches. It is never empty.
	Tenant string
	// User is his name within the tenant; empty: the one user of this machine.
	User string
	// Key is the id of the API key that he has shown; empty: none.
	Key string
	// Roles are what he may do.
	Roles Role
	// Open says that nobody asks who he is: he may name any tenant and user.
	Open bool
}

// Local is the caller where nobody is asked who he is: he may do everything.
func Local() Caller {
	return Caller{Tenant: "local", Roles: Viewer | Runner | Approver | Editor | Admin, Open: true}
}

// May says whether the caller has any of the roles. Without a role it asks for
// none.
func (c Caller) May(any Role) bool {
	return any == 0 || c.Roles&(any|Admin) != 0 || any&Viewer != 0 && c.Roles != 0
}

type contextKey struct{}

// With returns a context that says who asks.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns who asks; without With that is Local.
func From(ctx context.Context) Caller {
	if c, ok := Known(ctx); ok {
		return c
	}
	return Local()
}

// Known returns who asks, and whether With has said so.
func Known(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(contextKey{}).(Caller)
	return c, ok
}
