package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/ledger"
)

// rigJobCommands are those about the work of a rig.
func (c *cli) rigJobCommands() []*cobra.Command {
	return []*cobra.Command{c.rigStatusCommand(), c.rigRunCommand(), c.rigWatchCommand(), c.rigLogCommand(), c.rigDeadCommand(), c.rigReplayCommand(), c.rigDropCommand(), c.rigShareCommand(), c.rigImportCommand()}
}

func (c *cli) rigStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [RIG]",
		Short: "Show how the knots of a rig stand",
		Long: `Shows each knot with its jobs: queued, at work, done and dead, why queued jobs do not
begin, and when its schedule is due; and what is spent of the budgets. Without RIG it
shows all rigs of the workspace.`,
		Args: arguments(0, "RIG"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRigs(cmd.Context(), args, func(at place, names []string) error {
				rigs := []view.Rig{}
				for _, name := range names {
					r, err := at.RigStatus(cmd.Context(), name)
					if err != nil {
						return err
					}
					rigs = append(rigs, r)
				}
				return c.showRigs(rigs)
			})
		},
	}
}

func (c *cli) showRigs(rigs []view.Rig) error {
	if c.json {
		return c.writeJSON(rigs)
	}
	var rows [][]string
	for _, r := range rigs {
		for _, k := range r.Knots {
			next := "-"
			if k.NextRun != nil {
				next = k.NextRun.Local().Format("2006-01-02 15:04")
			}
			waits := k.Waits
			switch k.Status {
			case "gone":
				waits = "there is no such knot any more"
			case "refused":
				waits = "its file has errors"
			}
			rows = append(rows, []string{
				r.Name, k.ID, orDash(k.Input), strconv.Itoa(k.Queued), strconv.Itoa(k.Running), strconv.Itoa(k.Done), strconv.Itoa(k.Dead), next, orDash(waits),
			})
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(c.stdout, "there are no knots")
		return nil
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"RIG", "KNOT", "INPUT", "QUEUED", "RUNNING", "DONE", "DEAD", "NEXT RUN", "WAITS FOR"}, rows)
	for _, r := range rigs {
		if b := r.Budget; b != nil {
			fmt.Fprintf(c.stdout, "%s has spent %s today\n", r.Name, ofBudget(b))
		}
		for _, k := range r.Knots {
			if b := k.Budget; b != nil {
				fmt.Fprintf(c.stdout, "%s %s has spent %s today\n", r.Name, k.ID, ofBudget(b))
			}
		}
		if r.Problems > 0 && !c.quiet {
			fmt.Fprintf(c.stderr, "roster: the files of %s have %d problems: roster rig check names them\n", r.Name, r.Problems)
		}
	}
	return nil
}

func ofBudget(b *view.DayBudget) string {
	return fmt.Sprintf("$%.4f of $%g", b.Spent, b.CostPerDay)
}

func (c *cli) rigWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Run the rigs of the workspace, until it is interrupted",
		Long: `Watches the folders of all knots, and has an agent work on what changes. What changed
while nothing ran is found first. roster serve does the same besides serving.

What is at work when it ends goes on with the next roster rig watch or roster serve.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			log, err := c.logger(logFlags{format: "text"})
			if err != nil {
				return err
			}
			app, err := c.open(roster.Options{Claim: true, Log: log})
			if err != nil {
				return err
			}
			return c.close(app, app.RunRigs(ctx, roster.RigOptions{}))
		},
	}
}

func (c *cli) rigLogCommand() *cobra.Command {
	q, name := ledger.Query{}, ""
	cmd := &cobra.Command{
		Use:   "log [KNOT]",
		Short: "List the jobs of a rig, the newest first",
		Long: `Lists what the knots of a rig have worked on, the newest first: of one knot, as
