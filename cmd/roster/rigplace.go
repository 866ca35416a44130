package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/graph"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

// rigs start work by themselves where files change. The methods are those of
// roster.App.
type rigs interface {
	RigNames(context.Context) ([]string, error)
	RigStatus(ctx context.Context, name string) (view.Rig, error)
	RigFiles(ctx context.Context, name string) (view.Rig, error)
	CheckRig(ctx context.Context, name string) (view.Report, error)
	RigGraph(ctx context.Context, name string) (*graph.Graph, error)
	RunKnot(ctx context.Context, rig, knot, strand string, queued func(view.RigJob)) (view.RigJob, error)
	RigJobs(ctx context.Context, name string, q ledger.Query) ([]view.RigJob, error)
	RigTieOffs(ctx context.Context, name string, q roster.TieOffQuery) (view.TieOffs, error)
	ReplayJob(ctx context.Context, name, id string) (view.RigJob, error)
	DropJob(ctx context.Context, name, id string) error
}

func (h here) RigNames(context.Context) ([]string, error) { return h.Rigs() }

func (s server) RigNames(ctx context.Context) ([]string, error) {
	all, err := s.c.Rigs(ctx)
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names, err
}

func (s server) RigStatus(ctx context.Context, name string) (view.Rig, error) {
	return s.c.Rig(ctx, name)
}

func (s server) RigFiles(ctx context.Context, name string) (view.Rig, error) {
	return s.c.Rig(ctx, name)
}

func (s server) CheckRig(ctx context.Context, name string) (view.Report, error) {
	return s.c.CheckRig(ctx, name)
}

func (s server) RigGraph(ctx context.Context, name string) (*graph.Graph, error) {
	data, err := s.c.RigGraph(ctx, name, "json")
	if err != nil {
		return nil, err
	}
	g := new(graph.Graph)
	if err := json.Unmarshal(data, g); err != nil {
		return nil, fmt.Errorf("the graph of %s: %w", name, err)
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("the graph of %s: %w", name, err)
	}
	return g, nil
}

// askAgain is how often a server is asked what became of a job.
const askAgain = 300 * time.Millisecond

// RunKnot has the server's rig do the work. A job that cannot begin is taken out again.
func (s server) RunKnot(ctx context.Context, rig, knot, strand string, queued func(view.RigJob)) (view.RigJob, error) {
	j, err := s.c.AskKnot(ctx, rig, client.KnotWish{Knot: knot, Path: strand})
	if err != nil {
		return j, needsStrand(err, strand)
	}
	queued(j)
	for j.State != string(ledger.Done) && j.State != string(ledger.Dead) {
		select {
		case <-ctx.Done():
			return j, ctx.Err()
		case <-time.After(askAgain):
		}
		if j, err = s.c.RigJob(ctx, rig, j.ID); err != nil {
			return j, err
		}
		if j.Waits == "" {
			continue
		}
		if j.Attempt == 0 {
			err = s.DropJob(ctx, rig, j.ID)
		}
		if errors.Is(err, ledger.ErrNoJob) {
			continue // it has begun after all
		}
		return j, errors.Join(&runner.Waiting{Knot: j.Knot, Code: j.Code, Why: j.Waits, Begun: j.Attempt > 0}, err)
	}
	return j, nil
}

// needsStrand is an error of use where a file should have been named.
func needsStrand(err error, strand string) error {
	var refused *client.Error
	if strand == "" && errors.As(err, &refused) && refused.Code == "InvalidStrand" {
		return usagef("%v", err)
	}
	return err
}

func (s server) RigJobs(ctx context.Context, name string, q ledger.Query) ([]view.RigJob, error) {
	of := client.RigJobQuery{Knot: q.Knot, Path: q.Path, Before: q.Before, Limit: q.Page()}
	for _, state := range q.States {
		of.States = append(of.States, string(state))
	}
	page, err := s.c.RigJobs(ctx, name, of)
	return page.Jobs, err
}

func (s server) RigTieOffs(ctx context.Context, name string, q roster.TieOffQuery) (view.TieOffs, error) {
	return s.c.RigTieOffs(ctx, name, client.TieOffQuery{Knot: q.Knot, Limit: q.Limit, Answers: q.Answers})
}

func (s server) ReplayJob(ctx context.Context, name, id string) (view.RigJob, error) {
	j, err := s.c.ReplayJob(ctx, name, id)
	return j, noSuchJob(err)
}

func (s server) DropJob(ctx context.Context, name, id string) error {
	return noSuchJob(s.c.DropJob(ctx, name, id))
}

func noSuchJob(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == "JobNotFound" {
		return ledger.ErrNoJob
	}
	return err
}
