package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/internal/view"
)

// Skill writes a skill for people.
func Skill(w io.Writer, s Style, v *view.Skill) {
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-14s %s\n", key, Safe(value))
		}
	}
	row("name", v.Name)
	row("called", v.Called)
	row("description", v.Description)
	row("source", v.Source)
	row("file", v.File)
	row("folder", v.Folder)
	row("license", v.License)
	row("compatibility", v.Compatibility)
	row("argument-hint", v.ArgumentHint)
	if len(v.AllowedTools) > 0 {
		note := ""
		if v.Inert {
			note = " (without effect: nobody has trusted the workspace)"
		}
		row("allowed-tools", strings.Join(v.AllowedTools, ", ")+note)
	}
	if v.OnlyUser {
		row("called by", "people alone")
	}
	if v.OnlyModel {
		row("called by", "models alone")
	}
	for i, f := range v.Files {
		key := "files"
		if i > 0 {
			key = ""
		}
		fmt.Fprintf(w, "%-14s %s\n", key, Safe(f))
	}
	if more := v.FileCount - len(v.Files); more > 0 {
		fmt.Fprintf(w, "%-14s and %d more\n", "", more)
	}
	fmt.Fprintf(w, "\n%s\n", Safe(v.Body))
}
