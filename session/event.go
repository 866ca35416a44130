// Package session is the log of a conversation: the events, the fold that
// makes a state of them, and the contract of what stores them. The log is the
// truth; everything else is derived from it. It imports nothing of the runtime
// but messages.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// The errors that a store returns by value.
var (
	ErrNoStream = errors.New("no such session")
	ErrNoBlob   = errors.New("no such blob")
	ErrNoWork   = errors.New("no runnable session")
)

// Event is one fact about a stream. It is append-only: once numbered it never
// changes.
type Event struct {
	// Seq counts from 1 in each stream. 0 marks a live event, such as a delta:
	// it is shown to those who watch and never stored.
	Seq int64
	// V is the version of the form of Body, from 1. Older forms are lifted
	// when they are read.
	V uint16
	// Session is the session in the stream's tree; Loop and Turn are where in
	// it. Turn counts from 1 in each loop and is 0 outside of one.
	Session string
	Loop    string
	Turn    int
	// Agent is the agent_id of the running instance, Depth its depth of
	// delegation, Chain the id that all events of one request share.
	Agent string
	Depth int
	Chain string
	// Time is in UTC, to the microsecond.
	Time time.Time
	Type string
	// Body is the typed content, nil after a Read until Decode is called.
	Body Body
	// Data is Body's JSON, encoded once and shared by store and readers.
	Data []byte
	// Refs are the digests of the blobs that this event needs.
	Refs []string
}

// Body is the content of one type of event. Types that this version does not
// know are Raw.
type Body interface {
	// Type is the event's type: dotted, past or noun.
	Type() string
	// AppendJSON appends the body's JSON.
	AppendJSON([]byte) []byte
}

// Raw is a body of a type that this version does not know. It is kept as it is.
type Raw struct {
	Name string
	JSON []byte
}

func (r *Raw) Type() string                 { return r.Name }
func (r *Raw) AppendJSON(dst []byte) []byte { return append(dst, r.JSON...) }

// Inbound says whether events of this type may be posted by any process. All
// others are the owner's.
func Inbound(typ string) bool {
	switch typ {
	case "prompt", "steer", "followup", "cancel", "branch", "permission.resolved", "input.answered", "session.set", "session.imported", "files.undone", "worktree.ended":
		return true
	}
	return false
}

// Encode sets Type, V and Data from Body if Data is not there yet.
func (e *Event) Encode() {
	if e.Data == nil {
		e.Data = e.EncodeTo(make([]byte, 0, 128))
	}
}

// EncodeTo sets Type and V and appends Body's JSON to dst, which the caller
// then sets Data from.
func (e *Event) EncodeTo(dst []byte) []byte {
	e.Type = e.Body.Type()
	if e.V == 0 {
		e.V = 1
	}
	return e.Body.AppendJSON(dst)
}

// Digest is the name of a blob: the SHA-256 of its bytes, in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
