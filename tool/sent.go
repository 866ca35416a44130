package tool

import (
	"errors"
	"fmt"
	"os"

	"github.com/rosterrun/roster/permission"
)

// Files opens files for tools that send them somewhere. Sending one is reading it.
type Files struct{ w *workspace }

// NewFiles returns the files of a workspace.
func NewFiles(env Env) (*Files, error) {
	w, err := newWorkspace(env)
	return &Files{w}, err
}

// SentFile is a file that was opened to be sent: what it needs is what it is.
type SentFile struct {
	*os.File
	Subject string // its path as rules see it
	Size    int64  // in bytes, when it was opened
	// Err is why it could not be opened. It is told only to who may read the file.
	Err error

	target *target
}

// Open opens a regular file, by a path as the tool read takes it. It must be closed.
func (f *Files) Open(path string) (*SentFile, error) {
	to, err := f.w.open(path)
	if err != nil {
		return nil, err
	}
	s := &SentFile{Subject: to.subject, target: to}
	st, err := to.Lstat()
	switch {
	case err != nil:
		s.Err = notFound(to.subject, err)
	case !st.Mode.IsRegular():
		s.Err = notRegular(to.subject, st.Mode)
	default:
		s.File, s.Err = to.Open()
	}
	if s.Err != nil {
		return s, nil
	}
	if info, err := s.Stat(); err != nil {
		s.Err = err
	} else {
		s.Size = info.Size()
	}
	return s, nil
}

// Needs is what has to be permitted.
func (s *SentFile) Needs() []permission.Query {
	return reads("read", s.Subject, s.target.outside)
}

// State names the file as it is now.
func (s *SentFile) State() string {
	if s.File == nil {
		return s.Subject
	}
	info, err := s.Stat()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(s.Subject, info.Size(), info.ModTime().UnixNano())
}

// Close closes it.
func (s *SentFile) Close() error {
	var err error
	if s.File != nil {
		err = s.File.Close()
	}
	return errors.Join(err, s.target.Close())
}
