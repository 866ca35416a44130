package catalog

import "runtime"

// cacheKey is a file of a source; the same file may be in several.
type cacheKey struct {
	source int
	rel    string
}

// sourced is a file with the number of its source.
type sourced struct {
	*loaded
	source int
}

// refresher is one look at all sources.
type refresher struct {
	c     *Catalog
	files []sourced // in order of precedence
	jobs  []job
	seen  map[cacheKey]*entry
	roots []*walker // open until the jobs are done
}

// refresh looks at every source, reads what is new or another than before, and
// gives all files in the order of precedence. With all, files that are not
// Markdown are listed too. The caller holds mu.
func (c *Catalog) refresh(all bool) []sourced {
	r := &refresher{c: c, seen: make(map[cacheKey]*entry, len(c.cache))}
	for i, s := range c.sources {
		if s.Path == "" {
			r.memory(i, s)
			continue
		}
		w, err := walk(s, all)
		r.roots = append(r.roots, w)
		if err != nil {
			w.unreadable("", err)
		}
		for _, f := range w.out {
			r.file(i, w, f)
		}
	}
	c.looks = telling(r.roots, c.now())
	loadAll(r.jobs, runtime.GOMAXPROCS(0), c.seed, c.opts)
	for _, w := range r.roots {
		w.close()
	}
	for _, j := range r.jobs {
		if j.entry.stamp == (stamp{}) { // it is to be read again
			c.looks = nil
		}
		r.seen[j.key] = j.entry
		r.files[j.at].loaded = j.entry.result
		c.changed = c.changed || j.old == nil || j.old.result != j.entry.result
	}
	// What is new has set changed; if nothing is, fewer files mean that some are gone.
	c.changed = c.changed || len(r.seen) != len(c.cache)
	c.cache = r.seen
	return r.files
}

// keep takes over a result without reading.
func (r *refresher) keep(key cacheKey, e *entry) {
	r.seen[key] = e
	r.files = append(r.files, sourced{e.result, key.source})
}

func (r *refresher) memory(i int, s Source) {
	key := cacheKey{source: i}
	e := r.c.cache[key]
	if e == nil {
		e = &entry{result: parse(s, found{claimed: true}, s.Data, r.c.opts)}
		r.c.changed = true
	}
	r.keep(key, e)
}

func (r *refresher) file(i int, w *walker, f found) {
	key := cacheKey{i, f.rel}
	old := r.c.cache[key]
	switch {
	case f.other:
		r.files = append(r.files, sourced{unread(w.src, f, nil), i})
	case f.diag != nil:
		e := &entry{result: unread(w.src, f, nil)}
		if old != nil && len(old.result.diags) == 1 && old.result.diags[0] == *f.diag {
			e = old
		}
		r.c.changed = r.c.changed || e != old
		r.keep(key, e)
	case old.fresh(f.stamp):
		r.keep(key, old)
	default:
		r.jobs = append(r.jobs, job{key: key, at: len(r.files), src: w.src, file: f, root: w.root, old: old})
		r.files = append(r.files, sourced{nil, i})
	}
}
