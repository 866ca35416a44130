package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Error is a failure of the database itself. Nothing of the call that got it
// is stored.
type Error struct {
	Path string
	Err  error // of the driver
}

func (e *Error) Error() string {
	s := fmt.Sprintf("session store %s: %v", e.Path, e.Err)
	if r := remedy(e.Err); r != "" {
		s += ": " + r
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// code is SQLite's primary result code, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool { return code(err) == lib.SQLITE_BUSY }

const unwritable = "check that the file and its directory can be written"

func remedy(err error) string {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return unwritable
	}
	switch code(err) {
	case lib.SQLITE_FULL:
		return "free some space and try again; nothing that was stored is lost"
	case lib.SQLITE_IOERR:
		return "the disk refused it; look at its space, its health and the limit on the size of files; nothing that was stored is lost"
	case lib.SQLITE_BUSY:
		return "another process holds the database for long; end it or try again"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN:
		return unwritable
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return "move the file away and restore a copy"
	}
	return ""
}

// NewerError refuses a database that a newer version of this program has
// changed.
type NewerError struct {
	Path        string
	Have, Known int // versions of the schema: of the file, of this program
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("session store %s: its schema is version %d, this program knows up to %d: use a newer roster, or another state directory", e.Path, e.Have, e.Known)
}

// ForeignError refuses a database that belongs to another program.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("session store %s: this is the database of another program; name another file", e.Path)
}
