// Package tool is what an agent can do: the contract of a tool, and the
// built-in tools.
package tool

import (
	"context"
	"io"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// Tool is one thing that an agent can do. It is safe for concurrent use.
type Tool interface {
	// Def describes the tool. It returns the same pointer every time.
	Def() *model.ToolDef
	// Prepare binds the input, which has passed the schema, without any side
	// effect. What it opened is what the plan's Run uses, so that check and use
	// see the same file. An error is told to the model.
	Prepare(ctx context.Context, c Call) (Plan, error)
}

// Plan is a call that is ready to be judged and run. Close is called exactly
// once, also after a denial.
type Plan interface {
	// Needs lists what the call must be permitted to do. An empty list denies.
	Needs() []permission.Query
	// Run does it. The error is for what the model should know as a failed
	// call; ctx ends on cancel and on the tool's timeout. progress may be
	// called with text to show while the tool works.
	Run(ctx context.Context, progress func(string)) (Result, error)
	Close() error
}

// Stater is a Plan that changes something which others may change before a
// person has allowed it. State names that as it is now.
type Stater interface{ State() string }

// Continuing is a Plan that goes on with what a call has begun before, as its Needs
// say. That was permitted then: nobody is asked again, and only a denial counts.
type Continuing interface{ Continues() }

// Call is one call of a tool. ID survives a crash and may be passed on as an
// idempotency key. Input is valid JSON.
type Call struct {
	ID      string
	Key     session.Key
	Session string
	Input   []byte
	// Permit judges what a call comes upon by itself, as grep and glob do
	// files. nil denies all of it.
	Permit *permission.Engine
	// Delegator runs what the call gives to another agent; nil if it cannot, or
	// the tool is not a Delegating one.
	Delegator Delegator
	// Switch tests, in Prepare, whether the session can go on as another profile
	// when the batch has ended; nil if it cannot, or the tool is not a Switching
	// one.
	Switch func(profile string) error
	// Revert tests, in Prepare, whether the conversation can go back so far when
	// the batch has ended; nil if it cannot, or the tool is not a Reverting one.
	Revert func(Back) error
	// Reply is what a person has said to what an Asking tool asks; nil: nobody is
	// there to say it.
	Reply *session.InputAnswered
	// Blobs has what was too long to be sent whole; nil: there is nothing. MaxText
	// is how many bytes of text of a result are sent; 0: all.
	Blobs   session.Blobs
	MaxText int
	// Opened gives what the capability of the tool has opened for the run, and opens
	// it first if no call has yet; nil: there is nothing to open. A plan may call it.
	Opened func(context.Context) (io.Closer, error)
	// Seen gives the state in which the session has last seen a file (Result.Seen),
	// by its path as rules see it; nil: it has seen none. A plan may call it.
	Seen func(path string) (state string, ok bool)
	// Work is what the session has noted of its work, as it is when a plan runs;
	// nil if the tool is not a Noting one. Prepare must not call it.
	Work func() session.Work
}

// Result is what the model is told. Parts are Text and Image.
type Result struct {
	Parts []message.Part
	Error bool
	// Note goes into the log before the end of the call; nil: nothing. A call that
	// is repeated after a crash may find it there.
	Note session.Body
	// Seen is the file that was read or written, as it was or is now; nil: none.
	Seen *session.Seen
}

// Text makes a result of plain text.
func Text(s string) Result { return Result{Parts: []message.Part{message.Text{Text: s}}} }

// Recovery says what to do with a call that was started and not seen to end.
type Recovery uint8

const (
	Unknown Recovery = iota // tell the model that its outcome is not known
	Repeat                  // run it again: it has no side effect, or the same one
	Resume                  // it only waits for something durable: attach again
)

// Recoverer is a Tool that says more than Unknown.
type Recoverer interface{ Recovery(Call) Recovery }

// Conflicter is a Tool whose calls may get in each other's way: two calls of a
// batch with a common key do not run at the same time.
type Conflicter interface{ Conflicts(Call) []string }

// Delegating is a Tool whose calls may give work to another agent, through the
// Delegator of the call. Its Recovery is Resume.
type Delegating interface{ Delegates() }

// Withheld is a Tool that is not offered. A model that calls it all the same is
// told why.
type Withheld interface {
	Tool
	Withheld() string
}

// Noting is a Tool that reads what the session has noted of its work, and may note
// something.
type Noting interface{ Notes() }

// Switching is a Tool whose calls, where they end well, have the session go on as
// another profile from the next model call on.
type Switching interface {
	// Target is the profile that a call names, and why.
	Target(input []byte) (profile, reason string)
}

// Asking is a Tool whose calls ask a person something. They run when that has
// answered, or at once where nobody is there. Its Recovery is Resume.
type Asking interface{ Asks(input []byte) Question }

// Question is what a person is asked.
type Question struct {
	Text    string
	Options []string
}

// Delegator has another agent do a task, in a session of its own below that of
// the call, and waits for it. After a crash the same call gets the same session.
// A plan passes its error on as it is.
type Delegator interface {
	Delegate(ctx context.Context, t Task) (Result, error)
}

// Task is work for another agent.
type Task struct {
	Profile     string
	Description string // in a few words, for people
	Prompt      string
}
