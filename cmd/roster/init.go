package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/scaffold"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/trust"
)

func (c *cli) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a workspace: a commented roster.yaml, two profiles and a small rig",
		Long: "Makes the files of a workspace in DIR (default: here). A file that is there already is kept as it is.\n" +
			"A workspace that was made so is trusted, unless files that were there before have something to trust.",
		Args: arguments(0, "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := c.dir
			if len(args) > 0 {
				dir = args[0]
			}
			if dir == "" {
				dir = "."
			}
			return c.init(cmd.Context(), dir)
		},
	}
}

func (c *cli) init(ctx context.Context, dir string) error {
	files, err := scaffold.Write(dir)
	if err != nil {
		return fmt.Errorf("making the workspace: %w", err)
	}
	trusted := c.trustMade(ctx, dir, files)
	if c.json {
		return c.writeJSON(struct {
			Dir     string          `json:"dir"`
			Files   []scaffold.File `json:"files"`
			Trusted bool            `json:"trusted"`
		}{dir, files, trusted})
	}
	c.showFiles(files)
	if !c.quiet {
		fmt.Fprintln(c.stderr, `Try: roster run assistant "What is in this folder?"`+"\n"+
			"without a key: add --model builtin/demo, a stand-in that is not a language model.")
	}
	return nil
}

// showFiles says which files were made, and which were there.
func (c *cli) showFiles(files []scaffold.File) {
	for _, f := range files {
		word := "kept"
		if f.Created {
			word = "created"
		}
		fmt.Fprintf(c.stdout, "%-7s %s\n", word, f.Path)
	}
}

// trustMade trusts the workspace that was made, if there is nothing in it to
// trust but what was made. It says whether the workspace is trusted.
func (c *cli) trustMade(ctx context.Context, dir string, files []scaffold.File) bool {
	app, _, err := roster.Open(dir, roster.Options{State: c.state, Getenv: c.withoutTrust})
	if err != nil {
		return false // what stands in the way is said by every other command
	}
	survey := app.Survey()
	if app.Trust().Workspace() {
		return true
	}
	made := func(file string) bool {
		return slices.ContainsFunc(files, func(f scaffold.File) bool { return f.Created && f.Path == file })
	}
	theirs := slices.ContainsFunc(survey.Items, func(i trust.Item) bool { return !made(i.At.File) }) ||
		slices.ContainsFunc(survey.Allows, func(r permission.Rule) bool { return !made(r.At.File) })
	if !theirs && made("roster.yaml") {
		if err = app.TrustWorkspace(ctx, survey.Items); err == nil {
			return true
		}
	}
	if !c.quiet {
		if err != nil {
			fmt.Fprintf(c.stderr, "roster: the workspace is not trusted: %v\n", err)
		} else {
			fmt.Fprintln(c.stderr, "roster: the workspace is not trusted, for files were there before: roster trust lists what they would do")
		}
	}
	return false
}
