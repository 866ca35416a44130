// Package trust decides what a workspace may do that nobody has looked at. Its
// files may come from anywhere, so that what they would start, reach or read has
// no effect until a person has seen it; and what was seen is pinned by its
// digest, so that a change has to be seen again.
//
// Whoever acts on an executing item asks a View first, each time anew: View.Gate
// for one item, View.Strip for all that a profile says.
package trust

import (
	"fmt"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Item is one thing in a file that would start, reach or read something.
type Item struct {
	Kind Kind `json:"kind"`
	// Profile names the profile that says it; empty: none does.
	Profile string `json:"profile,omitempty"`
	// Key is the key in its file, dotted. Items of a list share one.
	Key string        `json:"key"`
	At  source.Origin `json:"at"`
	// Text says what it does, for people: secrets are masked, and what a
	// terminal would not show is escaped.
	Text string `json:"text"`
	// Digest is of all that matters. Empty: it cannot be told, and the item
	// never acts.
	Digest string `json:"digest"`
}

// id is what an item keeps when its content changes.
func (i Item) id() string { return i.At.File + "\x00" + i.Profile + "\x00" + i.Key }

// State says why an item acts, or why not.
type State string

const (
	Own       State = "own"       // the user's own
	Trusted   State = "trusted"   // as it was when the workspace was trusted
	Untrusted State = "untrusted" // nobody has trusted the workspace
	New       State = "new"       // not there when the workspace was trusted
	Changed   State = "changed"   // another than then
)

// Acts says whether an item of that state has an effect.
func (s State) Acts() bool { return s == Own || s == Trusted }

// Error says that an item has no effect, and what to do. It is
// profile.ExecutingKey for errors.Is.
type Error struct {
	Item  Item
	State State
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Item.At, e.Message(), e.Hint()) }

// Message is the error without its place and remedy.
func (e *Error) Message() string {
	switch e.State {
	case New:
		return e.Item.Key + " has no effect: it was not there when the workspace was trusted"
	case Changed:
		return e.Item.Key + " has no effect: it is not what it was when the workspace was trusted"
	}
	return e.Item.Key + " has no effect: it would start, reach or read something, and nobody has trusted the workspace"
}

// Hint is the remedy.
func (e *Error) Hint() string {
	if e.State == Untrusted {
		return Remedy
	}
	return "roster trust shows what changed"
}

func (e *Error) Unwrap() error { return profile.ExecutingKey }

// Diagnostic reports an item of a profile.
func (e *Error) Diagnostic() profile.Diagnostic {
	return profile.Diagnose(profile.CodeExecuting, e.Item.At, e.Item.Key, e.Message(), e.Hint())
}

// Remedy is what to do where a workspace is not trusted.
const Remedy = "roster trust lists all that it would do and trusts it; --trust does so for one command"

// View is what somebody has said of one workspace at one moment. It is
// immutable. The zero View trusts nothing but values that are not from a file.
type View struct {
	all     bool
	trusted bool
	own     []string // folders of the user's, absolute
	pins    map[string][]Pin
	refused string // the digest of a survey that was declined
}

// Everything is the view of somebody who trusts all that the workspace says.
func Everything() View { return View{all: true} }

// Workspace says that the workspace was trusted: its allow rules count.
func (v View) Workspace() bool { return v.all || v.trusted }

// State says whether an item acts.
func (v View) State(i Item) State {
	switch {
	case v.all:
		return Trusted
	case v.Own(i.At.File):
		return Own
	case !v.trusted:
		return Untrusted
	}
	pins := v.pins[i.id()]
	for _, p := range pins {
		if p.Digest == i.Digest && p.Kind == i.Kind && i.Digest != "" {
			return Trusted
		}
	}
	if len(pins) == 0 {
		return New
	}
	return Changed
}

// Gate says whether an item may act; if not, the error is an *Error.
func (v View) Gate(i Item) error {
	if s := v.State(i); !s.Acts() {
		return &Error{i, s}
	}
	return nil
}

// Rules says whether the allow rules of a file count: the user's own, and those
// of a workspace that is trusted.
func (v View) Rules(file string) bool { return v.Workspace() || v.Own(file) }

// Own says whether a file is the user's: below a folder of his, in memory, or
// none at all, as with flags and a program's options. Files of the workspace are
// named by their path in it.
func (v View) Own(file string) bool {
	if file == "" || file == memory {
		return true
	}
	return filepath.IsAbs(file) && v.below(file)
}

// memory is how profiles that a program gives are named.
const memory = "<memory>"

func (v View) below(file string) bool {
	for _, dir := range v.own {
		if within(file, dir) {
			return true
		}
	}
	return false
}

// within says whether a path is a folder or below it.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// NewItem makes an item of a value.
func NewItem(kind Kind, name, key string, at source.Origin, value *yaml.Node) Item {
	return Item{Kind: kind, Profile: name, Key: key, At: at, Text: render(value), Digest: Digest(kind, value)}
}
