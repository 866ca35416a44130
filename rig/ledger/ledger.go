// Package ledger is what rigs have seen, and what they have to do: the strands that
// each knot knows, by their content, and the jobs that came of them. Nothing that is
// in it is lost by a crash, and nothing that it says was done is done again.
package ledger

import (
	"context"
	"errors"
	"time"
)

// Rig names a rig: whose it is, and its folder, relative to the root of the
// workspace, with slashes.
type Rig struct{ Tenant, Name string }

// Strand is what a knot knows of a file.
type Strand struct {
	Knot string // loom/name
	Path string // relative to the workspace, with slashes; absolute where it is outside
	// Digest is the SHA-256 of the content, in hex; empty: the file is not there, or
	// is no strand.
	Digest  string
	Size    int64
	ModTime time.Time // of the file, to the nanosecond
	Checked time.Time // when it was looked at
	Skipped string    // why it is no strand, as "binary"; empty: it is one
	// Rev is raised by each Note; 0: nothing is known yet.
	Rev int64
}

// Gone says whether it is a file that is not there any more. What is known of a schedule
// has a time.
func (s *Strand) Gone() bool { return s.Digest == "" && s.Skipped == "" && s.ModTime.IsZero() }

// Change is what was found of a file.
type Change struct {
	// Strand is the file as it is now. Its Rev is that of the row it was compared
	// with, read before the file was.
	Strand
	// Job is what is to be done about it; nil: nothing. It is Queued, or Dead if it
	// says so. Changes that have the same one (the same pointer) are noted together or
	// not at all, and it is queued once.
	Job *Job
}

// State is how far a job is.
type State string

// States. A job goes from Queued over Running and Writing to Done; to Queued again
// where it failed and is tried again; to Dead where it is not.
const (
	Queued  State = "queued"
	Running State = "running"
	Writing State = "writing" // its section may be in the tie-off, whole, in part, or not
	Done    State = "done"
	Dead    State = "dead" // until it is replayed or dropped
)

// Job is one strand for one knot: a change of a file, an event of another knot, or a
// time of a schedule.
type Job struct {
	ID    string // UUIDv7, given by whoever queues it; like Knot it is needed
	Seq   int64  // its place in the order of the rig, given by the store
	Knot  string // loom/name
	Event string // created, modified, deleted, scheduled, asked, or the id of an event
	Path  string // of the strand; of an event "event:PRODUCER:ID"; empty: there is none
	// Digest and Content are those of the strand when the job was queued; of one that was
	// removed, the digest is Removed. Lists leave the content out, and so do jobs that are
	// done.
	Digest  string
	Content []byte
	Hops    int       // how many jobs of knots stand before it, one having caused the next
	Parent  string    // the job that caused it; empty: none
	Queued  time.Time // zero: when it is stored

	State   State
	Attempt int       // how often it was begun, from 1
	After   time.Time // it is not begun before; zero: at once
	Error   string    // of the newest attempt
	Code    string    // of that error

	Worker  string // who has it; empty: nobody
	Epoch   int64  // raised by each ClaimJob: whoever holds an older one has lost it
	Session string // the stream of the newest attempt
	Began   time.Time

	// Of a job that is Writing, or Done, or tried again after it was Writing: what is
	// added to which file, and from where.
	File    string
	Offset  int64
	Section []byte // not in lists

	Ended  time.Time
	Cost   float64 // USD, of all attempts
	Tokens int64
}

// Written is a file that a job wrote: it carries on how many jobs stand before it.
type Written struct {
	Path, Digest string // the digest is that of the content, or is Removed
	Job, Knot    string
	Hops         int
}

// Removed stands for the removal of a file in place of its digest, where it had the
// content with this one.
func Removed(digest string) string { return "removed " + digest }

// Limits say what may be claimed.
type Limits struct {
	// Knots are those whose jobs may be claimed, and how many of each may be at work
	// at once, in all processes together.
	Knots map[string]int
	Total int // of the rig; 0: no limit
}

// Outcome is how a claimed job ends, or rests.
type Outcome struct {
	State State     // Done, Dead, or Queued to be tried again
	After time.Time // of Queued: not before
	// Back gives the job back, Queued, as if this attempt had not been, for nothing was
	// done: the server is shut down, or the knot has changed. The attempt of a job that
	// is Writing stays counted. Error and Code may be empty: those before are kept.
	Back        bool
	Error, Code string
	Cost        float64 // of this attempt
	Tokens      int64
	Hops        int   // of the job, where there are more by now
	Fires       []Job // jobs that come of it, queued in the same commit, as by Queue
}

// Query narrows a list of jobs. The zero Query lists all, the newest first.
type Query struct {
	Knot, Path string
	States     []State
	Before     int64 // jobs whose Seq is smaller
	Limit      int   // 0: 100, at most MaxPage
}

