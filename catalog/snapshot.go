package catalog

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Snapshot is one consistent view of all sources. It is immutable.
type Snapshot struct {
	sources []Source
	files   []sourced
	fileOf  map[*profile.Profile]int
	linked  map[*profile.Profile]*profile.Profile // those with parents
	byName  map[string]*profile.Profile
	sorted  []*profile.Profile
	broken  map[string]*loaded     // names that only refused files claim
	extra   [][]profile.Diagnostic // for each file, what only the whole catalog shows
	around  func() *Snapshot
	inspect func(*profile.Profile, func(string) string) []profile.Diagnostic
}

// owner is who holds a name while the files are gone through.
type owner struct {
	p    *profile.Profile
	file int
}

// newSnapshot makes the view of all files. around is a wider catalog in which
// parents are looked up too; nil: none.
func newSnapshot(files []sourced, sources []Source, around func() *Snapshot) *Snapshot {
	s := &Snapshot{
		around:  around,
		sources: sources,
		files:   files,
		fileOf:  make(map[*profile.Profile]int, len(files)),
		linked:  map[*profile.Profile]*profile.Profile{},
		broken:  map[string]*loaded{},
		extra:   make([][]profile.Diagnostic, len(files)),
	}
	owners := make(map[string]owner, len(files))
	first := 0 // of the files of a source
	for i, f := range files {
		if f.source != files[first].source {
			s.link(owners, first, i)
			first = i
		}
		s.keepGood(owners, i)
		for _, p := range f.profiles {
			s.fileOf[p] = i
			switch {
			case p.Name == "" || f.keeps(p.Name):
			case f.status == Loaded:
				s.claim(owners, p, i)
			case f.status == Refused:
				s.withhold(owners, p, i)
			}
		}
	}
	s.link(owners, first, len(files))
	s.byName = make(map[string]*profile.Profile, len(owners))
	s.sorted = make([]*profile.Profile, 0, len(owners))
	for name, o := range owners {
		s.byName[name] = o.p
		s.sorted = append(s.sorted, o.p)
	}
	slices.SortFunc(s.sorted, func(a, b *profile.Profile) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// snapshot makes the view of the catalog's own files.
func (c *Catalog) snapshot(files []sourced, sources []Source, around func() *Snapshot) *Snapshot {
	s := newSnapshot(files, sources, around)
	s.inspect = c.inspect
	return s
}

// claim gives a name to a profile that loaded. The last one wins.
func (s *Snapshot) claim(owners map[string]owner, p *profile.Profile, file int) {
	if was, ok := owners[p.Name]; ok && !s.sameFile(was.file, file) {
		s.extra[was.file] = append(s.extra[was.file], profile.Diagnose(profile.CodeShadowed, was.p.NameAt, "name",
			fmt.Sprintf("%s is also defined in %s, which wins", p.Name, p.NameAt), "rename one of them"))
	}
	owners[p.Name] = owner{p, file}
	delete(s.broken, p.Name)
}

// sameFile says whether two entries are one file, found in two sources or
// through a link.
func (s *Snapshot) sameFile(a, b int) bool {
	x, y := s.files[a].entry, s.files[b].entry
	return a != b && x != nil && y != nil && x.real != "" && x.real == y.real
}

// keepGood claims what a refused file said when it last loaded.
func (s *Snapshot) keepGood(owners map[string]owner, file int) {
	f := s.files[file]
	if f.entry == nil || f.entry.good == nil {
		return
	}
	for _, p := range f.entry.good.profiles {
		s.fileOf[p] = file
		s.claim(owners, p, file)
		s.extra[file] = append(s.extra[file], profile.Diagnose(profile.CodeKeptGood, source.Origin{File: f.shown}, "",
			fmt.Sprintf("%s is served as the file said it when it last loaded (revision %s)", p.Name, p.Revision()), "repair the file, or remove it"))
	}
}

// keeps says whether the file, which is refused, still serves a name.
func (f sourced) keeps(name string) bool {
	return f.entry != nil && f.entry.good != nil && slices.ContainsFunc(f.entry.good.profiles, func(p *profile.Profile) bool { return p.Name == name })
}

// withhold keeps a name from earlier sources when a file that claims it does
// not load: what the person meant to override must not run instead. A good file
// of the same source stays.
func (s *Snapshot) withhold(owners map[string]owner, p *profile.Profile, file int) {
	was, ok := owners[p.Name]
	if ok && s.files[was.file].source == s.files[file].source {
		return
	}
	s.broken[p.Name] = s.files[file].loaded
	if !ok {
		return
	}
	delete(owners, p.Name)
	at := p.NameAt
	at.File = s.files[file].shown
	s.extra[file] = append(s.extra[file], profile.Diagnose(profile.CodeWithheld, at, "name",
		fmt.Sprintf("this file claims %s and does not load, so %s, which defines it too, is not used either", p.Name, was.p.NameAt), "repair or remove this file"))
}

// List ranges over the profiles, sorted by name. They must not be changed.
func (s *Snapshot) List() iter.Seq[*profile.Profile] { return slices.Values(s.sorted) }

// Len is the number of profiles.
func (s *Snapshot) Len() int { return len(s.sorted) }

// Get gives the profile of a name. The error is a *NotFoundError, or a
// *profile.LoadError when a file claims the name and does not load.
func (s *Snapshot) Get(name string) (*profile.Profile, error) {
	if p, ok := s.byName[name]; ok {
		return p, nil
	}
	if l, ok := s.broken[name]; ok {
		return nil, loadError(l)
	}
	const most = 3
	return nil, &NotFoundError{Name: name, Nearest: profile.Nearest(name, slices.Sorted(maps.Keys(s.byName)), most)}
}

// Diagnostics lists everything that was found, in the order of sources and
// paths.
func (s *Snapshot) Diagnostics() []profile.Diagnostic {
	var out []profile.Diagnostic
	for i := range s.files {
		out = append(out, s.of(i)...)
	}
	return out
}

// DiagnosticsOf lists what was found in the file of a profile.
func (s *Snapshot) DiagnosticsOf(p *profile.Profile) []profile.Diagnostic {
	if i, ok := s.fileOf[p]; ok {
		return s.of(i)
	}
	return nil
}

// File is where a profile was read from.
type File struct {
	Path   string // absolute, links followed; empty for a source in memory
	Source Source
}

// FileOf says where a profile of the snapshot was read from.
func (s *Snapshot) FileOf(p *profile.Profile) (File, bool) {
	i, ok := s.fileOf[p]
	if !ok {
		return File{}, false
	}
	f := File{Source: s.sources[s.files[i].source]}
	if e := s.files[i].entry; e != nil {
		f.Path = e.real
	}
	return f, true
}

func asIs(file string) string { return file }

func (s *Snapshot) of(file int) []profile.Diagnostic {
	all := slices.Concat(s.files[file].diags, s.extra[file])
	if s.inspect == nil || s.files[file].status != Loaded {
		return all
	}
	for _, p := range s.files[file].profiles {
		for _, d := range s.inspect(p, asIs) {
			if !slices.Contains(all, d) { // profiles of a file share what it says
				all = append(all, d)
			}
		}
	}
	return all
}
