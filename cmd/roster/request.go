package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsRequestCommand() *cobra.Command {
	var next bool
	var about string
	cmd := &cobra.Command{
		Use:   "request ID [TURN]",
		Short: "Write what the model was sent for a turn",
		Long: `Writes the body of the call that was made for a turn of a session, byte for byte,
rebuilt from the log. Turns count over the whole session, from 1; without TURN it
is the last one. It is compared with the digest in the log: where it may not be
what was sent, that is said on stderr. A child session (ID_1) has requests too.

With --for it is what a model was asked aside in that turn, or before the first one:
planning.analysis, planning.review, planning.plan, compaction and others; the log
names them (roster sessions events).`,
		Example: `  roster sessions request 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 2
  roster sessions request 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 2 --diff`,
		Args: arguments(1, "ID", "TURN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			turn := 0
			if len(args) > 1 {
				var err error
				if turn, err = strconv.Atoi(args[1]); err != nil || turn < 1 {
					return usagef("TURN is %q: it takes a number from 1", args[1])
				}
			}
			if next && turn == 0 {
				return usagef("--diff needs the TURN that the next one is compared with")
			}
			return c.atSession(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key, id string) error {
				r, err := at.Request(ctx, k, id, turn, about)
				if err != nil {
					return err
				}
				c.doubt(r)
				if next {
					return c.writeNext(ctx, at, k, r)
				}
				if c.json {
					return c.writeJSON(r)
				}
				_, err = fmt.Fprintf(c.stdout, "%s\n", r.Body)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&about, "for", "", "what a model was asked aside for `WHAT`, such as compaction")
	cmd.Flags().BoolVar(&next, "diff", false, "write what the next turn's request changes, with each JSON value on a line")
	return cmd
}

// doubt says why a request may not be what was sent.
func (c *cli) doubt(r *view.Request) {
	if r.Differs != "" {
		fmt.Fprintf(c.stderr, "roster: turn %d: this may not be what was sent: %s\n", r.Turn, r.Differs)
	}
}

func (c *cli) writeNext(ctx context.Context, at place, k session.Key, r *view.Request) error {
	after, err := at.Request(ctx, k, r.Session, r.Turn+1, r.For)
	if err != nil {
		return err
	}
	c.doubt(after)
	var a, b bytes.Buffer
	if err := errors.Join(json.Indent(&a, r.Body, "", "  "), json.Indent(&b, after.Body, "", "  ")); err != nil {
		return err
	}
	name := func(r *view.Request) string { return fmt.Sprintf("turn %d", r.Turn) }
	d := diff.Diff(name(r), append(a.Bytes(), '\n'), name(after), append(b.Bytes(), '\n'))
	_, d, _ = bytes.Cut(d, []byte("\n")) // its first line is a command
	_, err = c.stdout.Write(d)
	return err
}