// MaxPage is how many jobs one list has at most.
const MaxPage = 1000

// Page is the limit that a query comes to.
func (q *Query) Page() int {
	if q.Limit <= 0 {
		return 100
	}
	return min(q.Limit, MaxPage)
}

// Count is how many jobs of a knot are in a state.
type Count struct {
	Knot  string
	State State
	Jobs  int
}

var (
	// ErrNoWork is returned by ClaimJob if there is nothing to claim.
	ErrNoWork = errors.New("there is no job to claim")
	// ErrLost is returned to a worker that has not the job any more: another took it,
	// or it has ended.
	ErrLost = errors.New("the job is not this worker's any more")
	// ErrNoJob is returned for a job that is not there.
	ErrNoJob = errors.New("there is no such job")
)

// Store keeps the ledgers of rigs. It stands beside session.Store in each backend,
// shares its workers (session.Claims), and is safe for concurrent use by several
// processes. What a call has stored is there after a crash, whole or not at all.
type Store interface {
	// Strands returns what a knot knows: of these paths, as far as it knows them, or
	// without any, of all.
	Strands(ctx context.Context, r Rig, knot string, paths ...string) ([]Strand, error)
	// Note stores what was found, and queues the jobs of it, in one commit and in this
	// order. Changes whose row has another Rev by now are left out, with those that share
	// their Job; stale has their indices. A row that is new has the Rev 1.
	Note(ctx context.Context, r Rig, changes []Change) (stale []int, err error)
	// Queue adds jobs that come of no file, in this order: Queued, or Dead if they say
	// so. One whose ID is there is left as it is, here and wherever jobs are queued.
	Queue(ctx context.Context, r Rig, jobs []Job) error

	// ClaimJob takes a job for a worker that beats (session.Claims.Beat), with its
	// content. Jobs that were begun and whose worker is dead, or has not beaten for
	// session.LeaseTime, go first, then those that are queued and due, each in the
	// order of their Seq. A job waits while an earlier one of the same knot and path,
	// where it has a path, has not ended, and while the limits are reached. ErrNoWork.
	ClaimJob(ctx context.Context, r Rig, worker string, l Limits) (Job, error)
	// Begin notes that a claimed job is Running as a session. It counts an attempt if
	// the session is another than the job's, and forgets the section of the attempt
	// before. ErrLost.
	Begin(ctx context.Context, r Rig, id string, epoch int64, session string) error
	// Write notes that a section is about to be added to a file at an offset. ErrLost.
	Write(ctx context.Context, r Rig, id string, epoch int64, file string, offset int64, section []byte) error
	// Settle ends a claimed job's work; it is nobody's then. Its content is removed with
	// Done: it is needed no more. ErrLost.
	Settle(ctx context.Context, r Rig, id string, epoch int64, o Outcome) error
	// Holds says whether a worker still has a job: nil, or ErrLost.
	Holds(ctx context.Context, r Rig, id string, epoch int64) error

	// Wrote notes files that jobs have written.
	Wrote(ctx context.Context, r Rig, files []Written) error
	// Writer returns who wrote a content of a file last, if a job did.
	Writer(ctx context.Context, r Rig, path, digest string) (w Written, ok bool, err error)

	// Job returns a job with its content and section, or ErrNoJob.
	Job(ctx context.Context, r Rig, id string) (Job, error)
	// Jobs lists jobs without content and section.
	Jobs(ctx context.Context, r Rig, q Query) ([]Job, error)
	// Counts counts the jobs by knot and state, in the order of both.
	Counts(ctx context.Context, r Rig) ([]Count, error)
	// NextDue is when the first job that is queued and waits for no other may begin, of
	// all knots; zero: there is none. It may be past, and is for one without After.
	NextDue(ctx context.Context, r Rig) (time.Time, error)
	// Spent is what the attempts of a knot that were settled since a time have cost,
	// those of dropped jobs too; the empty knot is all.
	Spent(ctx context.Context, r Rig, knot string, since time.Time) (cost float64, tokens int64, err error)
	// Replay queues a job that is Dead anew, with its content, to be begun at once, with
	// the attempts counted from 1. Its Seq is a new one: it comes after what was queued
	// since. ErrNoJob: there is none, or it is not Dead.
	Replay(ctx context.Context, r Rig, id string) error
	// Drop takes a job out that is Queued or Dead. ErrNoJob.
	Drop(ctx context.Context, r Rig, id string) error
	// Forget takes out what has ended Done before a time, what was written and spent then,
	// and the strands that were found to be Gone then.
	Forget(ctx context.Context, r Rig, before time.Time) error
}
