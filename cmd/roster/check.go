package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/profile"
)

func (c *cli) checkCommand() *cobra.Command {
	var format string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Say what is wrong with profiles, and where",
		Long: `Reads every file that may be a profile, below the given paths or in the whole
workspace, and reports all problems at once, each with its line. It starts
nothing and changes nothing.

Exit codes: 0 clean or warnings, 1 errors (with --strict also warnings), 2 usage.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usagef("--format %s: the formats are text and json", format)
			}
			c.json = c.json || format == "json"
			return c.check(args, strict)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "the output `FORMAT`: text or json")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	return cmd
}

func (c *cli) check(paths []string, strict bool) error {
	report, root, err := c.checked(paths)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.writeJSON(report); err != nil {
			return err
		}
	} else {
		c.writeReport(report, root)
	}
	if report.Summary.Refused > 0 || hasErrors(report) || strict && report.Summary.Warnings > 0 {
		return exit(exitFailed)
	}
	return nil
}

// checked reports on the paths or, without any, on the whole workspace and its
// configuration. root is the folder that the diagnostics' files are below.
func (c *cli) checked(paths []string) (report *catalog.Report, root string, err error) {
	if len(paths) > 0 {
		report, err = catalog.Open(catalog.Options{}).Check(paths...)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, profile.IO) {
			return nil, "", usagef("%s", strings.TrimSuffix(err.Error(), ": "+string(profile.IO)))
		}
		return report, "", err
	}
	app, ds, err := roster.Open(c.dir, roster.Options{State: c.state, Profiles: c.profiles, Getenv: c.getenv})
	if refused := (*profile.ParseError)(nil); errors.As(err, &refused) {
		report = &catalog.Report{Files: []catalog.FileReport{}}
		addConfig(report, refused.Diagnostics)
		return report, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	report, err = app.Catalog().Check()
	if err == nil {
		addConfig(report, ds)
	}
	return report, app.Dir(), err
}

// addConfig adds the configuration's diagnostics, file by file.
func addConfig(r *catalog.Report, ds []profile.Diagnostic) {
	for _, d := range ds {
		f := configFile(r, d.File)
		f.Diagnostics = append(f.Diagnostics, d)
		switch d.Severity {
		case profile.SeverityError:
			if f.Status == catalog.Loaded {
				f.Status = catalog.Refused
				r.Summary.Loaded--
				r.Summary.Refused++
			}
		case profile.SeverityWarning:
			r.Summary.Warnings++
		}
	}
}

func configFile(r *catalog.Report, path string) *catalog.FileReport {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	r.Files = append(r.Files, catalog.FileReport{Path: path, Status: catalog.Loaded, Diagnostics: []profile.Diagnostic{}})
	r.Summary.Loaded++
	return &r.Files[len(r.Files)-1]
}

func hasErrors(r *catalog.Report) bool {
	for _, f := range r.Files {
		if profile.Refused(f.Diagnostics) {
			return true
		}
	}
	return false
}

func (c *cli) writeReport(r *catalog.Report, root string) {
	style := c.style(c.stdout.file)
	for _, f := range r.Files {
		var lines []string
		for i := range f.Diagnostics {
			if lines == nil {
				lines = fileLines(root, f.Diagnostics[i].File)
			}
			render.Diagnostic(c.stdout, style, &f.Diagnostics[i], lines)
		}
	}
	s := r.Summary
	fmt.Fprintf(c.stdout, "loaded: %d, refused: %d, ignored: %d, warnings: %d\n", s.Loaded, s.Refused, s.Ignored, s.Warnings)
}

// fileLines reads a file for its excerpts. One that is not to be had has none.
func fileLines(root, file string) []string {
	if root != "" && !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > profile.MaxFile {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
}
