package profile

import (
	"fmt"

	"github.com/rosterrun/roster/source"
)

// Severity sorts diagnostics. An error keeps the file from loading.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Diagnostic says what is wrong with a file, where, and what to do. Code is
// stable ("P101"); Name is the name of the error for programs
// ("MissingFrontmatter"), empty for those that have none.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Name     string   `json:"name,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Key      string   `json:"key,omitempty"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// Error makes a Diagnostic an error, so that a range over profiles can yield it.
func (d *Diagnostic) Error() string {
	s := fmt.Sprintf("%s [%s]: %s", d.Severity, d.Code, d.Message)
	if d.File != "" {
		s = source.Origin{File: d.File, Line: d.Line, Column: d.Column}.String() + ": " + s
	}
	if d.Hint != "" {
		s += " (" + d.Hint + ")"
	}
	return s
}

// maxAlike is how many diagnostics of one code a file is given.
const maxAlike = 100

// Capped keeps the first diagnostics of each code, and counts the others in one
// more. It changes ds.
func Capped(ds []Diagnostic) []Diagnostic {
	if len(ds) <= maxAlike {
		return ds
	}
	count := map[string]int{}
	for i := range ds {
		count[ds[i].Code]++
	}
	seen := map[string]int{}
	out := ds[:0]
	for _, d := range ds {
		n := count[d.Code]
		seen[d.Code]++
		switch {
		case seen[d.Code] == maxAlike && n > maxAlike:
			d.Message, d.Hint = fmt.Sprintf("and %d more like those before, from here on", n-maxAlike+1), ""
		case seen[d.Code] > maxAlike:
			continue
		}
		out = append(out, d)
	}
	return out
}
