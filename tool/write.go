package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// ChangedError is returned when a file is not as the session has last seen it.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return e.Path + " has changed since you last read it: read it again, or set force to true"
}

type writeTool struct {
	defined
	*workspace
}

func (t *writeTool) Conflicts(c Call) []string { return t.conflicts(c) }

// conflicts names the file that a call writes to, if it can be told.
func (w *workspace) conflicts(c Call) []string {
	in, err := decode[struct {
		Path string `json:"path"`
	}](c)
	if err != nil {
		return nil
	}
	to, err := w.open(in.Path)
	if err != nil {
		return nil
	}
	defer to.Close()
	return []string{"file:" + to.Path}
}

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Force   bool   `json:"force"`
}

func (t *writeTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[writeInput](c)
	if err != nil {
		return nil, err
	}
	to, err := t.workspace.open(in.Path)
	if err != nil {
		return nil, err
	}
	return &writePlan{to, t.workspace, in, c.Seen}, nil
}

type writePlan struct {
	*target
	w    *workspace
	in   writeInput
	seen func(string) (string, bool)
}

func (p *writePlan) Needs() []permission.Query { return p.w.writes("write", p.target) }

func (p *writePlan) Run(context.Context, func(string)) (Result, error) {
	before, err := p.current()
	if err != nil {
		return Result{}, err
	}
	if !p.in.Force && p.changed(before, p.seen) {
		return Result{}, &ChangedError{p.subject}
	}
	if err := p.mayChange(before); err != nil {
		return Result{}, err
	}
	after, err := p.Replace([]byte(p.in.Content), before.Mode, func() error { return p.unchanged(before) })
	if err != nil {
		return Result{}, err
	}
	verb := "created"
	if before != (pinned.Stat{}) {
		verb = "overwrote"
	}
	return p.saw(after, Text(fmt.Sprintf("%s %s, %d bytes", verb, p.subject, len(p.in.Content)))), nil
}

// State implements Stater.
func (p *writePlan) State() string { return p.target.state() }

// state names the file as it is.
func (t *target) state() string {
	st, err := t.Lstat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "absent"
	case err != nil:
		return "unknown: " + err.Error()
	}
	return fmt.Sprintf("%v, %d bytes, changed at %d, inode %d", st.Mode, st.Size, st.ModTime, st.Inode)
}

// current looks at the file to be written. The zero Stat means that there is
// none.
func (t *target) current() (pinned.Stat, error) {
	st, err := t.Lstat()
	if errors.Is(err, fs.ErrNotExist) {
		return pinned.Stat{}, nil
	}
	if err == nil && !st.Mode.IsRegular() {
		err = notRegular(t.subject, st.Mode)
	}
	return st, err
}

// mayChange refuses a file that somebody has made read-only, or that is another
// user's, though it could be replaced.
func (t *target) mayChange(before pinned.Stat) error {
	if before == (pinned.Stat{}) {
		return nil
	}
	if err := t.Writable(); errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s is not to be written by this user (its mode is %v): nothing was written", t.subject, before.Mode)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) { // what has gone meanwhile is told at the last look
		return err
	}
	return nil
}

// unchanged is the last look before a file is replaced.
func (t *target) unchanged(before pinned.Stat) error {
	if now, err := t.current(); err != nil || now != before {
		return fmt.Errorf("%s was changed by somebody else at this moment, nothing was written: read it again", t.subject)
	}
	return nil
}