LOOM/NAME, or of all. roster sessions show SESSION shows what the agent did.`,
		Args: arguments(0, "KNOT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				q.Knot = args[0]
			}
			return c.listJobs(cmd.Context(), name, q)
		},
	}
	c.rigFlag(cmd, &name)
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "show at most `N` jobs")
	return cmd
}

func (c *cli) rigDeadCommand() *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List the jobs that failed for good",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listJobs(cmd.Context(), name, ledger.Query{States: []ledger.State{ledger.Dead}, Limit: ledger.MaxPage})
		},
	}
	c.rigFlag(cmd, &name)
	return cmd
}

func (c *cli) listJobs(ctx context.Context, rig string, q ledger.Query) error {
	return c.withRig(ctx, rig, func(at place, name string) error {
		jobs, err := at.RigJobs(ctx, name, q)
		if err != nil {
			return err
		}
		if c.json {
			return c.writeJSON(jobs)
		}
		var rows [][]string
		for i := range jobs {
			j := &jobs[i]
			rows = append(rows, []string{
				j.Queued.Local().Format(time.DateTime), j.ID, j.Knot, j.Event, orDash(j.Path), j.State, strconv.Itoa(j.Attempt), orDash(j.Session), orDash(j.Error),
			})
		}
		if len(rows) == 0 {
			fmt.Fprintln(c.stdout, "there are no jobs")
			return nil
		}
		render.Table(c.stdout, c.style(c.stdout.file), []string{"QUEUED", "JOB", "KNOT", "EVENT", "PATH", "STATE", "TRIES", "SESSION", "ERROR"}, rows)
		return nil
	})
}

func (c *cli) rigReplayCommand() *cobra.Command {
	name, all := "", false
	cmd := &cobra.Command{
		Use:   "replay JOB... | --all",
		Short: "Queue dead jobs anew, with their strands as they were",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("roster rig replay takes the ids of jobs, or --all")
			}
			return c.withRig(cmd.Context(), name, func(at place, name string) error {
				return c.replay(cmd.Context(), at, name, args, all)
			})
		},
	}
	c.rigFlag(cmd, &name)
	cmd.Flags().BoolVar(&all, "all", false, "all that are dead")
	return cmd
}

func (c *cli) replay(ctx context.Context, at place, rig string, ids []string, all bool) error {
	if all {
		dead, err := at.RigJobs(ctx, rig, ledger.Query{States: []ledger.State{ledger.Dead}, Limit: ledger.MaxPage})
		if err != nil {
			return err
		}
		for i := range dead {
			ids = append(ids, dead[len(dead)-1-i].ID) // the oldest first
		}
	}
	jobs := []view.RigJob{}
	for _, id := range ids {
		j, err := at.ReplayJob(ctx, rig, id)
		if err != nil {
			return noJob(err, id, "dead")
		}
		jobs = append(jobs, j)
	}
	if c.json {
		return c.writeJSON(jobs)
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %d queued; roster serve or roster rig watch works on them\n", len(jobs))
	}
	return nil
}

func (c *cli) rigDropCommand() *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:   "drop JOB...",
		Short: "Take jobs out that are queued or dead",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRig(cmd.Context(), name, func(at place, name string) error {
				for _, id := range args {
					if err := at.DropJob(cmd.Context(), name, id); err != nil {
						return noJob(err, id, "queued or dead")
					}
				}
				return nil
			})
		},
	}
	c.rigFlag(cmd, &name)
	return cmd
}

func noJob(err error, id, state string) error {
	if errors.Is(err, ledger.ErrNoJob) {
		return fmt.Errorf("there is no job %q that is %s: roster rig log lists them", id, state)
	}
	return err
}

func (c *cli) rigFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "rig", "", "the `RIG`; needed where the workspace has several")
}

// withRigs works with the rigs that are named, or all.
func (c *cli) withRigs(ctx context.Context, names []string, do func(place, []string) error) error {
	return c.withPlace(func(at place) error {
		names, err := theRigs(ctx, at, names)
		if err != nil {
			return err
		}
		return do(at, names)
	})
}

// withRig works with one rig.
func (c *cli) withRig(ctx context.Context, name string, do func(place, string) error) error {
	return c.withPlace(func(at place) error {
		name, err := theRig(ctx, at, name)
		if err != nil {
			return err
		}
		return do(at, name)
	})
}

// theRigs are those that are named, or all that there are.
func theRigs(ctx context.Context, at rigs, names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	names, err := at.RigNames(ctx)
	if err == nil && len(names) == 0 {
		err = errors.New("the workspace has no rig: one is a folder rig, or one that ends in -rig (roster init makes one)")
	}
	return names, err
}

// theRig is the one that is named, or the only one.
func theRig(ctx context.Context, at rigs, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	names, err := theRigs(ctx, at, nil)
	if err != nil {
		return "", err
	}
	if len(names) > 1 {
		return "", usagef("the workspace has several rigs: --rig names one of %s", strings.Join(names, ", "))
	}
	return names[0], nil
}
