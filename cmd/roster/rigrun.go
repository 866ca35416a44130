package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

func (c *cli) rigRunCommand() *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:   "run KNOT [STRAND]",
		Short: "Have a knot work on a file now",
		Long: `Queues a job for a knot, as LOOM/NAME or as a name that only one knot has, waits until it
has ended, and prints the answer, which is added to the knot's tie-off too. STRAND is a text
file of the workspace, relative to its root or absolute; a knot that watches no folder needs
none. The file need not have changed.

Where roster serve or roster rig watch runs, that does the work, else this command: then it
also works on what is queued before it for the same knot. The events of the answer are
queued for the knots that wait for them. A job that cannot begin, as for a profile that is
not there, is taken out again.

With --server, the rig of the server does the work, and STRAND is a file of the knot's
folder there.

Exit codes: 0 done, 1 failed for good (roster rig dead lists it), 2 usage, 130 interrupted:
the job stays, and roster serve or roster rig watch goes on with it.`,
		Example: "  roster rig run review-loom/clarity docs/guide.md\n  roster rig run nightly --json",
		Args:    arguments(1, "KNOT", "STRAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			defer context.AfterFunc(ctx, stop)() // a second interrupt ends the program
			at, err := c.reachWith(roster.Options{Claim: true})
			if err != nil {
				return err
			}
			if name, err = theRig(ctx, at, name); err == nil {
				err = c.runKnot(ctx, at, name, args[0], append(args[1:], "")[0])
			}
			return c.close(at, err)
		},
	}
	c.rigFlag(cmd, &name)
	return cmd
}

func (c *cli) runKnot(ctx context.Context, at rigs, rig, knot, strand string) error {
	queued := ""
	job, err := at.RunKnot(ctx, rig, knot, strand, func(j view.RigJob) { queued = j.ID })
	var needs *runner.StrandError
	switch {
	case err != nil && ctx.Err() != nil && queued != "":
		fmt.Fprintf(c.stderr, "roster: interrupted; the job %s stays: roster serve or roster rig watch goes on with it\n", queued)
		return exit(exitInterrupted)
	case errors.As(err, &needs) && needs.Path == "":
		return usagef("%v", err)
	case err != nil:
		return err
	}
	if c.json {
		err = c.writeJSON(job)
	} else if job.State == string(ledger.Done) {
		fmt.Fprintln(c.stdout, render.Safe(strings.Trim(job.Answer, "\n")))
	}
	if err == nil && job.State == string(ledger.Dead) {
		fmt.Fprintf(c.stderr, "roster: the job %s failed for good: %s\n", job.ID, render.Safe(job.Error))
		return exit(exitFailed)
	}
	return err
}
