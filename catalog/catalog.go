// Package catalog is the set of profiles that a workspace sees, with a
// diagnostic for everything that did not load. What it answers is always what
// the files say at that moment: it keeps what it read, looks at every file's
// stamp on each call, and reads again only what changed.
package catalog

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// Options of a catalog.
type Options struct {
	// Sources in order of precedence: a later one wins.
	Sources []Source
	// Headless makes profiles that ask before they delegate an error.
	Headless bool
	// Tools are names that profiles may list as tools besides what is built in, and
	// Reaches those of servers and services that have tools.
	Tools, Reaches []string
	// KeepLastGood serves what a file said when it last loaded, in this
	// process, while it does not load. Its errors are among the diagnostics
	// all the same.
	KeepLastGood bool
	// Workspace is the folder that new profiles are written below; empty: none
	// can be.
	Workspace string
	// History is the folder that keeps the versions of profiles that are
	// saved; empty: they are not kept.
	History string
	// Inspect, if set, says what else there is to know of a profile. It is
	// asked whenever the diagnostics of its file are, for it may change its
	// mind. place gives the file of a place in the profile as its source names
	// it, below the workspace.
	Inspect func(p *profile.Profile, place func(file string) string) []profile.Diagnostic
}

// Catalog is safe for concurrent use. It starts nothing and keeps nothing open.
type Catalog struct {
	opts     dialect.Options
	keepGood bool
	inspect  func(*profile.Profile, func(string) string) []profile.Diagnostic
	seed     maphash.Seed

	workspace string
	kept      kept
	saving    sync.Mutex   // held while a profile is written
	reached   func(string) // is told the points of a save, for tests; nil: nobody

	calls atomic.Int64 // of Snapshot

	mu      sync.Mutex
	served  int64 // the calls that the last look answers
	sources []Source
	now     func() time.Time
	visits  []visit // for each source
	glances glances
	walks   int // that were made of sources
	cache   map[cacheKey]*entry
	changed bool // the cache holds other files than last shows
	last    *Snapshot
}

// Open makes a catalog. It reads nothing yet.
func Open(o Options) *Catalog {
	c := &Catalog{
		opts:     dialect.Options{Headless: o.Headless, Tools: o.Tools, Reaches: o.Reaches},
		keepGood: o.KeepLastGood,
		inspect:  o.Inspect,
		seed:     maphash.MakeSeed(),
		now:      time.Now,
		cache:    map[cacheKey]*entry{},

		workspace: o.Workspace,
		kept:      kept{o.History},
	}
	for _, s := range o.Sources {
		c.add(s)
	}
	return c
}

// AddDir adds a folder as the last source. One that does not exist is empty; a
// path that is no folder is an error.
func (c *Catalog) AddDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioError(dir, err)
	}
	if err == nil && !info.IsDir() {
		return &profile.LoadError{Path: dir, Err: fmt.Errorf("not a folder: %w", profile.IO)}
	}
	c.add(Source{Path: filepath.Clean(dir), Claimed: true})
	return nil
}

// AddFile adds one file as the last source. The error is a *profile.LoadError
// when it does not load; then nothing is added.
func (c *Catalog) AddFile(file string) error {
	s := Source{Path: filepath.Clean(file), Claimed: true}.settled()
	if _, err := os.Stat(file); err != nil {
		return ioError(file, err)
	}
	w, err := walk(s, false, nil)
	defer w.close()
	if err != nil {
		return ioError(file, err)
	}
	var open opener
	defer open.close()
	for _, f := range w.out {
		j := job{src: s, file: f, walk: w}
		if f.diag != nil {
			return loadError(unread(s, f, nil))
		}
		j.load(&open, nil, c.seed, c.opts)
		if j.entry.result == nil {
			return ioError(file, fs.ErrNotExist)
		}
		if err := loadError(j.entry.result); err != nil {
			return err
		}
	}
	c.add(s)
	return nil
}

// AddString adds a profile in memory as the last source. name is the default of
// its name; it may be empty. The error is a *profile.LoadError.
func (c *Catalog) AddString(name, text string) error { return c.AddBytes(name, []byte(text)) }

