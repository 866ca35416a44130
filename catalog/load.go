package catalog

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// racy is how much older than its reading a file must be for its stamp to be
// trusted: a write in the same tick of the clock changes no stamp.
const racy = 2 * time.Second

// stamp tells two states of a file apart without reading it. Times are in
// nanoseconds.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
}

// The states of a file.
const (
	Loaded  = "loaded"
	Refused = "refused"
	Ignored = "ignored"
)

// loaded is what became of one file. It is immutable.
type loaded struct {
	shown, path string // path: below what was checked
	status      string
	dialect     string
	profiles    []*profile.Profile // of a refused file: with the names that it claims
	diags       []profile.Diagnostic
}

// entry is a cached file.
type entry struct {
	stamp  stamp
	parts  []part
	readAt time.Time
	sum    uint64
	real   string  // absolute path, links followed; empty in memory
	result *loaded // nil: the file was gone when it was to be read
	good   *loaded // what still counts of a file that is refused now
}

// fresh says whether the entry is what a file holds.
func (e *entry) fresh(f found) bool {
	if e == nil || e.stamp != f.stamp || !slices.Equal(e.parts, f.parts) {
		return false
	}
	return e.readAt.UnixNano()-f.changed() >= int64(racy)
}

// changed is when a file, or one that belongs to it, was last written, in Unix
// nanoseconds.
func (f *found) changed() int64 {
	last := f.stamp.mtime
	for _, p := range f.parts {
		last = max(last, p.stamp.mtime)
	}
	return last
}

// openRegular opens a regular file. It does not wait for the other end of a
// pipe.
func openRegular(root *os.Root, inRoot string) (*os.File, error) {
	f, err := root.OpenFile(inRoot, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregularError(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readParts reads the further files of a directory profile. They are bounded
// together, for there may be many.
func readParts(open *opener, root *os.Root, parts []part) (map[string][]byte, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	all, left := make(map[string][]byte, len(parts)), profile.MaxFile
	for _, p := range parts {
		data, err := open.read(root, p.inRoot, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.key, bare(err))
		}
		if left -= len(data); left < 0 {
			return nil, fmt.Errorf("%s: the files of the profile have more than %d bytes together", p.key, profile.MaxFile)
		}
		all[p.key] = data
	}
	return all, nil
}

// inMemory is what is known about a source that is no file.
func inMemory(s Source, opts dialect.Options) *loaded {
	if p := s.Profile; p != nil {
		return &loaded{shown: Memory, status: Loaded, dialect: p.Dialect, profiles: []*profile.Profile{p}}
	}
	return parse(s, found{claimed: true}, s.Data, nil, opts)
}

// parse makes of a file's bytes what is known about it.
func parse(src Source, f found, data []byte, beside map[string][]byte, opts dialect.Options) *loaded {
	in := &dialect.File{Name: src.shown(f.rel), Path: src.place(f.rel), Data: data, Beside: beside, Claimed: f.claimed, Options: opts}
	if src.Path == "" {
		in.Path, in.Claimed = src.Name, true
	}
	r := &loaded{shown: in.Name, path: f.rel, status: Ignored}
	d, ok := dialect.Detect(in)
	if !ok {
		return r
	}
	r.dialect, r.status = d.Name, Loaded
	r.profiles, r.diags = d.Decode(in)
	r.diags = profile.Capped(r.diags)
	if profile.Refused(r.diags) {
		r.status = Refused
	}
	return r
}

// unread is a file that could not be read, or is not looked at.
func unread(src Source, f found, err error) *loaded {
	r := &loaded{shown: src.shown(f.rel), path: f.rel, status: Ignored}
	switch {
	case f.diag != nil:
		r.diags = []profile.Diagnostic{*f.diag}
	case err != nil:
		r.diags = []profile.Diagnostic{profile.Diagnose(profile.CodeIO, source.Origin{File: r.shown}, "", fmt.Sprintf("cannot be read: %v", bare(err)), "")}
	}
	if !profile.Refused(r.diags) {
		return r
	}
	r.status = Refused
	if place := src.place(f.rel); isMarkdown(place) {
		if name := dialect.NameOf(place); name != "" {
			r.profiles = []*profile.Profile{{Name: name, File: r.shown}}
		}
	}
	return r
}

// job is one file to be read.
type job struct {
	key   cacheKey
	at    int // in the list of files
	src   Source
	file  found
	walk  *walker
	old   *entry
	entry *entry
}

// loadAll reads and parses files side by side and waits for all.
func loadAll(jobs []job, workers int, seed maphash.Seed, opts dialect.Options) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(jobs)) {
		wg.Go(func() {
			var open opener
			defer open.close()
			var buf []byte
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				buf = jobs[i].load(&open, buf[:0], seed, opts)
			}
		})
	}
	wg.Wait()
}

// load reads one file; when its bytes are those of the old entry, what was made
// of them stays.
func (j *job) load(open *opener, buf []byte, seed maphash.Seed, opts dialect.Options) []byte {
	e := &entry{stamp: j.file.stamp, parts: j.file.parts, real: j.walk.path(j.file.inRoot), readAt: time.Now()}
	j.entry = e
	data, err := open.read(j.walk.root, j.file.inRoot, buf)
	var beside map[string][]byte
	if err == nil {
		buf = data
		beside, err = readParts(open, j.walk.root, j.file.parts)
	}
	if err != nil {
		e.stamp = stamp{} // try again
		if !isGone(err) {
			e.result = unread(j.src, j.file, err)
		}
		return buf
	}
	e.sum = sum(seed, data, j.file.parts, beside)
	if j.old != nil && j.old.sum == e.sum && j.old.stamp != (stamp{}) {
		e.result = j.old.result
		return buf
	}
	e.result = parse(j.src, j.file, data, beside, opts)
	changed := time.Unix(0, j.file.changed())
	for _, p := range e.result.profiles {
		p.Changed = changed
	}
	return buf
}

// isGone says that the file that was found is not there any more, but nothing or
// something else. The next look finds what it is.
func isGone(err error) bool {
	var other irregularError
	return isAbsent(err) || errors.Is(err, syscall.ELOOP) || errors.As(err, &other)
}

// sum tells the contents of files apart.
func sum(seed maphash.Seed, data []byte, parts []part, beside map[string][]byte) uint64 {
	if len(parts) == 0 {
		return maphash.Bytes(seed, data)
	}
	var h maphash.Hash
	h.SetSeed(seed)
	add := func(b []byte) {
		maphash.WriteComparable(&h, len(b))
		h.Write(b)
	}
	add(data)
	for _, p := range parts {
		add([]byte(p.key))
		add(beside[p.key])
	}
	return h.Sum64()
}
