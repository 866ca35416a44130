package render

import (
	"fmt"
	"io"

	"github.com/rosterrun/roster/internal/view"
)

// UndoDiff shows what an undo changes. safe shows control characters as text.
func UndoDiff(w io.Writer, u *view.Undo, safe bool) error {
	for _, f := range u.Files {
		text := f.Diff
		if safe {
			text = Safe(text)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// UndoNotes says what an undo leaves as it is, and why; quiet: only of what it
// looked at.
func UndoNotes(w io.Writer, u *view.Undo, quiet bool) {
	for _, f := range u.Files {
		switch {
		case f.Outcome == "left":
			fmt.Fprintf(w, "roster: left alone: %s: %s\n", Safe(f.Path), Safe(f.Why))
		case f.Why != "":
			fmt.Fprintf(w, "roster: look at %s: %s\n", Safe(f.Path), Safe(f.Why))
		}
	}
	for _, n := range u.Lost {
		fmt.Fprintf(w, "roster: %s\n", Safe(n))
	}
	if quiet {
		return
	}
	for _, n := range u.Notes {
		fmt.Fprintf(w, "roster: %s\n", Safe(n))
	}
}
