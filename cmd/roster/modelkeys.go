package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
)

func (c *cli) modelKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Keep the keys of providers, encrypted",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "set PROVIDER",
		Short: "Keep the key of a provider",
		Long: `Reads a key from the terminal, without showing it, or the first line of standard
input, and keeps it encrypted with age in your own folder, for the address that the
provider has now. It is used where neither the provider's variable nor a key-command
gives one. The age identity is the file that ROSTER_AGE_IDENTITY names, else
age-identity.txt in your own folder, which is made when there is none.`,
		Example: "  roster models keys set openai\n  pass show openai | roster models keys set openai",
		Args:    exactly("PROVIDER"),
		RunE:    func(_ *cobra.Command, args []string) error { return c.setKey(args[0]) },
	}, &cobra.Command{
		Use:   "list",
		Short: "List the keys that are kept, without showing them",
		Args:  exactly(),
		RunE:  func(*cobra.Command, []string) error { return c.listKeys() },
	}, &cobra.Command{
		Use:   "rm PROVIDER",
		Short: "Forget the key of a provider",
		Args:  exactly("PROVIDER"),
		RunE:  func(_ *cobra.Command, args []string) error { return c.removeKey(args[0]) },
	})
	return cmd
}

func (c *cli) setKey(provider string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	if _, err := app.Models().Provider(provider); err != nil {
		return err // before anybody types a key
	}
	key, err := c.readKey(provider)
	if err != nil {
		return err
	}
	kept, identity, made, err := app.SetKey(provider, key)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(kept)
	}
	if made && !c.quiet {
		fmt.Fprintf(c.stderr, "roster: made the age identity %s, which opens it: keep a copy, and let nobody read it\n", identity)
	}
	fmt.Fprintln(c.stdout, kept.File)
	return nil
}

// maxKeyLine bounds what is read for a key, in bytes.
const maxKeyLine = 64 << 10

// readKey reads a key without showing it. It is never an argument, which other
// users of the machine could see.
func (c *cli) readKey(provider string) (string, error) {
	if terminal(c.stdin) {
		fmt.Fprintf(c.stderr, "key of %s (not shown): ", provider)
		line, err := term.ReadPassword(int(c.stdin.Fd()))
		fmt.Fprintln(c.stderr)
		return strings.TrimSpace(string(line)), err
	}
	data, err := io.ReadAll(io.LimitReader(c.stdin, maxKeyLine))
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimSpace(line); err == nil && line == "" {
		err = errors.New("there is no key on standard input")
	}
	return line, err
}

func (c *cli) listKeys() error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	list, err := app.Keys()
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(list)
	}
	var rows [][]string
	for _, k := range list {
		rows = append(rows, []string{k.Provider, k.Set.Format(time.DateTime), k.File})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"PROVIDER", "SET (UTC)", "FILE"}, rows)
	return nil
}

func (c *cli) removeKey(provider string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	if err := app.RemoveKey(provider); err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]string{"removed": provider})
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: the key of %s is removed\n", provider)
	}
	return nil
}
