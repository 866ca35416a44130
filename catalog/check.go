package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/profile"
)

// Report is what `roster check` prints.
type Report struct {
	Files   []FileReport `json:"files"`
	Summary Summary      `json:"summary"`
}

// FileReport is one file of a Report. Path is absolute if the argument was,
// else below it. Status is loaded, refused or ignored. Name is that of the
// file's first profile, Names are those of all when it has several.
type FileReport struct {
	Path        string               `json:"path"`
	Status      string               `json:"status"`
	Dialect     string               `json:"dialect"`
	Name        string               `json:"name"`
	Names       []string             `json:"names,omitempty"`
	Diagnostics []profile.Diagnostic `json:"diagnostics"`

	// Profiles are what the file holds; those of a refused file have no more
	// than the names that it claims.
	Profiles []*profile.Profile `json:"-"`
}

// Summary counts files, and warnings in all of them.
type Summary struct {
	Loaded   int `json:"loaded"`
	Refused  int `json:"refused"`
	Ignored  int `json:"ignored"`
	Warnings int `json:"warnings"`
}

// Check reports on every file of the catalog's sources or, with paths, on
// those files and everything below those folders, apart from the catalog: only
// what they extend is looked up in it. A path that does not exist is an error.
func (c *Catalog) Check(paths ...string) (*Report, error) {
	if len(paths) == 0 {
		c.mu.Lock()
		sources := c.sources
		files := c.refresh(everything(sources), true)
		c.mu.Unlock()
		return report(c.snapshot(files, sources, nil), func(f sourced) string {
			if sources[f.source].Path == "" {
				return Memory
			}
			return f.shown
		}), nil
	}
	one := Open(Options{Headless: c.opts.Headless, Tools: c.opts.Tools, Reaches: c.opts.Reaches, Inspect: c.inspectAt})
	folder := make([]bool, len(paths))
	for i, p := range paths {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &profile.LoadError{Path: p, Err: fmt.Errorf("no such file or folder: %w", profile.IO)}
		}
		if err != nil {
			return nil, ioError(p, err)
		}
		folder[i] = info.IsDir()
		one.add(Source{Path: filepath.Clean(p), Claimed: !info.IsDir()})
	}
	files := one.refresh(everything(one.sources), true)
	var around func() *Snapshot
	if len(c.sources) > 0 {
		around = c.Snapshot
	}
	found := newSnapshot(files, one.sources, around)
	found.inspect = one.inspect
	return report(found, func(f sourced) string {
		if folder[f.source] && !filepath.IsAbs(paths[f.source]) {
			return f.path
		}
		return f.shown
	}), nil
}

// inspectAt inspects a profile that was found by its path and not in a source:
// in the workspace its places are below that.
func (c *Catalog) inspectAt(p *profile.Profile, _ func(string) string) []profile.Diagnostic {
	if c.inspect == nil || c.workspace == "" {
		return nil
	}
	below := func(file string) string {
		real, err := filepath.EvalSymlinks(file)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		root, rootErr := filepath.EvalSymlinks(c.workspace)
		if rel, inside := within(root, real); inside && err == nil && rootErr == nil {
			return rel
		}
		return ""
	}
	if below(p.File) == "" {
		return nil // what it may do is for a workspace that has it
	}
	return c.inspect(p, below)
}

// everything says that every source is to be walked.
func everything(sources []Source) []bool {
	out := make([]bool, len(sources))
	for i := range out {
		out[i] = true
	}
	return out
}

// report makes one record of each file, also when several paths or sources have
// it.
func report(s *Snapshot, path func(sourced) string) *Report {
	r := &Report{Files: make([]FileReport, 0, len(s.files))}
	shown := map[string]bool{}
	for i, f := range s.files {
		if f.shown != Memory && len(f.diags) == 0 && shown[f.shown] {
			continue
		}
		shown[f.shown] = true
		fr := FileReport{Path: path(f), Status: f.status, Dialect: f.dialect, Diagnostics: append([]profile.Diagnostic{}, s.of(i)...), Profiles: f.profiles}
		for _, p := range f.profiles {
			fr.Names = append(fr.Names, p.Name)
			fr.Diagnostics = append(fr.Diagnostics, s.notes(f, p)...)
		}
		if len(fr.Names) > 0 {
			fr.Name = fr.Names[0]
		}
		if len(fr.Names) == 1 {
			fr.Names = nil
		}
		r.Files = append(r.Files, fr)
		r.Summary.count(fr)
	}
	return r
}

// notes says what of a profile that loaded may do other than its author thinks:
// denies that never decide, its parents' included, and allows that cover more
// than they name.
func (s *Snapshot) notes(f sourced, p *profile.Profile) []profile.Diagnostic {
	if f.status != Loaded {
		return nil
	}
	if linked := s.linked[p]; linked != nil {
		p = linked
	}
	return append(p.ShadowedDenies(), p.LaunchingAllows()...)
}

func (s *Summary) count(f FileReport) {
	switch f.Status {
	case Loaded:
		s.Loaded++
	case Refused:
		s.Refused++
	default:
		s.Ignored++
	}
	for i := range f.Diagnostics {
		if f.Diagnostics[i].Severity == profile.SeverityWarning {
			s.Warnings++
		}
	}
}