// AddBytes is like AddString. It keeps a copy of data.
func (c *Catalog) AddBytes(name string, data []byte) error {
	s := Source{Name: name, Data: append([]byte(nil), data...), Claimed: true}
	if err := loadError(parse(s, found{claimed: true}, s.Data, nil, c.opts)); err != nil {
		return err
	}
	c.add(s)
	return nil
}

// AddProfile adds a profile that a program has made as the last source. It must not
// be changed any more. Its name has to have the form of names; else nothing is added.
func (c *Catalog) AddProfile(p *profile.Profile) error {
	if err := profile.CheckName(p.Name); err != nil {
		return &profile.LoadError{Path: Memory, Err: err}
	}
	c.add(Source{Name: p.Name, Profile: p, Claimed: true})
	return nil
}

// Paths lists the files and folders that the sources are read from, absolute;
// of a folder that is only searched, what was found in it at the last look.
func (c *Catalog) Paths() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for i, s := range c.sources {
		path, err := filepath.Abs(s.Path)
		switch {
		case err != nil || s.Path == "":
		case s.search:
			for _, key := range c.visits[i].files {
				e := c.cache[key]
				if e.real == "" { // a diagnostic about a folder
					continue
				}
				out = append(out, filepath.Dir(e.real))
				for _, p := range e.parts {
					out = append(out, filepath.Join(path, p.inRoot))
				}
			}
		case len(s.only) > 0:
			for _, pattern := range s.only {
				out = append(out, below(path, pattern)...)
			}
		default:
			out = append(out, path)
		}
	}
	return out
}

// below gives what a pattern matches in a folder now; one without a wildcard
// matches also what is not there.
func below(dir, pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{filepath.Join(dir, pattern)}
	}
	names, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil { // a bad pattern only
		return nil
	}
	for i := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(names[i]))
	}
	return names
}

func (c *Catalog) add(s Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = append(c.sources, s.settled())
	c.visits = append(c.visits, visit{})
	c.served, c.changed = 0, true
}

func ioError(path string, err error) error {
	return &profile.LoadError{Path: path, Err: fmt.Errorf("%w: %w", profile.IO, err)}
}

func loadError(l *loaded) error {
	switch l.status {
	case Refused:
		return &profile.LoadError{Path: l.shown, Err: &profile.ParseError{Diagnostics: l.diags}}
	case Ignored:
		return &profile.LoadError{Path: l.shown, Err: fmt.Errorf("the file is no profile: %w", profile.InvalidFormat)}
	}
	return nil
}

// List ranges over all profiles, sorted by name, as they are when the range
// begins. They are shared and must not be changed.
func (c *Catalog) List() iter.Seq[*profile.Profile] {
	return func(yield func(*profile.Profile) bool) { c.Snapshot().List()(yield) }
}

// Get gives the profile of a name. The error is a *NotFoundError, or a
// *profile.LoadError when a file claims the name and does not load.
func (c *Catalog) Get(name string) (*profile.Profile, error) { return c.Snapshot().Get(name) }

// Diagnostics lists everything that was found in the files of all sources, in
// the order of sources and paths.
func (c *Catalog) Diagnostics() []profile.Diagnostic { return c.Snapshot().Diagnostics() }

// Snapshot reads what changed since the last call and gives one consistent view
// of all sources. Without a change it is the same one as before. Callers that
// wait for one look share the next.
func (c *Catalog) Snapshot() *Snapshot {
	call := c.calls.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if call <= c.served && !c.changed {
		return c.last // of a look that began after this call
	}
	c.served = c.calls.Load()
	stale := c.stale()
	if c.last != nil && !c.changed && !slices.Contains(stale, true) {
		return c.last
	}
	files := c.refresh(stale, false)
	if c.changed || c.last == nil {
		c.last, c.changed = c.snapshot(files, c.sources, nil), false
	}
	return c.last
}

// NotFoundError says that no profile has a name. It is profile.ProfileNotFound
// for errors.Is.
type NotFoundError struct {
	Name    string
	Nearest []string // names that could have been meant, the nearest first
}

func (e *NotFoundError) Error() string {
	s := "profile not found: " + e.Name
	if len(e.Nearest) > 0 {
		s += " (nearest: " + strings.Join(e.Nearest, ", ") + ")"
	}
	return s
}

func (e *NotFoundError) Unwrap() error { return profile.ProfileNotFound }
