package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/internal/jobs"
)

// enqueue adds jobs as the last ones, except those whose ID is there.
func (row *rig) enqueue(list []ledger.Job, now time.Time) {
	for i := range list {
		if row.jobs[list[i].ID] != nil {
			continue
		}
		row.last++
		j := jobs.New(&list[i], row.last, utc(now))
		j.Content, j.Queued, j.After = bytes.Clone(j.Content), utc(j.Queued), utc(j.After)
		row.place(&j)
	}
}

// place puts a job, whose Seq is the last one, into the ledger.
func (row *rig) place(j *ledger.Job) {
	row.jobs[j.ID] = j
	row.order = append(row.order, j)
	if !jobs.Ended(j.State) {
		row.open = append(row.open, j)
	}
}

// remove takes a job out of a list.
func remove(list []*ledger.Job, j *ledger.Job) []*ledger.Job {
	i, there := slices.BinarySearchFunc(list, j.Seq, func(one *ledger.Job, seq int64) int { return cmp.Compare(one.Seq, seq) })
	if !there {
		return list
	}
	return slices.Delete(list, i, i+1)
}

// Queue implements ledger.Store.
func (s *Store) Queue(ctx context.Context, r ledger.Rig, list []ledger.Job) error {
	if err := jobs.Check(list); err != nil {
		return err
	}
	return s.inRig(ctx, r, func(row *rig) error {
		row.enqueue(list, s.now())
		return nil
	})
}

// Replay implements ledger.Store.
func (s *Store) Replay(ctx context.Context, r ledger.Rig, id string) error {
	return s.inRig(ctx, r, func(row *rig) error {
		j := row.jobs[id]
		if j == nil || j.State != ledger.Dead {
			return ledger.ErrNoJob
		}
		row.order = remove(row.order, j)
		row.last++
		jobs.Replay(j, row.last, utc(s.now()))
		row.place(j)
		return nil
	})
}

// Drop implements ledger.Store.
func (s *Store) Drop(ctx context.Context, r ledger.Rig, id string) error {
	return s.inRig(ctx, r, func(row *rig) error {
		j := row.jobs[id]
		if j == nil || j.State != ledger.Queued && j.State != ledger.Dead {
			return ledger.ErrNoJob
		}
		delete(row.jobs, id)
		row.order, row.open = remove(row.order, j), remove(row.open, j)
		return nil
	})
}

// Job implements ledger.Store.
func (s *Store) Job(ctx context.Context, r ledger.Rig, id string) (found ledger.Job, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		j := row.jobs[id]
		if j == nil {
			return ledger.ErrNoJob
		}
		found = whole(j)
		return nil
	})
	return found, err
}

// whole is a copy that shares no memory with the job.
func whole(j *ledger.Job) ledger.Job {
	c := *j
	c.Content, c.Section = bytes.Clone(j.Content), bytes.Clone(j.Section)
	return c
}

// Jobs implements ledger.Store.
func (s *Store) Jobs(ctx context.Context, r ledger.Rig, q ledger.Query) (list []ledger.Job, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		for _, j := range slices.Backward(row.order) {
			if len(list) == q.Page() {
				break
			}
			if takes(&q, j) {
				one := *j
				one.Content, one.Section = nil, nil
				list = append(list, one)
			}
		}
		return nil
	})
	return list, err
}

func takes(q *ledger.Query, j *ledger.Job) bool {
	return (q.Knot == "" || j.Knot == q.Knot) && (q.Path == "" || j.Path == q.Path) && (q.Before <= 0 || j.Seq < q.Before) &&
		(len(q.States) == 0 || slices.Contains(q.States, j.State))
}

// Counts implements ledger.Store.
func (s *Store) Counts(ctx context.Context, r ledger.Rig) (list []ledger.Count, err error) {
	counts := map[ledger.Count]int{}
	err = s.inRig(ctx, r, func(row *rig) error {
		for _, j := range row.order {
			counts[ledger.Count{Knot: j.Knot, State: j.State}]++
		}
		return nil
	})
	for c, n := range counts {
		c.Jobs = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b ledger.Count) int {
		return cmp.Or(strings.Compare(a.Knot, b.Knot), cmp.Compare(a.State, b.State))
	})
	return list, err
}

// NextDue implements ledger.Store.
func (s *Store) NextDue(ctx context.Context, r ledger.Rig) (due time.Time, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		var first *ledger.Job
		for j := range row.ready() {
			if first == nil || j.After.Before(first.After) {
				first = j
			}
		}
		if first == nil {
			return nil
		}
		if due = first.After; due.IsZero() {
			due = first.Queued
		}
		return nil
	})
	return due, err
}

// Spent implements ledger.Store.
func (s *Store) Spent(ctx context.Context, r ledger.Rig, knot string, since time.Time) (usd float64, tokens int64, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		for _, c := range row.costs {
			if !c.time.Before(since) && (knot == "" || c.knot == knot) {
				usd += c.usd
				tokens += c.tokens
			}
		}
		return nil
	})
	return usd, tokens, err
}
