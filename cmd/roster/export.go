package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsExportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session with all that belongs to it",
		Long: `Writes all events of a session and of those that it delegated to, and what they
need, as one JSON object a line. roster sessions import reads it, on any machine.
The session must be at rest. It holds what was said and what tools gave, as it
stands in the log: whoever has the file can read it.`,
		Example: "  roster sessions export 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --out session.jsonl",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atRoot(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key) error {
				if out == "" {
					return at.Export(ctx, k, c.stdout)
				}
				return exportTo(ctx, at, k, out)
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE`, which must not be there; default: standard output")
	return cmd
}

// exportTo leaves no half file behind.
func exportTo(ctx context.Context, at place, k session.Key, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = at.Export(ctx, k, f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // it is ours, and of no use
	}
	return err
}

func (c *cli) sessionsImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE | -",
		Short: "Add a session that was exported",
		Long: `Adds a session that roster sessions export has written, under its own ID, and
writes that. A file that was changed, cut or made up is refused, and nothing of it
is added. Nothing of it runs, and what was allowed where it is from is not allowed
here. A session that is here stays as it is.`,
		Example: "  roster sessions import session.jsonl",
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := io.Reader(c.stdin)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			at, err := c.reach()
			if err != nil {
				return err
			}
			return c.close(at, c.importFrom(cmd.Context(), at, args[0], in))
		},
	}
}

func (c *cli) importFrom(ctx context.Context, at place, name string, in io.Reader) error {
	k, err := at.Import(ctx, roster.LocalTenant, in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if c.json {
		return c.writeJSON(map[string]string{"id": k.Stream})
	}
	_, err = fmt.Fprintln(c.stdout, k.Stream)
	return err
}
