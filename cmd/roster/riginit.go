package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/scaffold"
	"github.com/rosterrun/roster/rig"
)

func (c *cli) rigInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [RIG]",
		Short: "Make a small rig that works",
		Long: `Makes a loom with one knot in RIG, a folder of the workspace: rig, if none is named, or one
that ends in -rig. Its knot has a profile summarize what is saved in the folder inbox. That
profile, ` + scaffold.Profile + `, is made too if the workspace has none of that name.

Nothing is overwritten: a rig that has this loom is left as it is, and that is an error.`,
		Example: "  roster rig init\n  roster rig init team-rig",
		Args:    arguments(0, "RIG"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := append(args, "rig")[0]
			if !rig.IsRig(name) {
				return usagef("%q is not the name of a rig: take rig, or a name that ends in -rig", name)
			}
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			return c.close(app, c.rigInit(app, name))
		},
	}
}

func (c *cli) rigInit(app *roster.App, name string) error {
	_, noProfile := app.Catalog().Get(scaffold.Profile)
	files, err := scaffold.Rig(app.Dir(), name, noProfile != nil)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the rig: %w; nothing is overwritten: name another, as roster rig init my-rig", err)
	}
	if err != nil {
		return fmt.Errorf("making the rig: %w", err)
	}
	if c.json {
		return c.writeJSON(struct {
			Dir   string          `json:"dir"`
			Rig   string          `json:"rig"`
			Files []scaffold.File `json:"files"`
		}{app.Dir(), name, files})
	}
	c.showFiles(files)
	if c.quiet {
		return nil
	}
	return c.sayNext(app, name)
}

// sayNext says how a new rig is used.
func (c *cli) sayNext(app *roster.App, name string) error {
	rigs, err := app.Rigs()
	if err != nil {
		return err
	}
	which := ""
	if slices.ContainsFunc(rigs, func(other string) bool { return other != name }) {
		which = "--rig " + name + " "
	}
	fmt.Fprintln(c.stderr, "Try: save a text as inbox/note.md, then: roster rig run "+which+"summary inbox/note.md\n"+
		"roster rig watch, or roster serve, does so by itself whenever a file there changes.\n"+
		"Without a key: set ROSTER_DEFAULTS_MODEL=builtin/demo, a stand-in that is not a language model.")
	return nil
}
