package skill

import (
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Library is the set of skills that a workspace sees. What it answers is what the
// files say at that moment: it keeps what it read, looks at every stamp on each call,
// and reads again only what changed. It is safe for concurrent use, starts nothing and
// keeps nothing open.
type Library struct {
	workspace string
	places    []Place
	seed      maphash.Seed

	saving sync.Mutex // held while a skill is written

	mu      sync.Mutex
	looks   []look
	overs   []look // see look
	telling bool   // looks tell every change
	cache   map[string]*entry
	last    *Snapshot
}

// entry is what was read of a file.
type entry struct {
	found found
	sum   uint64 // of what was read
	skill *Skill
	ds    []profile.Diagnostic
}

// same says that another read of the same file has found the same.
func (e *entry) same(o *entry) bool {
	a, b := e.found, o.found
	a.stamp, b.stamp = stamp{}, stamp{}
	return a == b && e.sum == o.sum && e.sum != 0
}

// racy is how old a change must be to be told from a later one.
const racy = 2 * time.Second

// Open makes a library of places, a later one winning over an earlier one. It reads
// nothing yet. workspace is absolute, with links followed.
func Open(workspace string, places []Place) *Library {
	return &Library{workspace: workspace, places: places, seed: maphash.MakeSeed(), cache: map[string]*entry{}}
}

// Places are the folders that it looks at, absolute; patterns are those above them.
func (l *Library) Places() []string {
	var out []string
	for _, p := range l.places {
		dir, _ := p.fixed()
		out = append(out, dir)
	}
	return out
}

// Snapshot reads what changed since the last call and gives one consistent view.
// Without a change it is the same one as before.
func (l *Library) Snapshot() *Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && l.same() {
		return l.last
	}
	now := time.Now()
	w := &walker{workspace: l.workspace, seen: map[string]bool{}}
	for _, p := range l.places {
		w.place(p)
	}
	entries := l.load(w, now)
	if next := newSnapshot(entries, w.ds); l.last == nil || !l.last.equal(next) {
		l.last = next
	}
	l.note(w.looks, now)
	l.telling = !slices.ContainsFunc(w.looks, func(k look) bool { return lately(k.stamp, now) })
	return l.last
}

func lately(s stamp, now time.Time) bool {
	return now.UnixNano()-max(s.mtime, s.ctime) < int64(racy)
}

// maxOvers bounds the folders above what is not there: the places are below a few.
const maxOvers = 8

// note keeps the looks of a walk, and of the paths that are not there what is above
// them: as long as that is as it was, they have not come.
func (l *Library) note(looks []look, now time.Time) {
	l.looks, l.overs = looks, nil
	for i := range looks {
		k := &looks[i]
		if k.stamp != (stamp{}) {
			continue
		}
		at := k.path
		for over := (look{}); over.stamp == (stamp{}) && at != filepath.Dir(at); {
			at = filepath.Dir(at)
			// The path may have come before this look at what is over it.
			if over = lookAt(at); over.stamp != (stamp{}) && !lately(over.stamp, now) && lookAt(k.path).stamp == (stamp{}) {
				k.over = l.overAs(over)
			}
		}
	}
}

// overAs is the place of a folder among those that are above paths, from 1; 0: there
// are too many.
func (l *Library) overAs(over look) int {
	i := slices.Index(l.overs, over)
	if i < 0 && len(l.overs) < maxOvers {
		i = len(l.overs)
		l.overs = append(l.overs, over)
	}
	return i + 1
}

// same says whether nothing has changed since the last look.
func (l *Library) same() bool {
	if !l.telling {
		return false
	}
	var over [maxOvers]bool // is as it was
	for i := range l.overs {
		over[i] = lookAt(l.overs[i].path) == l.overs[i]
	}
	for i := range l.looks {
		k := &l.looks[i]
		if k.over > 0 && over[k.over-1] {
			continue
		}
		if lookAt(k.path).stamp != k.stamp {
			return false
		}
	}
	return true
}

// load reads what is new or another than before, several at a time.
func (l *Library) load(w *walker, now time.Time) []*entry {
	out := make([]*entry, len(w.found))
	var todo []int
	for i, f := range w.found {
		old := l.cache[f.shown]
		if old != nil && old.found == f && !lately(f.stamp, now) {
			out[i] = old
		} else {
			todo = append(todo, i)
		}
	}
	readers := min(runtime.GOMAXPROCS(0), len(todo)/16+1)
	var all sync.WaitGroup
	for n := range readers {
		all.Go(func() {
			r := reader{seed: l.seed}
			defer r.close()
			for k := n; k < len(todo); k += readers {
				out[todo[k]] = r.read(w.found[todo[k]])
			}
		})
	}
	all.Wait()
	for _, i := range todo {
		if old := l.cache[out[i].found.shown]; old != nil && old.same(out[i]) {
			out[i].skill, out[i].ds = old.skill, old.ds
		}
	}
	l.cache = make(map[string]*entry, len(out))
	for _, e := range out {
		if l.cache[e.found.shown] == nil {
			l.cache[e.found.shown] = e
		}
	}
	return out
}

// reader keeps the root open that its files are read through.
type reader struct {
	name string
	root *os.Root
	buf  []byte
	seed maphash.Seed
}

