package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/scaffold"
)

func (c *cli) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a workspace: a commented roster.yaml and two profiles",
		Long:  "Makes the files of a workspace in DIR (default: here). A file that is there already is kept as it is.",
		Args:  arguments(0, "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := c.dir
			if len(args) > 0 {
				dir = args[0]
			}
			if dir == "" {
				dir = "."
			}
			return c.init(dir)
		},
	}
}

func (c *cli) init(dir string) error {
	files, err := scaffold.Write(dir)
	if err != nil {
		return fmt.Errorf("making the workspace: %w", err)
	}
	if c.json {
		return c.writeJSON(struct {
			Dir   string          `json:"dir"`
			Files []scaffold.File `json:"files"`
		}{dir, files})
	}
	for _, f := range files {
		word := "kept"
		if f.Created {
			word = "created"
		}
		fmt.Fprintf(c.stdout, "%-7s %s\n", word, f.Path)
	}
	if !c.quiet {
		fmt.Fprintln(c.stderr, `Try: roster run assistant "What is in this folder?"`+"\n"+
			"without a key: add --model builtin/demo, a stand-in that is not a language model.")
	}
	return nil
}
