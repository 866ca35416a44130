// Package prompt composes the system prompt of a profile from layers, the most
// stable first, so that providers' prompt caches keep working. Nothing that
// changes from turn to turn is in it.
package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// maxFile bounds a file that a prompt is read from, in bytes.
const maxFile = 1 << 20

const filePrefix = "file:"

// FileError says that a prompt cannot be read: which key names which file, and
// where.
type FileError struct {
	At   source.Origin
	Path string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s: the prompt file %s cannot be read: %v (paths are relative to the workspace and stay inside it)", e.At, e.Path, e.Err)
}

// Unwrap gives the name of the failure and its cause.
func (e *FileError) Unwrap() []error { return []error{profile.MissingSystemPrompt, e.Err} }

// reference matches a text that is nothing but a reference to a prompt.
var reference = regexp.MustCompile(`^\{\{\s*[A-Za-z][A-Za-z0-9_.-]*\s*\}\}$`)

// read returns the file, cut after max+1 bytes. Only a regular file is read,
// and a pipe is not waited for.
func read(root *os.Root, path string, max int64) ([]byte, error) {
	path = filepath.Clean(filepath.FromSlash(path))
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	return io.ReadAll(io.LimitReader(f, max+1))
}

// cause takes the path out of an error that already names it.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
