package tool

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// workspace is what the file tools share. It is immutable.
type workspace struct {
	root      string // real path
	state     string // real path, folded
	protected permission.ProtectedFiles
}

// target is a path that was resolved. Its subject is what rules see and what
// the model is shown: relative to the workspace, or absolute outside of it.
type target struct {
	*pinned.Place
	subject string
	outside bool
}

// StateDirError is returned for a path in roster's own state.
type StateDirError struct{ Path string }

func (e *StateDirError) Error() string {
	return e.Path + " is in roster's own state directory, which no tool may use"
}

// UnexpandedError is returned for a path that a shell or a browser would read as
// another one, where there is no file of that name: nobody means a folder "~".
type UnexpandedError struct{ Path string }

func (e *UnexpandedError) Error() string {
	return fmt.Sprintf("%s does not exist: a path is taken as it is written, nothing in it is expanded. Give it relative to the workspace or in full (./%s for a new file of that name)", e.Path, e.Path)
}

func unexpanded(name string) bool {
	return strings.HasPrefix(name, "~") || strings.HasPrefix(name, "$HOME") || strings.HasPrefix(name, "${HOME}") || strings.Contains(name, "://")
}

// open resolves a path of a call. The target must be closed.
func (w *workspace) open(given string) (*target, error) {
	name := given
	if !filepath.IsAbs(name) {
		name = w.root + "/" + name
	}
	place, err := pinned.Resolve(name)
	if err != nil {
		return nil, err
	}
	if !place.Exists && unexpanded(given) {
		place.Close()
		return nil, &UnexpandedError{given}
	}
	if w.state != "" && permission.Within(place.Path, w.state) {
		place.Close()
		return nil, &StateDirError{place.Path}
	}
	subject, outside := w.subject(place.Path)
	return &target{place, subject, outside}, nil
}

// subject is a real path as rules see it.
func (w *workspace) subject(real string) (subject string, outside bool) {
	switch {
	case real == w.root:
		return ".", false
	case w.root == "/":
		return real[1:], false
	case strings.HasPrefix(real, w.root) && real[len(w.root)] == '/':
		return real[len(w.root)+1:], false
	}
	return real, true
}

// reads is what reading a file needs.
func reads(tool, subject string, outside bool) []permission.Query {
	q := []permission.Query{{Tool: tool, Subject: subject}}
	if outside {
		q = append(q, permission.Query{Tool: permission.ExternalDirectory, Subject: subject})
	}
	return q
}

// writes is what writing a file needs.
func (w *workspace) writes(tool string, t *target) []permission.Query {
	q := reads(tool, t.subject, t.outside)
	if w.protected.Has(t.Path, t.subject) {
		q = append(q, permission.Query{Tool: permission.Protected, Subject: t.subject})
	}
	return q
}

// realDir resolves a directory that may not exist yet.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	place, err := pinned.Resolve(abs)
	if err != nil {
		return "", err
	}
	defer place.Close()
	if place.Path == "/" {
		return "", fmt.Errorf("%s is the root of the file system", dir)
	}
	return place.Path, nil
}
