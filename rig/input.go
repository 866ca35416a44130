package rig

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig/event"
)

// Input is where the strands of a knot come from: a folder, or another knot's event.
type Input struct {
	// Dir is relative to the workspace, with slashes, or absolute; it may lead out of the
	// workspace where the caller allows that. Empty: strands are events.
	Dir string
	// Producer is a knot's name, LOOM/NAME or a loom: of whom the event is. ID is the
	// event's.
	Producer, ID string
}

// FiredBy says whether an event of a knot is one that is waited for.
func (i Input) FiredBy(loom, name, id string) bool {
	return i.ID != "" && i.ID == id && (i.Producer == name || i.Producer == loom || i.Producer == loom+"/"+name)
}

// String is the input as strand-dir has it.
func (i Input) String() string {
	if i.ID != "" {
		return eventPrefix + i.Producer + ":" + i.ID
	}
	return i.Dir
}

const eventPrefix = "event:"

// Policy is what the caller allows the files of a rig.
type Policy struct {
	// Outside lets a strand-dir be absolute, begin with ~/, or lead out by "..".
	Outside bool
	Home    string // what ~ stands for, absolute; empty: nothing begins with it
}

// parseInput reads a strand-dir. hint says what to do about an error.
func parseInput(text string, p Policy) (in Input, why, hint string) {
	if rest, ok := strings.CutPrefix(text, eventPrefix); ok {
		return parseEvent(rest)
	}
	const inside = "name a folder of the workspace, such as docs, or allow others with rig.outside in a roster.yaml that is trusted"
	dir := text
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		if !p.Outside || p.Home == "" {
			return in, "is in the home folder, outside of the workspace, which is not allowed here", inside
		}
		dir = p.Home + dir[1:]
	}
	switch {
	case strings.ContainsFunc(dir, unicode.IsControl):
		return in, "holds a control character", inside
	case strings.Contains(dir, `\`):
		return in, "holds a backslash", "write slashes"
	case path.IsAbs(dir) && !p.Outside:
		return in, "is absolute, which is not allowed here", inside
	}
	if dir = path.Clean(dir); !p.Outside && (dir == ".." || strings.HasPrefix(dir, "../")) {
		return in, "leads out of the workspace", inside
	}
	return Input{Dir: dir}, "", ""
}

// parseEvent reads PRODUCER:ID.
func parseEvent(text string) (in Input, why, hint string) {
	const form = "write event:PRODUCER:ID: the name of a knot, LOOM/KNOT or a loom, and the id of the event, such as event:reviewer:ReviewCompleted"
	producer, id, ok := strings.Cut(text, ":")
	if !ok || profile.CheckName(producer) != nil || strings.Count(producer, "/") > 1 {
		return in, "names no producer", form
	}
	if err := CheckEventID(id); err != nil {
		return in, "has an event that cannot be: " + err.Error(), form
	}
	return Input{Producer: producer, ID: id}, "", ""
}

// CheckEventID says whether a text can be the id of an event that a knot sends: a name
// of an event (event.CheckName), and none of the words that stand for something else:
// none, created, modified, deleted, scheduled and asked, in any case.
func CheckEventID(id string) error {
	switch Event(strings.ToLower(id)) {
	case "none", Created, Modified, Deleted, Scheduled, Asked:
		return fmt.Errorf("%q is a word of its own", id)
	}
	return event.CheckName(id)
}
