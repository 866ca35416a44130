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

type checkFlags struct {
	format   string
	strict   bool
	fix      bool
	headless bool
}

func (c *cli) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Say what is wrong with profiles, and where",
		Long: `Reads every file that may be a profile, below the given paths or in the whole
workspace, and reports all problems at once, each with its line. It starts
nothing and, without --fix, changes nothing.

A file whose YAML is refused for a common slip, such as an unquoted ": ", is
read as it was meant, with a warning. With --fix that reading is written into
the file; its comments, order and line ends stay.

With --server the files that are named are sent, and checked among what the server
has: nothing is saved there.

Exit codes: 0 clean or warnings, 1 errors (with --strict also warnings), 2 usage.`,
		Example: "  roster check\n  roster check .claude/agents --fix\n  roster check --format sarif > roster.sarif",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkFormat(&f); err != nil {
				return err
			}
			if c.server != "" {
				return c.checkThere(cmd.Context(), args, f)
			}
			return c.check(args, f)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "the output `FORMAT`: "+strings.Join(formats(), ", "))
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail on warnings too")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "write into the files what was read as it was meant")
	cmd.Flags().BoolVar(&f.headless, "headless", false, "nobody can answer where the profiles will run: asking before delegation is an error")
	return cmd
}

func formats() []string { return []string{"text", "json", "sarif", "github"} }

func (c *cli) check(paths []string, f checkFlags) error {
	report, root, err := c.checked(paths, f.headless)
	if err != nil {
		return err
	}
	if f.fix {
		fixed, err := c.fix(report, root)
		if err != nil {
			return err
		}
		if fixed > 0 {
			if report, root, err = c.checked(paths, f.headless); err != nil {
				return err
			}
		}
	}
	return c.showReport(report, root, f)
}

func (c *cli) showReport(report *catalog.Report, root string, f checkFlags) error {
	if err := c.writeReport(report, root, f.format); err != nil {
		return err
	}
	if report.Summary.Refused > 0 || hasErrors(report) || f.strict && report.Summary.Warnings > 0 {
		return exit(exitFailed)
	}
	return nil
}

// checked reports on the paths or, without any, on the whole workspace and its
// configuration. root is the folder that the diagnostics' files are below.
func (c *cli) checked(paths []string, headless bool) (report *catalog.Report, root string, err error) {
	if len(paths) > 0 {
		report, err = c.around(headless).Check(paths...)
		return report, "", unusable(err)
	}
	app, ds, err := c.opened(headless)
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

func (c *cli) opened(headless bool) (*roster.App, []profile.Diagnostic, error) {
	return c.openWorkspace(roster.Options{State: c.state, Profiles: c.profiles, Getenv: c.getenv, Headless: headless, Trust: c.trust})
}

// around is the catalog in which the parents of checked files are looked up:
// the workspace's, if there is one that can be read.
func (c *cli) around(headless bool) *catalog.Catalog {
	app, _, err := c.opened(headless)
	if err != nil {
		return catalog.Open(catalog.Options{Headless: headless})
	}
	return app.Catalog()
}

// unusable makes a usage error of a path that cannot be read.
func unusable(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, profile.IO) {
		return usagef("%s", strings.TrimSuffix(err.Error(), ": "+string(profile.IO)))
	}
	return err
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

func (c *cli) writeReport(r *catalog.Report, root, format string) error {
	var all []profile.Diagnostic
	said := map[profile.Diagnostic]bool{} // of a file that several profiles share
	for _, f := range r.Files {
		for _, d := range f.Diagnostics {
			if !said[d] {
				said[d] = true
				all = append(all, d)
			}
		}
	}
	switch format {
	case "json":
		return c.writeJSON(r)
	case "sarif":
		return render.SARIF(c.stdout, builtFrom().Version, allCodes(), all)
	case "github":
		return render.GitHub(c.stdout, all)
	}
	style := c.style(c.stdout.file)
	var file string
	var lines []string
	for i := range all {
		if all[i].File != file {
			file, lines = all[i].File, fileLines(root, all[i].File)
		}
		render.Diagnostic(c.stdout, style, &all[i], lines)
	}
	s := r.Summary
	fmt.Fprintf(c.stdout, "loaded: %d, refused: %d, ignored: %d, warnings: %d\n", s.Loaded, s.Refused, s.Ignored, s.Warnings)
	return nil
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
