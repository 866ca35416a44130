package tool

import (
	"errors"
	"path/filepath"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// Needs lists what a built-in file tool would have to be permitted for a path,
// which need not exist: the path as rules see it and, outside of the workspace
// and for protected files, a second query. A command line needs that for the
// files that it opens by redirection. Any other tool needs its subject as it is.
// A path in roster's own state is a *StateDirError. Env.Exec may be empty.
func Needs(env Env, tool, subject string) ([]permission.Query, error) {
	writes := tool == "write" || tool == "edit"
	if !writes && tool != "read" && tool != "glob" && tool != "grep" && tool != "bash" || subject == "" {
		return []permission.Query{{Tool: tool, Subject: subject}}, nil
	}
	w, err := newWorkspace(env)
	if err != nil {
		return nil, err
	}
	if tool == "bash" {
		opens, err := w.opens(subject, w.root)
		return append([]permission.Query{{Tool: tool, Subject: subject}}, opens...), err
	}
	t, err := w.open(subject)
	if state := (*StateDirError)(nil); errors.As(err, &state) {
		return nil, err
	} else if err != nil {
		t, err = w.written(subject)
	} else {
		defer t.Close()
	}
	switch {
	case err != nil:
		return nil, err
	case writes:
		return w.writes(tool, t), nil
	}
	return reads(tool, t.subject, t.outside), nil
}

// written takes a path that cannot be followed as it is written.
func (w *workspace) written(name string) (*target, error) {
	if !filepath.IsAbs(name) {
		name = w.root + "/" + name
	}
	name = filepath.Clean(name)
	if w.state != "" && permission.Within(name, w.state) {
		return nil, &StateDirError{name}
	}
	subject, outside := w.subject(name)
	return &target{&pinned.Place{Path: name}, subject, outside}, nil
}
