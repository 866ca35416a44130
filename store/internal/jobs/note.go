package jobs

import (
	"slices"

	"github.com/rosterrun/roster/rig/ledger"
)

// Place names a row of strands.
type Place struct{ Knot, Path string }

// PlaceOf is the row of a strand.
func PlaceOf(st *ledger.Strand) Place { return Place{st.Knot, st.Path} }

// CheckChanges returns what keeps the jobs of changes from being queued.
func CheckChanges(changes []ledger.Change) error {
	for i := range changes {
		if j := changes[i].Job; j != nil {
			if err := Check([]ledger.Job{*j}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stale returns the indices of the changes that are left out, given the Rev of each row
// that is there. Of two changes of one row the second was not compared with the first.
func Stale(changes []ledger.Change, revs map[Place]int64) (stale []int) {
	seen := map[Place]bool{}
	late := make([]bool, len(changes))
	lost := map[*ledger.Job]bool{}
	for i := range changes {
		c := &changes[i]
		at := PlaceOf(&c.Strand)
		if late[i] = c.Rev != revs[at] || seen[at]; late[i] {
			lost[c.Job] = true
		} else {
			seen[at] = true
		}
	}
	for i := range changes {
		if j := changes[i].Job; late[i] || j != nil && lost[j] {
			stale = append(stale, i)
		}
	}
	return stale
}

// Accept gives the strands of the changes that are not stale, and their jobs, each once.
func Accept(changes []ledger.Change, stale []int) (strands []*ledger.Strand, list []ledger.Job) {
	queued := map[*ledger.Job]bool{nil: true}
	for i := range changes {
		if _, late := slices.BinarySearch(stale, i); late {
			continue
		}
		strands = append(strands, &changes[i].Strand)
		if j := changes[i].Job; !queued[j] {
			queued[j] = true
			list = append(list, *j)
		}
	}
	return strands, list
}
