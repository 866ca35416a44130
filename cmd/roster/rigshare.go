package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/rig/bundle"
)

func (c *cli) rigShareCommand() *cobra.Command {
	name, out := "", ""
	cmd := &cobra.Command{
		Use:   "share [LOOM...]",
		Short: "Write looms, with the profiles that they name, into one file",
		Long: `Writes the knots of a rig's looms, or of those that are named, into a zip, with the profiles
that they name and the parents of these. What the rig has done is not in it, and neither
is roster.yaml. The same files make the same zip. roster rig import reads it.

Profiles that are no Markdown files of the folder profiles, of the rig or of the
workspace, are left out, and named.`,
		Example: "  roster rig share -o rig.zip\n  roster rig share review-loom -o review.zip",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" && (c.json || terminal(c.stdout.file)) {
				return usagef("-o names the file to write")
			}
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			rigName, err := theRig(cmd.Context(), here{app}, name)
			if err == nil {
				var files []bundle.File
				var left []string
				if files, left, err = app.ShareRig(cmd.Context(), rigName, args...); err == nil {
					err = c.writeBundle(out, files, left)
				}
			}
			return c.close(app, err)
		},
	}
	c.rigFlag(cmd, &name)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write into `FILE`, which must not be there; default: standard output")
	return cmd
}

func (c *cli) writeBundle(out string, files []bundle.File, left []string) error {
	var zip bytes.Buffer
	if err := bundle.Write(&zip, files); err != nil {
		return err
	}
	if out == "" {
		_, err := c.stdout.Write(zip.Bytes())
		return err
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(zip.Bytes()); err != nil {
		return errors.Join(err, f.Close(), os.Remove(out))
	}
	if err := f.Close(); err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]any{"file": out, "files": len(files), "left_out": left})
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %d files are in %s\n", len(files), out)
		if len(left) > 0 {
			fmt.Fprintf(c.stderr, "roster: these profiles are not in it: %s\n", strings.Join(left, ", "))
		}
	}
	return nil
}

func (c *cli) rigImportCommand() *cobra.Command {
	as := ""
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add looms and profiles that were shared",
		Long: `Adds the knots and profiles of a file that roster rig share has written, to the rig named
rig or the one of --as, which is made if need be. Nothing is overwritten: where a file is
there and differs, nothing is added, and it is said which. A file with anything else in it
is refused.

What is added is somebody else's instructions: read it before roster serve or roster rig
watch runs, which work on the folders that the knots name.`,
		Example: "  roster rig import review.zip\n  roster rig import review.zip --as team-rig",
		Args:    exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := readBundle(args[0])
			if err != nil {
				return err
			}
			files, err := bundle.Read(data)
			if err != nil {
				return err
			}
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			made, err := app.ImportRig(as, files)
			if err == nil {
				err = c.showMade(made)
			}
			return c.close(app, err)
		},
	}
	cmd.Flags().StringVar(&as, "as", "rig", "the `RIG` that gets them: rig, or a name that ends in -rig")
	return cmd
}

// readBundle reads a file; no more of it than shows that it is too large.
func readBundle(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, bundle.MaxSize+1))
}

func (c *cli) showMade(made []bundle.Made) error {
	if c.json {
		return c.writeJSON(made)
	}
	for _, m := range made {
		what := "kept"
		if m.Created {
			what = "created"
		}
		fmt.Fprintln(c.stdout, what, m.Path)
	}
	return nil
}
