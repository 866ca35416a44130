package trust

import (
	"strconv"

	"github.com/rosterrun/roster/source"
)

// CommandItem is a line that a command runs when it is called: the n-th of it, from 1.
func CommandItem(command string, n int, line string, at source.Origin) Item {
	return NewItem(Command, "", "/"+command+" !"+strconv.Itoa(n), source.Origin{File: at.File, Line: at.Line, Column: at.Column}, scalar(line))
}