func (r *reader) close() {
	if r.root != nil {
		r.root.Close()
	}
}

func (r *reader) read(f found) *entry {
	e := &entry{found: f}
	data, err := r.bytes(f)
	if err != nil {
		e.ds = []profile.Diagnostic{profile.Diagnose(profile.CodeIO, source.Origin{File: f.shown}, "", fmt.Sprintf("cannot be read: %v", bare(err)), "")}
		return e
	}
	e.sum = maphash.Bytes(r.seed, data) | 1
	f.place.Own = f.own
	e.skill, e.ds = parse(f.name, f.shown, data, f.place)
	if e.skill != nil {
		e.skill.Dir, e.skill.root = f.dir, f.root
	}
	return e
}

func (r *reader) bytes(f found) ([]byte, error) {
	file, err := r.open(f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r.buf, err = readAll(file, r.buf)
	return r.buf, err
}

func (r *reader) open(f found) (*os.File, error) {
	path := filepath.Join(f.dir, f.file)
	if f.root == "" {
		return openFile("", path)
	}
	if r.name != f.root {
		r.close()
		var err error
		if r.root, err = os.OpenRoot(f.root); err != nil {
			r.name = ""
			return nil, err
		}
		r.name = f.root
	}
	rel, err := filepath.Rel(f.root, path)
	if err != nil {
		return nil, err
	}
	return r.root.OpenFile(rel, openFlags, 0)
}

// Snapshot is the skills of one moment. It is immutable.
type Snapshot struct {
	list    []*Skill // by name, one of each
	byName  map[string]*Skill
	files   []Loaded
	ds      []profile.Diagnostic
	refused map[string]profile.Diagnostic // by the folder's name
}

// Loaded is a file and what came of it.
type Loaded struct {
	File     string
	Skill    *Skill // nil: it does not load
	Shadowed bool   // another of its name wins
	Problems []profile.Diagnostic
}

func newSnapshot(entries []*entry, ds []profile.Diagnostic) *Snapshot {
	s := &Snapshot{byName: make(map[string]*Skill, len(entries)), ds: ds, refused: map[string]profile.Diagnostic{}}
	for _, b := range builtins() {
		s.byName[b.Name] = b
	}
	for _, e := range entries {
		if e.skill != nil {
			s.byName[e.skill.Name] = e.skill
		} else if i := slices.IndexFunc(e.ds, func(d profile.Diagnostic) bool { return d.Severity == profile.SeverityError }); i >= 0 {
			s.refused[e.found.name] = e.ds[i]
		}
	}
	for _, e := range entries {
		f := Loaded{File: e.found.shown, Skill: e.skill, Problems: slices.Clip(e.ds)}
		if e.skill != nil {
			if wins := s.byName[e.skill.Name]; wins != e.skill {
				f.Shadowed = true
				f.Problems = append(f.Problems, profile.Diagnose(profile.CodeSkillShadowed, source.Origin{File: f.File, Line: 1, Column: 1}, "name",
					fmt.Sprintf("the skill %s is also in %s, which wins", wins.Name, wins.File), "rename one of the two folders"))
			}
		}
		s.files = append(s.files, f)
	}
	s.list = slices.SortedFunc(maps.Values(s.byName), byName)
	return s
}

// equal says whether both come to the same.
func (s *Snapshot) equal(o *Snapshot) bool {
	return slices.EqualFunc(s.files, o.files, func(a, b Loaded) bool {
		return a.File == b.File && a.Skill == b.Skill && slices.Equal(a.Problems, b.Problems)
	}) && slices.Equal(s.ds, o.ds)
}

// List is all skills by name. It must not be changed.
func (s *Snapshot) List() []*Skill { return s.list }

// Files are all files that were found, and what came of each.
func (s *Snapshot) Files() []Loaded { return s.files }

// Diagnostics are what is to be known of the files and of the places.
func (s *Snapshot) Diagnostics() []profile.Diagnostic {
	out := slices.Clone(s.ds)
	for _, f := range s.files {
		out = append(out, f.Problems...)
	}
	return out
}

// Get gives a skill by its name. The error is a *NotFoundError.
func (s *Snapshot) Get(name string) (*Skill, error) {
	if found := s.byName[name]; found != nil {
		return found, nil
	}
	e := &NotFoundError{Name: name, Nearest: s.near(name)}
	if d, ok := s.refused[name]; ok {
		e.Refused = &d
	}
	return nil, e
}

// near gives names that could have been meant.
func (s *Snapshot) near(name string) []string {
	names := make([]string, len(s.list))
	for i, x := range s.list {
		names[i] = x.Name
		if x.Called == name {
			return []string{x.Name}
		}
	}
	return profile.Nearest(name, names, 3)
}

// NotFoundError says that no skill has a name.
type NotFoundError struct {
	Name    string
	Nearest []string
	Refused *profile.Diagnostic // why the one of that name does not load; nil: there is none
}

func (e *NotFoundError) Error() string {
	if e.Refused != nil {
		return fmt.Sprintf("the skill %s does not load: %v", e.Name, e.Refused)
	}
	text := "skill not found: " + e.Name
	if len(e.Nearest) > 0 {
		text += " (nearest: " + strings.Join(e.Nearest, ", ") + ")"
	}
	return text
}
