package ledgertest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rosterrun/roster/rig/ledger"
)

// Bench measures what a rig asks of a store. Each call of open returns an empty one.
func Bench(b *testing.B, open func(b *testing.B) Store) {
	b.Run("note 10000", func(b *testing.B) { benchNote(b, open(b)) })
	b.Run("strands 100000", func(b *testing.B) { benchStrands(b, open(b)) })
	b.Run("one job", func(b *testing.B) { benchJob(b, open(b), 0) })
	b.Run("one job of 10000", func(b *testing.B) { benchJob(b, open(b), 10_000) })
	b.Run("nothing to claim", func(b *testing.B) { benchNothing(b, open(b)) })
}

const (
	benchBatch = 500
	benchKnots = 100
)

// noteMany notes new files of a knot, each with a job of 1 KiB if it is asked for.
func noteMany(b *testing.B, s Store, r ledger.Rig, files int, work bool) {
	b.Helper()
	content := make([]byte, 1<<10)
	for from := 0; from < files; from += benchBatch {
		changes := make([]ledger.Change, benchBatch)
		for i := range changes {
			path := fmt.Sprintf("strands/%06d.md", from+i)
			changes[i].Strand = strand(fmt.Sprint("a/", (from+i)%benchKnots), path, 0)
			if work {
				changes[i].Job = &ledger.Job{ID: fmt.Sprintf("01890a5d-ac96-774b-bcce-%012d", from+i), Knot: changes[i].Knot, Event: "created", Path: path, Digest: changes[i].Digest, Content: content}
			} else {
				changes[i].Knot = "a/x"
			}
		}
		if stale, err := s.Note(b.Context(), r, changes); err != nil || len(stale) > 0 {
			b.Fatal(stale, err)
		}
	}
}

func benchNote(b *testing.B, s Store) {
	n := 0
	for b.Loop() {
		n++
		noteMany(b, s, ledger.Rig{Tenant: "acme", Name: fmt.Sprint(n)}, 10_000, true)
	}
}

func benchStrands(b *testing.B, s Store) {
	const files = 100_000
	noteMany(b, s, acme, files, false)
	for b.Loop() {
		list, err := s.Strands(b.Context(), acme, "a/x")
		if err != nil || len(list) != files {
			b.Fatal(len(list), err)
		}
	}
}

func benchLimits() ledger.Limits {
	l := ledger.Limits{Knots: map[string]int{}, Total: 16}
	for i := range benchKnots {
		l.Knots[fmt.Sprint("a/", i)] = 4
	}
	return l
}

// benchJob claims, begins, writes and settles a job, while others are queued.
func benchJob(b *testing.B, s Store, others int) {
	noteMany(b, s, acme, others, true)
	l, section := benchLimits(), make([]byte, 2<<10)
	n := 0
	for b.Loop() {
		n++
		job := ledger.Job{ID: fmt.Sprint("job ", n), Knot: "a/1", Event: "asked", Content: section}
		if err := s.Queue(b.Context(), acme, []ledger.Job{job}); err != nil {
			b.Fatal(err)
		}
		j, err := s.ClaimJob(b.Context(), acme, "worker", l)
		if err == nil {
			err = s.Beat(b.Context(), "worker")
		}
		if err == nil {
			err = s.Begin(b.Context(), acme, j.ID, j.Epoch, "session")
		}
		if err == nil {
			err = s.Write(b.Context(), acme, j.ID, j.Epoch, "tie-off.md", 100, section)
		}
		if err == nil {
			err = s.Settle(b.Context(), acme, j.ID, j.Epoch, ledger.Outcome{State: ledger.Done, Cost: 0.01, Tokens: 100})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchNothing(b *testing.B, s Store) {
	l := benchLimits()
	if err := s.Queue(b.Context(), acme, []ledger.Job{{ID: "job", Knot: "a/x"}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if j, err := s.ClaimJob(b.Context(), acme, "worker", l); !errors.Is(err, ledger.ErrNoWork) {
			b.Fatal(j.ID, err)
		}
	}
}
