package runner

import (
	"context"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/rig/event"
	"github.com/rosterrun/roster/session"
)

// Agents run what knots ask for; an App does. They are safe for concurrent use.
type Agents interface {
	// Begin begins a task as the session that it names, unless that is there: then it
	// has been begun, maybe by a process that has died. What keeps it from beginning,
	// such as a profile that is not there, is a *NotBegun.
	Begin(ctx context.Context, t Task) error
	// Await waits until the run of a session has ended, whoever runs it, and tells what
	// it does, in each call from the first on.
	Await(ctx context.Context, session string, w Watch) (End, error)
	// Cancel ends the run. Await returns then.
	Cancel(ctx context.Context, session, reason string) error
}

// Task is the work on one strand.
type Task struct {
	Session string // of its own, which is there if the task was begun before
	Knot    string // loom/name: the id of the agent
	Profile string
	Set     map[string]string // keys of the profile, over it
	System  string            // said behind the prompt of the profile; may be empty
	Text    string            // the prompt
	Events  []session.ClientEvent
}

// NotBegun says why a task cannot begin. Nothing was done, and it may be tried again.
type NotBegun struct {
	Code string
	Err  error
}

func (e *NotBegun) Error() string { return e.Err.Error() }

func (e *NotBegun) Unwrap() error { return e.Err }

// Watch is told what a run does, by one goroutine. Of a call that may change files it is
// told when it begins, what it has changed, and that it has ended, in this order.
type Watch interface {
	Calls(id string)
	Wrote([]Wrote)
	Called(id string)
}

// Wrote is a file that a run has changed.
type Wrote struct {
	Path   string // absolute
	Digest string // SHA-256 of the content, in hex; empty: it is not known
	Gone   bool   // the file is not there any more: Digest is what it had
	// Sure says that nobody else can have done it: the call was for this file, and
	// nothing ran beside it that could change it too.
	Sure bool
	// Alone says that no other session, and no other process of ours, ran a command there
	// meanwhile: it was the run, or a person.
	Alone bool
}

// End is what became of a run.
type End struct {
	Reason      session.Reason
	Text        string // of the answer
	Error, Code string // of Reason error; Code is that of the limit for Reason limit
	Profile     string
	Revision    string
	Model       string
	Usage       message.Usage
	Fired       []event.Event // with the tool emit
	Began, Done time.Time

	files []string // that the run has changed, absolute
}
