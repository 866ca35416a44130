package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

type convertFlags struct {
	to, out       string
	strict, force bool
}

func (c *cli) convertCommand() *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert PATH…",
		Short: "Write profiles in another dialect, and say what it cannot hold",
		Long: `Reads the profiles of files and folders and writes them in another dialect: one
profile to standard output, or all of them below a folder with --out, each where
its dialect keeps it. What the dialect cannot hold is reported, field by field,
with the place where it is written. Of several profiles that would go to one file,
the first is written. Sources are not changed, and no file is overwritten without
--force.

Exit codes: 0 written, 1 a file did not load or could not be written (with
--strict also: something was lost), 2 usage.`,
		Example: "  roster convert .claude/agents/reviewer.md --to opencode\n  roster convert .claude/agents --to opencode --out .",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("PATH is missing: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.convert(args, f) },
	}
	cmd.Flags().StringVar(&f.to, "to", "", "the `DIALECT` to write: "+strings.Join(writable(), ", "))
	cmd.Flags().StringVar(&f.out, "out", "", "write below `DIR`, each profile where its dialect keeps it")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail if anything is lost")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite files")
	return cmd
}

// writable lists the dialects that can be written.
func writable() []string {
	var names []string
	for _, d := range dialect.All() {
		if d.Encode != nil {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// conversion is one profile in its new form.
type conversion struct {
	From    string               `json:"from"`
	Dialect string               `json:"dialect"` // of the source
	Name    string               `json:"name"`
	Files   []string             `json:"files"`          // written, below the folder of --out
	Text    string               `json:"text,omitempty"` // without --out
	Lost    []profile.Diagnostic `json:"lost"`

	parts []dialect.Part
}

func (c *cli) convert(paths []string, f convertFlags) error {
	to, ok := dialect.ByName(f.to)
	if !ok || to.Encode == nil {
		return usagef("--to %q: the dialects that can be written are %s", f.to, strings.Join(writable(), ", "))
	}
	report, err := catalog.Open(catalog.Options{}).Check(paths...)
	if err != nil {
		return unusable(err)
	}
	all, failed := convertAll(report, to)
	if f.out != "" && leaveOutTwice(all) {
		failed = true
	}
	if len(all) == 0 && !failed {
		return usagef("no profile is in %s", strings.Join(paths, ", "))
	}
	if f.out == "" && len(all) == 1 && len(all[0].parts) > 1 {
		return usagef("the %s dialect writes several files: name a folder with --out", f.to)
	}
	if f.out == "" && len(all) > 1 {
		return usagef("%d profiles do not go to standard output: name a folder with --out", len(all))
	}
	c.sayConverted(report, all)
	lost := slices.ContainsFunc(all, func(v conversion) bool { return len(v.Lost) > 0 })
	if err := c.deliver(all, f); err != nil {
		return err
	}
	if failed || f.strict && lost {
		return exit(exitFailed)
	}
	return nil
}

// deliver writes the files, or the one text to standard output.
func (c *cli) deliver(all []conversion, f convertFlags) error {
	if f.out != "" {
		if err := writeConverted(all, f); err != nil {
			return err
		}
	}
	for i := range all {
		for _, p := range all[i].parts {
			switch {
			case f.out == "" && c.json:
				all[i].Text = string(p.Data)
			case f.out == "":
				if _, err := c.stdout.Write(p.Data); err != nil {
					return err
				}
			case !c.json:
				fmt.Fprintln(c.stdout, filepath.Join(f.out, filepath.FromSlash(p.Path)))
			}
			if f.out != "" {
				all[i].Files = append(all[i].Files, p.Path)
			}
		}
	}
	if c.json {
		return c.writeJSON(all)
	}
	return nil
}

// convertAll writes each profile of the report anew. failed says that a file
// was refused, or that a profile cannot be written in the dialect.
func convertAll(report *catalog.Report, to dialect.Dialect) (all []conversion, failed bool) {
	all = []conversion{}
	for _, file := range report.Files {
		if file.Status == catalog.Refused {
			failed = true
		}
		if file.Status != catalog.Loaded {
			continue
		}
		for _, p := range file.Profiles {
			v := conversion{From: p.File, Dialect: p.Dialect, Name: p.Name, Files: []string{}}
			v.parts, v.Lost = dialect.Encode(to, p)
			if v.Lost == nil {
				v.Lost = []profile.Diagnostic{}
			}
			if profile.Refused(v.Lost) {
				failed = true
				v.parts = nil
			}
			all = append(all, v)
		}
	}
	return all, failed
}

// sayConverted says on stderr what did not load and what is lost.
func (c *cli) sayConverted(report *catalog.Report, all []conversion) {
	for _, file := range report.Files {
		if file.Status == catalog.Refused {
			c.say(file.Diagnostics, profile.SeverityError)
		}
	}
	for _, v := range all {
		c.say(v.Lost, profile.SeverityError, profile.SeverityWarning)
	}
}

// leaveOutTwice keeps profiles from being written to a file that an earlier one
// goes to with another text. found says that there are such.
func leaveOutTwice(all []conversion) (found bool) {
	type first struct {
		from string
		data []byte
	}
	written := map[string]first{}
	for i := range all {
		v := &all[i]
		for _, p := range v.parts {
			if other, twice := written[p.Path]; twice && !bytes.Equal(other.data, p.Data) {
				v.Lost = append(v.Lost, profile.Diagnose(profile.CodeTwice, source.Origin{File: v.From}, "name",
					fmt.Sprintf("%s is not written: %s is written to %s already", v.Name, other.from, p.Path), "rename one of them, or convert them apart"))
				v.parts, found = nil, true
				break
			}
		}
		for _, p := range v.parts {
			written[p.Path] = first{v.From, p.Data}
		}
	}
	return found
}

// writeConverted writes all files, or none when one is there already.
func writeConverted(all []conversion, f convertFlags) error {
	var paths []string
	for _, v := range all {
		for _, p := range v.parts {
			paths = append(paths, p.Path)
		}
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.out)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range paths {
		info, err := root.Lstat(filepath.FromSlash(path))
		switch shown := filepath.Join(f.out, filepath.FromSlash(path)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("%s cannot be written: %w", shown, err)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is there and is no regular file: remove it first", shown)
		case !f.force:
			return fmt.Errorf("%s is there already: --force overwrites it", shown)
		}
	}
	for _, v := range all {
		for _, p := range v.parts {
			path := filepath.FromSlash(p.Path)
			if err := root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return err
			}
			if err := root.WriteFile(path, p.Data, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
