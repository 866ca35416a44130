package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig/tieoff"
)

// sections are those of the tie-off, by path and in order.
func (d *driver) sections() map[string][]tieoff.Section {
	d.t.Helper()
	data, err := os.ReadFile(d.path("rig/tie-offs/docs-loom/tie-off-note.md"))
	if os.IsNotExist(err) {
		return nil
	}
	d.must(err)
	list, problems := tieoff.Parse(data)
	for _, p := range problems {
		d.t.Errorf("the tie-off: %v", p)
	}
	of := map[string][]tieoff.Section{}
	for _, s := range list {
		if s.Edited {
			d.t.Errorf("the section of %s is not whole", s.Job)
		}
		of[s.Path] = append(of[s.Path], s)
	}
	return of
}

// newest names a file whose last version is not the last that was worked on; empty: none.
func (d *driver) newest() string {
	sections := d.sections()
	for name, versions := range d.versions {
		want := versions[len(versions)-1].digest
		done := sections[name]
		switch {
		case len(done) == 0 && want == "": // made and removed before anybody saw it
		case len(done) == 0:
			return name + " was never worked on"
		case done[len(done)-1].Digest != want:
			return fmt.Sprintf("%s is at %.8s, and %.8s was worked on", name, want, done[len(done)-1].Digest)
		}
	}
	return ""
}

// slack is what a process takes, on a machine that is busy, to see what has come to rest.
const slack = 1500 * time.Millisecond

// emptied is the digest of nothing: who writes a file in place empties it first.
const emptied = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// check holds the tie-off against what was done: no version twice, all that had to be seen,
// and in the order in which they were.
func (d *driver) check(processes int) {
	d.t.Helper()
	sections := d.sections()
	total, had := 0, 0
	jobs := map[string]bool{}
	for name, versions := range d.versions {
		total += len(sections[name])
		for _, s := range sections[name] {
			if jobs[s.Job] {
				d.t.Errorf("the job %s is there twice", s.Job)
			}
			jobs[s.Job] = true
		}
		d.ordered(name, sections[name])
		for i, v := range versions[:len(versions)-1] {
			if v.digest == "" || v.digest == emptied || !d.stood(v.at, versions[i+1].at, processes) {
				continue
			}
			had++
			if !slices.ContainsFunc(sections[name], func(s tieoff.Section) bool { return s.Digest == v.digest }) {
				d.t.Errorf("%s: %.8s stood still for %v and was not worked on", name, v.digest, versions[i+1].at.Sub(v.at))
			}
		}
	}
	d.t.Logf("%d files, %d sections; %d versions that stood still before the last", len(d.versions), total, had)
}

// ordered holds that the sections of a file are of its versions, each once and in their
// order. The same content again is no version, unless something else was seen between.
func (d *driver) ordered(name string, sections []tieoff.Section) {
	d.t.Helper()
	versions, at, last := d.versions[name], -1, ""
	for _, s := range sections {
		i := slices.IndexFunc(versions[at+1:], func(v content) bool { return v.digest == s.Digest })
		if i < 0 || s.Digest == last {
			d.t.Errorf("%s: %.8s (%s) was worked on twice, out of order, or never was\n%s", name, s.Digest, s.Event, d.story(name, sections))
			return
		}
		at, last = at+1+i, s.Digest
	}
}

// story is what a file had, and what was worked on of it.
func (d *driver) story(name string, sections []tieoff.Section) string {
	var b strings.Builder
	for _, v := range d.versions[name] {
		fmt.Fprintf(&b, "%s it was %.8q\n", v.at.Format("15:04:05.000"), v.digest)
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "%s %s %.8q was worked on\n", s.Time.Format("15:04:05.000"), s.Event, s.Digest)
	}
	return b.String()
}

// stood says whether a version had to be seen: it stood still, while a process watched.
func (d *driver) stood(from, to time.Time, processes int) bool {
	if to.Sub(from) < rigBounce+slack {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range processes {
		if !slices.ContainsFunc(d.down[i], func(s span) bool { return s.from.Before(to) && s.to.Add(slack).After(from) }) {
			return true
		}
	}
	return false
}
