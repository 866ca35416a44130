package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
)

func (c *cli) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make and revoke the keys by which callers of a server show who they are",
		Long: `API keys are what callers of roster serve --auth keys send, as Authorization: Bearer
KEY. Each is of one tenant and user, and has roles: viewer reads, runner prompts agents,
approver answers what they ask, editor changes profiles, admin may do all.

These commands work on the store itself, so that whoever may write the state of this
workspace makes the first key. A server that runs sees at once what they do. With --server
an admin makes keys of his own tenant. The keys of model providers are another thing: see
roster models keys.`,
		Args: subcommand,
		RunE: needSubcommand,
	}
	cmd.AddCommand(c.keysAddCommand(), c.keysListCommand(), c.keysRevokeCommand(), c.keysRotateCommand())
	return cmd
}

func (c *cli) keysAddCommand() *cobra.Command {
	r, roles, expires := key.Request{}, "", time.Duration(0)
	cmd := &cobra.Command{
		Use:     "add NAME",
		Short:   "Make a key, and show it this once",
		Example: "  roster keys add ci --role runner --expires 2160h\n  roster keys add ann --tenant acme --role editor,approver",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Name = args[0]
			if r.Roles, err = identity.ParseRoles(roles); err != nil {
				return usagef("%v", err)
			}
			if cmd.Flags().Changed("expires") {
				if expires <= 0 {
					return usagef("--expires takes a time from now on, such as 2160h; without it, the key does not expire")
				}
				r.Expires = time.Now().UTC().Add(expires).Truncate(time.Microsecond)
			}
			if r.Tenant == "" && c.server == "" {
				r.Tenant = roster.LocalTenant
			}
			return c.withCallers(func(at callers) error {
				k, err := at.AddKey(cmd.Context(), r)
				return c.showKey(k, err)
			})
		},
	}
	cmd.Flags().StringVar(&r.Tenant, "tenant", "", "the `TENANT` whose sessions it reaches; without it, local, or with --server that of whoever asks")
	cmd.Flags().StringVar(&r.User, "user", "", "whose key it is, as a `NAME`; without it, that of the key")
	cmd.Flags().StringVar(&roles, "role", "runner", "what it may do: the `ROLES`, with commas between")
	cmd.Flags().DurationVar(&expires, "expires", 0, "the `TIME` after which it is not taken any more; without it, it is until it is revoked")
	return cmd
}

func (c *cli) keysListCommand() *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys, without showing them",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withCallers(func(at callers) error {
				all, err := at.Keys(cmd.Context(), tenant)
				if err != nil {
					return err
				}
				return c.listKeysOf(all)
			})
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", key.AllTenants, "those of a `TENANT` alone")
	return cmd
}

func (c *cli) keysRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Have a key not taken any more, from now on",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withCallers(func(at callers) error {
				k, err := at.RevokeKey(cmd.Context(), args[0])
				if k.ID != "" && c.json {
					err = errors.Join(c.writeJSON(k), err)
				} else if err == nil && !c.quiet {
					fmt.Fprintf(c.stderr, "roster: the key %s is revoked\n", strings.TrimSpace(k.ID+" "+bracketed(k.Name)))
				}
				return noKey(err, args[0])
			})
		},
	}
}

func bracketed(name string) string {
	if name == "" {
		return ""
	}
	return "(" + name + ")"
}

func (c *cli) keysRotateCommand() *cobra.Command {
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Put a new key in the place of one, and show it this once",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if grace < 0 {
				return usagef("--grace takes 0 or more, such as 24h")
			}
			return c.withCallers(func(at callers) error {
				k, err := at.RotateKey(cmd.Context(), args[0], grace)
				return c.showKey(k, noKey(err, args[0]))
			})
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", 0, "for how much `TIME` the old key is taken besides")
	return cmd
}

func noKey(err error, id string) error {
	if errors.Is(err, key.ErrNone) {
		return fmt.Errorf("there is no key with the id %q: roster keys list shows them", id)
	}
	return err
}

// withCallers works on the store of this workspace, or asks the server.
func (c *cli) withCallers(do func(callers) error) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, do(at))
}

// showKey shows a key that was made, also where something failed after that: it is
// shown this once.
func (c *cli) showKey(k view.Key, err error) error {
	if k.Key == "" {
		return err
	}
	if c.json {
		return errors.Join(c.writeJSON(k), err)
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: the key %s of %s in the tenant %s; it is shown this once:\n", k.ID, k.UserID, k.TenantID)
	}
	fmt.Fprintln(c.stdout, k.Key)
	return err
}

func (c *cli) listKeysOf(all []view.Key) error {
	if c.json {
		return c.writeJSON(all)
	}
	var rows [][]string
	for i := range all {
		k := &all[i]
		state := "alive"
		if !k.Alive {
			state = "ended"
		}
		rows = append(rows, []string{k.ID, k.Name, k.TenantID, k.UserID, strings.Join(k.Roles, ","), state, minute(k.Expires), minute(k.Used)})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "NAME", "TENANT", "USER", "ROLES", "STATE", "EXPIRES", "USED (UTC)"}, rows)
	return nil
}

func minute(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
