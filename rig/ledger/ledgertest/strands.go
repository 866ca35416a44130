package ledgertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
)

func (f *fixture) strands(knot string) []ledger.Strand {
	f.Helper()
	list, err := f.Strands(f.ctx, f.rig, knot)
	f.must(err)
	slices.SortFunc(list, func(a, b ledger.Strand) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// note stores changes, of which those with the given indices are stale.
func (f *fixture) note(changes []ledger.Change, want ...int) {
	f.Helper()
	stale, err := f.Note(f.ctx, f.rig, changes)
	f.must(err)
	f.equal("stale", want, stale)
}

func strand(knot, path string, rev int64) ledger.Strand {
	return ledger.Strand{
		Knot: knot, Path: path, Digest: fmt.Sprintf("digest of %q", path), Size: 7, Rev: rev,
		ModTime: time.Date(2029, 12, 31, 23, 59, 59, 123456789, time.UTC), Checked: time.Date(2030, 1, 1, 0, 0, 0, 987654321, time.UTC),
	}
}

func change(st ledger.Strand, j *ledger.Job) ledger.Change { return ledger.Change{Strand: st, Job: j} }

var strandTests = []test{
	{"are known as they were noted, to the nanosecond", func(f *fixture) {
		one, gone, skipped, old := strand("a/x", "1 Größe.md", 0), strand("a/x", "2", 0), strand("a/x", "3\xff\x00", 0), strand("a/x", "4", 0)
		gone.Digest, gone.Size, gone.ModTime, gone.Checked = "", 0, time.Time{}, time.Time{}
		skipped.Digest, skipped.Skipped, skipped.Size = "", "binary", 1<<40
		old.ModTime = time.Unix(0, 0).UTC()
		f.note([]ledger.Change{change(one, nil), change(gone, nil), change(skipped, nil), change(old, nil)})
		want := []ledger.Strand{one, gone, skipped, old}
		for i := range want {
			want[i].Rev = 1
		}
		f.equal("strands", want, f.strands("a/x"))
	}},
	{"have the Rev 1 when they are new, and a higher one with each Note", func(f *fixture) {
		for rev := range int64(3) {
			st := strand("a/x", "1", rev)
			st.Size = rev
			f.note([]ledger.Change{change(st, nil)})
			st.Rev++
			f.equal("strands", []ledger.Strand{st}, f.strands("a/x"))
		}
	}},
	{"whose row has another Rev are left out, with their jobs", func(f *fixture) {
		f.note([]ledger.Change{change(strand("a/x", "1", 0), nil)})
		job := func(id string) *ledger.Job { j := f.job(id, "a/x", ""); return &j }
		late := strand("a/x", "1", 0)
		late.Digest = "late"
		f.note([]ledger.Change{
			change(late, job("j0")),
			change(strand("a/x", "2", 0), job("j1")),
			change(strand("a/x", "3", 4), job("j2")), // there is no row
			change(strand("a/x", "2", 0), job("j3")), // the second of this call
			change(strand("a/x", "1", 1), job("j4")),
			change(strand("a/x", "1", 1), job("j5")),
		}, 0, 2, 3, 5)
		f.equal("jobs", "j4 j1", f.ids(ledger.Query{}))
		want := []ledger.Strand{strand("a/x", "1", 2), strand("a/x", "2", 1)}
		f.equal("strands", want, f.strands("a/x"))
	}},
	{"are asked for by their paths, or all", func(f *fixture) {
		f.note([]ledger.Change{change(strand("a/x", "1", 0), nil), change(strand("a/x", "2\xff", 0), nil), change(strand("a/x", "3", 0), nil), change(strand("a/y", "4", 0), nil)})
		for _, c := range []struct {
			paths []string
			want  string
		}{{nil, "1 2\xff 3"}, {[]string{"3", "1"}, "1 3"}, {[]string{"2\xff", "2", "4", "2\xff"}, "2\xff"}, {[]string{"5"}, ""}, {[]string{""}, ""}} {
			list, err := f.Strands(f.ctx, f.rig, "a/x", c.paths...)
			f.must(err)
			var got []string
			for _, st := range list {
				got = append(got, st.Path)
			}
			slices.Sort(got)
			f.equal(fmt.Sprintf("%q", c.paths), c.want, strings.Join(got, " "))
		}
	}},
	{"that share a job are noted together or not at all, and the job once", func(f *fixture) {
		f.note([]ledger.Change{change(strand("a/x", "1", 0), nil)})
		shared, other := f.job("j1", "a/x", ""), f.job("j2", "a/x", "")
		late := f.job("j3", "a/x", "")
		f.note([]ledger.Change{
			change(strand("a/x", "4", 0), &late),
			change(strand("a/x", "2", 0), &shared),
			change(strand("a/x", "3", 0), &other),
			change(strand("a/x", "1", 1), &shared),
			change(strand("a/x", "3", 2), &late),
		}, 0, 4)
		f.equal("jobs", "j2 j1", f.ids(ledger.Query{}))
		f.equal("strands", []ledger.Strand{strand("a/x", "1", 2), strand("a/x", "2", 1), strand("a/x", "3", 1)}, f.strands("a/x"))
	}},
	{"are each knot's own", func(f *fixture) {
		f.note([]ledger.Change{change(strand("a/x", "1", 0), nil), change(strand("a/y", "1", 0), nil)})
		f.note([]ledger.Change{change(strand("a/y", "1", 1), nil)})
		f.equal("a/x", []ledger.Strand{strand("a/x", "1", 1)}, f.strands("a/x"))
		f.equal("a/y", []ledger.Strand{strand("a/y", "1", 2)}, f.strands("a/y"))
		f.equal("b/x", 0, len(f.strands("b/x")))
	}},
	{"and jobs are noted whole or not at all", func(f *fixture) {
		good, bad := f.job("j1", "a/x", ""), f.job("", "a/x", "")
		if _, err := f.Note(f.ctx, f.rig, []ledger.Change{change(strand("a/x", "1", 0), &good), change(strand("a/x", "2", 0), &bad)}); err == nil {
			f.Fatal("a job without an id was queued")
		}
		f.equal("strands", 0, len(f.strands("a/x")))
		f.equal("jobs", "", f.ids(ledger.Query{}))
	}},
	{"of other rigs and tenants are not seen", func(f *fixture) {
		others := []ledger.Rig{{Tenant: "acme", Name: "other"}, {Tenant: "other", Name: "rig"}, {Tenant: "acmerig"}}
		f.queue("a/x", "j1")
		f.note([]ledger.Change{change(strand("a/x", "1", 0), nil)})
		f.must(f.Wrote(f.ctx, f.rig, []ledger.Written{{Path: "1", Digest: "d", Job: "j1", Knot: "a/x", Hops: 1}}))
		j := f.claim("w1", "j1")
		for _, r := range others {
			o := *f
			o.rig = r
			o.equal("strands", 0, len(o.strands("a/x")))
			o.equal("jobs", "", o.ids(ledger.Query{}))
			o.noWork("w2")
			_, err := o.Job(f.ctx, r, "j1")
			o.is("Job", ledger.ErrNoJob, err)
			o.is("Holds", ledger.ErrLost, o.Holds(f.ctx, r, "j1", j.Epoch))
			o.is("Settle", ledger.ErrLost, o.Settle(f.ctx, r, "j1", j.Epoch, ledger.Outcome{State: ledger.Done}))
			o.is("Drop", ledger.ErrNoJob, o.Drop(f.ctx, r, "j1"))
			_, ok, err := o.Writer(f.ctx, r, "1", "d")
			o.must(err)
			o.equal("written", false, ok)
			o.must(o.Forget(f.ctx, r, f.clock.Now().Add(time.Hour)))
			o.queue("a/x", "j1")
			o.claim("w2", "j1")
		}
		f.must(f.Holds(f.ctx, f.rig, "j1", j.Epoch))
		_, ok, err := f.Writer(f.ctx, f.rig, "1", "d")
		f.must(err)
		f.equal("written", true, ok)
	}},
	{"that were written have a last writer", func(f *fixture) {
		first, other := ledger.Written{Path: "1", Digest: "d", Job: "j1", Knot: "a/x", Hops: 1}, ledger.Written{Path: "1", Digest: "e", Job: "j1", Knot: "a/x", Hops: 1}
		last := ledger.Written{Path: "1", Digest: "d", Job: "j2", Knot: "a/y", Hops: 3}
		f.must(f.Wrote(f.ctx, f.rig, []ledger.Written{first, other}))
		f.clock.Pass(time.Minute)
		f.must(f.Wrote(f.ctx, f.rig, []ledger.Written{last}))
		for _, want := range []ledger.Written{last, other} {
			got, ok, err := f.Writer(f.ctx, f.rig, want.Path, want.Digest)
			f.must(err)
			f.equal("ok", true, ok)
			f.equal("written", want, got)
		}
		f.must(f.Forget(f.ctx, f.rig, f.clock.Now()))
		for digest, want := range map[string]bool{"d": true, "e": false, "f": false} {
			got, ok, err := f.Writer(f.ctx, f.rig, "1", digest)
			f.must(err)
			f.equal("is "+digest+" known", want, ok)
			if !ok {
				f.equal("nobody", ledger.Written{}, got)
			}
		}
	}},
	{"that are gone are forgotten", func(f *fixture) {
		there, gone, late, skipped, due := strand("a/x", "1", 0), strand("a/x", "2", 0), strand("a/x", "3", 0), strand("a/x", "4", 0), strand("a/x", "schedule:@daily", 0)
		for _, st := range []*ledger.Strand{&gone, &late} {
			st.Digest, st.Size, st.ModTime = "", 0, time.Time{}
		}
		skipped.Digest, skipped.Skipped, skipped.ModTime, due.Digest = "", "binary", time.Time{}, ""
		before := gone.Checked.Add(time.Nanosecond)
		late.Checked = before
		f.note([]ledger.Change{change(there, nil), change(gone, nil), change(late, nil), change(skipped, nil), change(due, nil)})
		f.must(f.Forget(f.ctx, f.rig, before))
		var left []string
		for _, st := range f.strands("a/x") {
			left = append(left, st.Path)
		}
		slices.Sort(left)
		f.equal("left", []string{"1", "3", "4", "schedule:@daily"}, left)
		f.note([]ledger.Change{change(gone, nil)}) // it is new
	}},
}
