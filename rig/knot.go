// Package rig is what the files of a rig say: its looms, and their knots, each one
// job: an agent, instructions, and the folder, event or time that it works on. It
// reads files and says what is wrong with them. It runs nothing, and follows no link
// out of the workspace.
package rig

import (
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
)

// Event is why a knot runs: a change of a file, a time of its schedule, somebody who
// asks for it, or the id of another knot's event.
type Event string

// The events that no knot sends.
const (
	Created   Event = "created"
	Modified  Event = "modified"
	Deleted   Event = "deleted"
	Scheduled Event = "scheduled"
	Asked     Event = "asked"
)

// Bundling is how a strand is shown to the model.
type Bundling string

// The ways to show a strand.
const (
	FullFile Bundling = "full-file" // its path and its content
	PathOnly Bundling = "path"      // its path; the agent reads it by its tools
	Diff     Bundling = "diff"      // its path and what changed in it
	Batch    Bundling = "batch"     // all files that changed in a quiet period, in one run
)

// Knot is what the file of a knot says. It is never changed, and safe for concurrent
// use. A value that the file does not set is the default, with Set false.
type Knot struct {
	Loom   string // the whole name of its folder, such as review-loom
	Name   string // within the loom; default: the file's name without .md
	NameAt source.Origin
	File   string // relative to the workspace, with slashes
	Digest string // SHA-256 of the file, in hex: another one is another knot

	// Agent is the profile that is named, or the one in place, whose Name is the
	// knot's ID. What is set over a named profile is in Agent.Config, and as text in
	// Overrides.
	Agent resolve.Agent

	// Input is where strands come from; none: there is a Schedule.
	Input profile.Value[Input]
	// Instructions are those of the prompt-template, and Body is what stands below the
	// frontmatter, both without white space around them.
	Instructions profile.Value[string]
	Body         string
	Bundling     profile.Value[Bundling] // default full-file

	On           profile.Value[[]Event]       // which changes count; default: all three
	Ignore       profile.Value[[]string]      // patterns of .gitignore files, over paths in Input.Dir
	Self         profile.Value[bool]          // what its own runs wrote or sent to their loom counts; default false
	Debounce     profile.Value[time.Duration] // how long a file is still before it counts; default 100ms, 10ms to 1h
	Concurrency  profile.Value[int]           // jobs at once, in all processes; default 1, 1 to 64
	Timeout      profile.Value[time.Duration] // of one attempt; default 5m, 1s to 24h
	GitVersioned profile.Value[bool]          // commit what its runs wrote; default false
	// EventDescription says when the event happens that this knot waits for. It is
	// shown to the model of the knot that sends it.
	EventDescription profile.Value[string]

	Schedule   profile.Value[*Schedule] // nil: none
	QuietHours profile.Value[[]Window]  // when no job begins; default: never
	// Zone is what Schedule and QuietHours are told in (time-zone); default: the
	// machine's.
	Zone profile.Value[*time.Location]

	Budget  Budget
	Retries Retries

	overrides map[string]string
	ignores   *ignore.Set
}

// Budget is the most that a knot may cost, in USD. What is not Set is not limited;
// the limits of the profile and the policy hold in any case.
type Budget struct {
	PerRun profile.Value[float64] // cost-per-run: one attempt; from 0.000001
	PerDay profile.Value[float64] // cost-per-day: all that began on a day, in Zone; from 0.000001
}

// Retries say how a job that fails is tried again.
type Retries struct {
	Attempts   profile.Value[int]           // in all; default 5, 1 to 100
	Backoff    profile.Value[time.Duration] // before the second, doubled each time; default 2s, 10ms to 24h
	MaxBackoff profile.Value[time.Duration] // default 5m, 10ms to 24h
}

// Wait is how long to wait after an attempt that failed, from 1 on; ok is false after
// the last one.
func (r *Retries) Wait(attempt int) (wait time.Duration, ok bool) {
	if attempt >= r.Attempts.V {
		return 0, false
	}
	wait = r.Backoff.V
	for range attempt - 1 {
		if wait >= r.MaxBackoff.V {
			break
		}
		wait *= 2
	}
	return min(wait, r.MaxBackoff.V), true
}

// ID is LOOM/NAME, by which a knot is known in its rig.
func (k *Knot) ID() string { return k.Loom + "/" + k.Name }

// Inline is the profile in place: that of a knot that names none; else nil.
func (k *Knot) Inline() *profile.Profile {
	if k.Agent.Ref != "" {
		return nil
	}
	return k.Agent.Config
}

// Overrides are the keys that are set over the named profile, as texts in the way of
// session.Overrides.Set; none in a knot that names no profile.
func (k *Knot) Overrides() map[string]string { return k.overrides }

// Task is what the knot says to do: its goal, its instructions and its body, as far
// as there are any.
func (k *Knot) Task() string {
	var parts []string
	for _, p := range []string{k.Agent.Goal, k.Instructions.V, k.Body} {
		if p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n")
}

// Wants says whether a change counts.
func (k *Knot) Wants(e Event) bool { return slices.Contains(k.On.V, e) }

// Ignores says whether a file or folder is left out. path is relative to Input.Dir,
// with slashes, and nothing above it is left out.
func (k *Knot) Ignores(path string, dir bool) bool { return k.ignores.Match(path, dir) }

// Next is when the schedule is due after a time; zero: never, or there is none.
func (k *Knot) Next(after time.Time) time.Time {
	if k.Schedule.V == nil {
		return time.Time{}
	}
	return k.Schedule.V.next(after.In(k.Zone.V))
}

// Quiet is when the quiet hours end that a time lies in; zero: it lies in none.
func (k *Knot) Quiet(at time.Time) time.Time { return quiet(k.QuietHours.V, at.In(k.Zone.V)) }
