package catalog

import (
	"runtime"
	"slices"

	"github.com/rosterrun/roster/profile"
)

// cacheKey is a file of a source; the same file may be in several.
type cacheKey struct {
	source int
	rel    string
}

// sourced is a file of a source.
type sourced struct {
	*loaded
	cacheKey
	entry *entry // nil: the file holds no profiles
}

// visit is a source as the last look found it.
type visit struct {
	looks   []look
	telling bool       // looks tell that it is the same
	files   []cacheKey // in the order of their paths
	listed  map[string]listing
}

// refresher is one look at the sources.
type refresher struct {
	c     *Catalog
	all   bool // list the files that hold no profiles too
	files []sourced
	jobs  []job
	seen  map[cacheKey]*entry
	walks []*walker // for each source; nil: it was not walked
	said  map[profile.Diagnostic]bool
}

// stale says which sources may be other than at the last look.
func (c *Catalog) stale() []bool {
	out := make([]bool, len(c.sources))
	c.glances = c.glances[:0]
	for i := range c.sources {
		out[i] = c.sources[i].Path != "" && !c.visits[i].same(&c.glances)
	}
	return out
}

// refresh walks the stale sources, reads what is new or another than before, and
// gives all files in the order of precedence. The caller holds mu.
func (c *Catalog) refresh(stale []bool, all bool) []sourced {
	now := c.now() // before the first look: what changes meanwhile has changed lately
	r := &refresher{c: c, all: all, seen: make(map[cacheKey]*entry, len(c.cache)), walks: make([]*walker, len(c.sources)), said: map[profile.Diagnostic]bool{}}
	for i, s := range c.sources {
		switch {
		case s.Path == "":
			r.memory(i, s)
		case stale[i]:
			r.walk(i, s)
		default:
			for _, key := range c.visits[i].files {
				r.keep(key, c.cache[key])
			}
		}
	}
	loadAll(r.jobs, runtime.GOMAXPROCS(0), c.seed, c.opts)
	for i, w := range r.walks {
		if w != nil {
			c.visits[i] = visit{looks: w.looks, telling: w.telling(now), listed: w.listed}
			c.walks++
			w.close()
		}
	}
	r.settle()
	for _, f := range r.files {
		if r.walks[f.source] != nil && f.entry != nil {
			c.visits[f.source].files = append(c.visits[f.source].files, f.cacheKey)
		}
	}
	// What is new has set changed; if nothing is, fewer files mean that some are gone.
	c.changed = c.changed || len(r.seen) != len(c.cache)
	c.cache = r.seen
	return r.files
}

// settle takes over what was read.
func (r *refresher) settle() {
	for _, j := range r.jobs {
		if j.entry.stamp == (stamp{}) { // it is to be read again
			r.c.visits[j.key.source].telling = false
		}
		if j.entry.result == nil { // gone since its folder was read
			continue
		}
		if r.c.keepGood && j.entry.result.status == Refused {
			j.entry.good = j.old.lastGood()
		}
		r.seen[j.key] = j.entry
		r.files[j.at].loaded, r.files[j.at].entry = j.entry.result, j.entry
		r.c.changed = r.c.changed || j.old == nil || j.old.result != j.entry.result
	}
	r.files = slices.DeleteFunc(r.files, func(f sourced) bool { return f.loaded == nil })
}

// lastGood is what a file said when it last loaded.
func (e *entry) lastGood() *loaded {
	switch {
	case e == nil:
		return nil
	case e.result.status == Loaded:
		return e.result
	}
	return e.good
}

// keep takes over a result without reading.
func (r *refresher) keep(key cacheKey, e *entry) {
	r.seen[key] = e
	r.files = append(r.files, sourced{e.result, key, e})
}

func (r *refresher) memory(i int, s Source) {
	key := cacheKey{source: i}
	e := r.c.cache[key]
	if e == nil {
		e = &entry{result: inMemory(s, r.c.opts)}
		r.c.changed = true
	}
	r.keep(key, e)
}

func (r *refresher) walk(i int, s Source) {
	w, err := walk(s, r.all, r.c.visits[i].listed)
	r.walks[i] = w
	if err != nil {
		w.unreadable("", err)
	}
	added := max(0, len(w.out)-len(r.c.visits[i].files))
	r.jobs, r.files = slices.Grow(r.jobs, added), slices.Grow(r.files, added)
	for _, f := range w.out {
		switch {
		case f.other:
			r.files = append(r.files, sourced{unread(s, f, nil), cacheKey{i, f.rel}, nil})
		case f.diag != nil:
			r.diagnosed(i, s, f)
		default:
			r.file(i, w, f)
		}
	}
}

// diagnosed is a thing that is not read, or only a diagnostic. What a folder of
// several sources has is said once.
func (r *refresher) diagnosed(i int, s Source, f found) {
	if r.said[*f.diag] {
		return
	}
	r.said[*f.diag] = true
	key := cacheKey{i, f.rel + "\x00" + f.diag.Code}
	old := r.c.cache[key]
	e := &entry{result: unread(s, f, nil)}
	switch {
	case old != nil && old.result.diags[0] == *f.diag:
		e = old
	default:
		r.c.changed = true
	}
	r.keep(key, e)
}

func (r *refresher) file(i int, w *walker, f found) {
	key := cacheKey{i, f.rel}
	old := r.c.cache[key]
	if old.fresh(f) {
		r.keep(key, old)
		return
	}
	r.jobs = append(r.jobs, job{key: key, at: len(r.files), src: w.src, file: f, walk: w, old: old})
	r.files = append(r.files, sourced{nil, key, nil})
}
