package main

import (
	"fmt"
	"path/filepath"

	"github.com/rosterrun/roster/catalog"
)

// fix writes the repairs into the files of a report, says which they are, and
// counts them. root is the folder that the files are below.
func (c *cli) fix(report *catalog.Report, root string) (int, error) {
	n := 0
	for _, f := range report.Files {
		if len(f.Diagnostics) == 0 || f.Status != catalog.Loaded {
			continue
		}
		path := f.Diagnostics[0].File
		if root != "" && !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		fixed, err := catalog.Fix(path)
		if err != nil {
			return n, err
		}
		if len(fixed) == 0 {
			continue
		}
		n++
		if !c.quiet {
			fmt.Fprintf(c.stderr, "fixed %s\n", f.Diagnostics[0].File)
		}
	}
	return n, nil
}
