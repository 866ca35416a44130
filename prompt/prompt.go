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
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// The names of the layers, in their order.
const (
	Persona     = "persona"
	Profile     = "profile"
	Index       = "index"
	Memory      = "memory"
	Environment = "environment"
)

// separator stands between persona and profile.
const separator = "\n\n---\n\n"

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

// Own returns the profile's own prompt and where it is written: the
// system-prompt if there is one, which may name a file in the workspace, else
// the body. A file that cannot be read is a *FileError.
func Own(workspace *os.Root, p *profile.Profile, system profile.Value[string]) (string, source.Origin, error) {
	if !system.Set {
		return strings.TrimSpace(p.Body), p.BodyAt, nil
	}
	text := strings.TrimSpace(system.V)
	if path, ok := strings.CutPrefix(text, filePrefix); ok && !strings.Contains(path, "\n") {
		path = strings.TrimSpace(path)
		data, err := read(workspace, path, maxFile)
		if err == nil && len(data) > maxFile {
			err = fmt.Errorf("it has more than %d bytes", maxFile)
		}
		if err == nil && !utf8.Valid(data) {
			err = errors.New("it is not UTF-8")
		}
		if err != nil {
			return "", system.At, &FileError{system.At, path, err}
		}
		return strings.TrimSpace(string(data)), source.Origin{Layer: system.At.Layer, File: path, Line: 1}, nil
	}
	if reference.MatchString(text) {
		return "", system.At, fmt.Errorf("%s: system-prompt refers to %s, and there is no prompt of that name (write the text, or file:PATH)", system.At, text)
	}
	return text, system.At, nil
}

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

// Blocks returns the text of the layers as the blocks of a request, in order.
// Persona and profile are one block.
func Blocks(layers []spec.Layer) []string {
	var blocks []string
	persona := false
	for _, l := range layers {
		if persona && l.Name == Profile {
			blocks[len(blocks)-1] += separator + l.Text
		} else {
			blocks = append(blocks, l.Text)
		}
		persona = l.Name == Persona
	}
	return blocks
}
