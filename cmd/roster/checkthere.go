package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
)

// checkThere has a server say what is wrong with files of this machine.
func (c *cli) checkThere(ctx context.Context, paths []string, f checkFlags) error {
	switch {
	case f.fix || f.headless:
		return usagef("--fix and --headless are for this machine")
	case len(paths) == 0:
		return usagef("name the files to check: their texts are sent, and the server's own are in roster list")
	}
	to, err := c.reach()
	if err != nil {
		return err
	}
	report := &catalog.Report{Files: []catalog.FileReport{}}
	for _, path := range paths {
		file, err := checkFile(ctx, to, path)
		if err != nil {
			return c.close(to, err)
		}
		addFile(report, file)
	}
	return c.close(to, c.showReport(report, "", f))
}

func checkFile(ctx context.Context, to place, path string) (view.Checked, error) {
	below, err := belowHere(path)
	if err != nil {
		return view.Checked{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return view.Checked{}, usagef("%v", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return view.Checked{}, usagef("%s is not a file: name files, for their texts are sent", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, profile.MaxFile+1))
	if err != nil {
		return view.Checked{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > profile.MaxFile {
		return view.Checked{}, fmt.Errorf("%s is larger than %d bytes", path, profile.MaxFile)
	}
	return to.CheckText(ctx, below, string(text))
}

// belowHere is a path as seen from this folder: the server takes it for one in its
// workspace, by which it knows the dialect.
func belowHere(path string) (string, error) {
	if filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if path, err = filepath.Rel(wd, path); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(path) {
		return "", usagef("%s is not below this folder: go to the one that is to be taken for the server's workspace", path)
	}
	return filepath.ToSlash(filepath.Clean(path)), nil
}

func addFile(r *catalog.Report, f view.Checked) {
	r.Files = append(r.Files, catalog.FileReport{
		Path: f.Path, Status: f.Status, Dialect: f.Dialect, Name: f.Name, Names: f.Names, Diagnostics: f.Diagnostics,
	})
	switch f.Status {
	case catalog.Loaded:
		r.Summary.Loaded++
	case catalog.Refused:
		r.Summary.Refused++
	default:
		r.Summary.Ignored++
	}
	for _, d := range f.Diagnostics {
		if d.Severity == profile.SeverityWarning {
			r.Summary.Warnings++
		}
	}
}
