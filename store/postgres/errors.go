package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// Error is a failure of the database itself. Nothing of the call that got it is
// stored, unless the connection broke while it was committed.
type Error struct {
	Database string // user@host:port/name
	Err      error  // of the driver
}

func (e *Error) Error() string {
	s := fmt.Sprintf("session store %s: %v", e.Database, e.Err)
	if r := remedy(e.Err); r != "" {
		s += ": " + r
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// NewerError refuses a database that a newer version of this program has
// changed.
type NewerError struct {
	Database    string
	Have, Known int64 // versions of the schema: of the database, of this program
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("session store %s: its schema is version %d, this program knows up to %d: use a newer roster, or another database", e.Database, e.Have, e.Known)
}

// The codes of PostgreSQL's errors that are told apart.
const (
	serializationFailure = "40001"
	deadlock             = "40P01"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	wrongPassword        = "28P01"
	noSuchDatabase       = "3D000"
	notAllowed           = "42501"
	queryCanceled        = "57014"
	readOnly             = "25006"
)

// errAgain asks for the transaction to be run once more.
var errAgain = errors.New("another transaction made the stream")

func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func again(err error) bool {
	c := code(err)
	return c == serializationFailure || c == deadlock || errors.Is(err, errAgain)
}

func remedy(err error) string {
	switch code(err) {
	case diskFull:
		return "free some space and try again; nothing that was stored is lost"
	case tooManyConnections:
		return "raise max_connections of the database, or use fewer workers"
	case wrongPassword, notAllowed:
		return "check the user and the password, and that it may create and change tables"
	case noSuchDatabase:
		return "create it: CREATE DATABASE, or name another"
	case queryCanceled:
		return "the database took too long; something holds its locks"
	case readOnly:
		return "this is a standby; name the primary"
	}
	if errors.As(err, new(*pgconn.ConnectError)) {
		return "is it running, and can it be reached from here?"
	}
	return ""
}

// fail tells an error of the database from one that the contract names.
func (s *Store) fail(err error) error {
	var (
		fenced   *session.Fenced
		behind   *session.Behind
		conflict *session.Conflict
		busy     *session.Busy
		refused  *refused
		newer    *NewerError
	)
	switch {
	case err == nil, errors.Is(err, admit.ErrClosed), errors.Is(err, session.ErrNoStream), errors.Is(err, session.ErrNoBlob), errors.Is(err, session.ErrNoWork):
		return err
	case errors.As(err, &refused):
		return refused.err
	case errors.As(err, &fenced), errors.As(err, &behind), errors.As(err, &conflict), errors.As(err, &busy), errors.As(err, &newer):
		return err
	}
	return &Error{s.name, err}
}

// refused is an error that says what is wrong with a call.
type refused struct{ err error }

func (r *refused) Error() string { return r.err.Error() }
