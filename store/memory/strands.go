package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/internal/jobs"
)

var _ ledger.Store = (*Store)(nil)

// rigs are the ledgers of all rigs. Its lock is taken before that of claims.
type rigs struct {
	mu   sync.Mutex
	kept map[ledger.Rig]*rig
}

// rig is the ledger of one rig.
type rig struct {
	last    int64
	strands map[string]map[string]*ledger.Strand // by knot and path
	jobs    map[string]*ledger.Job               // by ID
	order   []*ledger.Job                        // of jobs, by Seq
	open    []*ledger.Job                        // those that have not ended, by Seq
	costs   []cost                               // the oldest first
	written map[content]written
}

// content is a file that had a content.
type content struct{ path, digest string }

type written struct {
	by   ledger.Written
	time time.Time
}

// cost is what an attempt has cost.
type cost struct {
	knot   string
	time   time.Time
	usd    float64
	tokens int64
}

// inRig runs f with the ledger of a rig.
func (s *Store) inRig(ctx context.Context, r ledger.Rig, f func(*rig) error) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	s.rigs.mu.Lock()
	defer s.rigs.mu.Unlock()
	row := s.rigs.kept[r]
	if row == nil {
		row = &rig{strands: map[string]map[string]*ledger.Strand{}, jobs: map[string]*ledger.Job{}, written: map[content]written{}}
		s.rigs.kept[r] = row
	}
	return f(row)
}

// Strands implements ledger.Store.
func (s *Store) Strands(ctx context.Context, r ledger.Rig, knot string, paths ...string) (list []ledger.Strand, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		known := row.strands[knot]
		if len(paths) == 0 {
			list = make([]ledger.Strand, 0, len(known))
			for _, st := range known {
				list = append(list, *st)
			}
			return nil
		}
		for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
			if st := known[path]; st != nil {
				list = append(list, *st)
			}
		}
		return nil
	})
	return list, err
}

// Note implements ledger.Store.
func (s *Store) Note(ctx context.Context, r ledger.Rig, changes []ledger.Change) (stale []int, err error) {
	if err := jobs.CheckChanges(changes); err != nil {
		return nil, err
	}
	err = s.inRig(ctx, r, func(row *rig) error {
		revs := map[jobs.Place]int64{}
		for i := range changes {
			at := jobs.PlaceOf(&changes[i].Strand)
			if st := row.strands[at.Knot][at.Path]; st != nil {
				revs[at] = st.Rev
			}
		}
		stale = jobs.Stale(changes, revs)
		strands, list := jobs.Accept(changes, stale)
		for _, st := range strands {
			row.note(*st)
		}
		row.enqueue(list, s.now())
		return nil
	})
	return stale, err
}

// note stores what is known of a file.
func (row *rig) note(st ledger.Strand) {
	if row.strands[st.Knot] == nil {
		row.strands[st.Knot] = map[string]*ledger.Strand{}
	}
	st.Rev++
	st.ModTime, st.Checked = utc(st.ModTime), utc(st.Checked)
	row.strands[st.Knot][st.Path] = &st
}

// utc is a time as other stores would return it, but for what is finer than they keep.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// Wrote implements ledger.Store.
func (s *Store) Wrote(ctx context.Context, r ledger.Rig, files []ledger.Written) error {
	return s.inRig(ctx, r, func(row *rig) error {
		for _, f := range files {
			row.written[content{f.Path, f.Digest}] = written{f, s.now()}
		}
		return nil
	})
}

// Writer implements ledger.Store.
func (s *Store) Writer(ctx context.Context, r ledger.Rig, path, digest string) (f ledger.Written, ok bool, err error) {
	err = s.inRig(ctx, r, func(row *rig) error {
		var found written
		found, ok = row.written[content{path, digest}]
		f = found.by
		return nil
	})
	return f, ok, err
}

// Forget implements ledger.Store.
func (s *Store) Forget(ctx context.Context, r ledger.Rig, before time.Time) error {
	return s.inRig(ctx, r, func(row *rig) error {
		old := func(j *ledger.Job) bool { return j.State == ledger.Done && j.Ended.Before(before) }
		row.order = slices.DeleteFunc(row.order, old)
		maps.DeleteFunc(row.jobs, func(_ string, j *ledger.Job) bool { return old(j) })
		row.costs = slices.DeleteFunc(row.costs, func(c cost) bool { return c.time.Before(before) })
		for _, of := range row.strands {
			maps.DeleteFunc(of, func(_ string, st *ledger.Strand) bool { return st.Gone() && st.Checked.Before(before) })
		}
		maps.DeleteFunc(row.written, func(_ content, w written) bool { return w.time.Before(before) })
		return nil
	})
}
