package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rosterrun/roster/internal/keep"
)

// File is the name of the file of all that the user has trusted, in his own
// folder.
const File = "trust.json"

// Files keeps what the user has trusted, by the real path of each workspace. Its
// methods are safe for concurrent use, also by several processes.
type Files struct {
	// Home is the user's own folder. It need not exist.
	Home string
}

// Pin is an item as it was when somebody looked at it.
type Pin struct {
	Kind    Kind   `json:"kind"`
	File    string `json:"file"`
	Profile string `json:"profile,omitempty"`
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Text    string `json:"text"`
}

func (p Pin) id() string { return Item{Profile: p.Profile, Key: p.Key, At: origin(p.File)}.id() }

// record is what is kept of one workspace.
type record struct {
	Trusted time.Time `json:"trusted,omitzero"` // zero: it is not
	Pins    []Pin     `json:"items,omitempty"`
	// Declined is the digest of what somebody was asked to trust and did not.
	Declined string `json:"declined,omitempty"`
}

type document struct {
	Version    int               `json:"version"`
	Workspaces map[string]record `json:"workspaces"`
}

const version = 1

// Stamp changes when the file does.
type Stamp struct {
	keep.Stamp
	unreadable bool
}

// Stamp looks at the file without reading it.
func (f Files) Stamp() Stamp {
	s, err := f.file().Stamp()
	return Stamp{s, err != nil}
}

func (f Files) path() string { return filepath.Join(f.Home, File) }

func (f Files) file() keep.File { return keep.File(f.path()) }

// View reads what the user has said of a workspace: dir is its real path, own
// are folders of his beside Home. With an error the view trusts nothing.
func (f Files) View(dir string, own ...string) (View, error) {
	v := View{own: append([]string{f.Home}, own...)}
	if dir == f.Home {
		return View{all: true}, nil // the user's own folder
	}
	if within(f.Home, dir) {
		return v, nil // an agent could write there: see Save
	}
	doc, err := f.read()
	if err != nil {
		return v, err
	}
	r, ok := doc.Workspaces[dir]
	if !ok {
		return v, nil
	}
	v.trusted, v.refused = !r.Trusted.IsZero(), r.Declined
	v.pins = make(map[string][]Pin, len(r.Pins))
	for _, p := range r.Pins {
		v.pins[p.id()] = append(v.pins[p.id()], p)
	}
	return v, nil
}

// Trust pins the items of a workspace as they were shown to somebody. Items that
// were pinned before and are not among them are not any more.
func (f Files) Trust(ctx context.Context, dir string, items []Item) error {
	r := record{Trusted: time.Now().UTC().Truncate(time.Second)}
	for _, i := range items {
		r.Pins = append(r.Pins, Pin{i.Kind, i.At.File, i.Profile, i.Key, i.Digest, i.Text})
	}
	slices.SortFunc(r.Pins, func(a, b Pin) int { return cmp.Or(cmp.Compare(a.id(), b.id()), cmp.Compare(a.Digest, b.Digest)) })
	r.Pins = slices.Compact(r.Pins)
	return f.update(ctx, dir, func(doc *document) { doc.Workspaces[dir] = r })
}

// Decline notes that somebody was shown a survey and did not trust it, so that
// he is not asked again until it is another.
func (f Files) Decline(ctx context.Context, dir, survey string) error {
	return f.update(ctx, dir, func(doc *document) {
		r := doc.Workspaces[dir]
		r.Declined = survey
		doc.Workspaces[dir] = r
	})
}

// Revoke forgets a workspace. It says whether it was trusted.
func (f Files) Revoke(ctx context.Context, dir string) (was bool, err error) {
	err = f.update(ctx, dir, func(doc *document) {
		was = !doc.Workspaces[dir].Trusted.IsZero()
		delete(doc.Workspaces, dir)
	})
	return was, err
}

// List gives the real paths of the workspaces that are trusted, sorted.
func (f Files) List() ([]string, error) {
	doc, err := f.read()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for dir, r := range doc.Workspaces {
		if !r.Trusted.IsZero() {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs, nil
}

func (f Files) read() (document, error) {
	doc := document{Version: version, Workspaces: map[string]record{}}
	data, err := f.file().Read()
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	switch {
	case err != nil:
		return document{}, fmt.Errorf("%s cannot be read, so nothing is trusted: %w (repair the file, or remove it)", f.path(), err)
	case doc.Version != version:
		return document{}, fmt.Errorf("%s is of version %d, which this program does not know, so nothing is trusted", f.path(), doc.Version)
	case doc.Workspaces == nil:
		doc.Workspaces = map[string]record{}
	}
	return doc, nil
}

// update changes the file while no other process does.
func (f Files) update(ctx context.Context, dir string, change func(*document)) error {
	if within(f.Home, dir) {
		return fmt.Errorf("trust cannot be kept in %s, which is inside of the workspace (set ROSTER_HOME to a folder elsewhere, or use --trust for one command)", f.Home)
	}
	if err := os.MkdirAll(f.Home, 0o700); err != nil {
		return fmt.Errorf("keeping trust: %w", err)
	}
	unlock, err := f.file().Lock(ctx, false)
	if err != nil {
		return fmt.Errorf("keeping trust: %w", err)
	}
	defer unlock()
	doc, err := f.read()
	if err != nil {
		return err
	}
	change(&doc)
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping trust: %w", err)
	}
	if err := f.file().Write(append(data, '\n')); err != nil {
		return fmt.Errorf("keeping trust: %w", err)
	}
	return nil
}
