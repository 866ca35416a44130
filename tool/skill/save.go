package skill

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/profile"
)

// Errors of Save.
var (
	// ErrReadOnly says that a skill is not one of the workspace's, whose files alone
	// are written.
	ErrReadOnly = errors.New("the skill is not a file of the workspace: change it where it is")
	// ErrRevision says that the skill is not as the caller has seen it.
	ErrRevision = errors.New("the skill is not at that revision: read it again")
	// ErrAllows says that the caller may not write allowed-tools.
	ErrAllows = errors.New("allowed-tools need the role admin")
	// ErrExists says that there is a skill of that name already.
	ErrExists = errors.New("there is a skill of that name")
)

// Save writes the SKILL.md of a skill of the workspace, whole, if it has the revision.
// An empty one makes a new skill, in the folder skills. What would not load is a
// *profile.ParseError, and nothing is written. plain refuses allowed-tools.
func (l *Library) Save(name, text, revision string, plain bool) (created bool, err error) {
	l.saving.Lock()
	defer l.saving.Unlock()
	shown := filepath.Join("skills", name, File)
	s, err := l.Snapshot().Get(name)
	if missing := (*NotFoundError)(nil); errors.As(err, &missing) && missing.Refused != nil {
		return false, fmt.Errorf("%w, which does not load: %s", ErrExists, missing.Refused.File)
	}
	at := Place{}
	switch created = err != nil; {
	case created && revision != "":
		return false, ErrRevision
	case created:
	case s.root == "" || s.Own:
		return false, ErrReadOnly
	case revision == "":
		return false, ErrExists
	case s.Revision() != revision:
		return false, ErrRevision
	default:
		shown, at = s.File, Place{Layer: s.Layer}
	}
	next, ds := parse(name, shown, []byte(text), at)
	if next == nil {
		return false, &profile.ParseError{Diagnostics: ds}
	}
	if plain && len(next.Allowed) > 0 {
		return false, ErrAllows
	}
	dir := filepath.Join(l.workspace, "skills", name)
	if !created {
		dir = s.Dir
	}
	return created, write(l.workspace, dir, filepath.Base(shown), []byte(text))
}

// write puts a file in the place of another, below a root.
func write(root, dir, name string, data []byte) (err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	if err := r.MkdirAll(rel, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := filepath.Join(rel, ".roster-"+rand.Text())
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = r.Remove(temp)
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return r.Rename(temp, filepath.Join(rel, name))
}
