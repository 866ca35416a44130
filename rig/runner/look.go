package runner

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
)

// Bounds of what is noted in one commit.
const (
	noteFiles = 500
	noteBytes = 8 << 20
	noteTries = 10 // while another process notes the same files
)

// examine compares files with what the knots of their folder know, and notes what is
// new, with the jobs of it.
func (n *running) examine(ctx context.Context, l look) {
	var all *listed
	if l.paths == nil {
		var err error
		if all, err = n.list(ctx, l.dir); err != nil {
			if ctx.Err() == nil {
				n.r.o.Log.Error("a folder cannot be listed; it is tried again within a minute", "folder", l.dir.Path(), "error", err)
			}
			return
		}
	}
	for _, k := range n.knots(l.dir) {
		paths, err := l.paths, error(nil)
		if all != nil {
			paths, err = n.compare(ctx, k, l.dir, all)
		}
		if err == nil {
			err = n.note(ctx, k, l.dir, paths)
		}
		if err != nil && ctx.Err() == nil {
			n.r.o.Log.Error("a folder was not looked at; it is tried again within a minute", "knot", k.ID(), "folder", l.dir.Path(), "error", err)
		}
	}
}

// clean is a folder as it was when a knot knew all of it, and how often that is still
// believed: another process may have noted something that came to naught.
type clean struct {
	sum  uint64
	left int
}

// trusted is how often in a row a folder is not held against the ledger.
const trusted = 9

// listed is what a folder has, and a sum of it by which it is known again.
type listed struct {
	strand.Listing
	sum uint64
}

func (n *running) list(ctx context.Context, d *strand.Dir) (*listed, error) {
	listing, err := d.Scan(ctx)
	if err != nil {
		return nil, err
	}
	for i := range listing.Unread {
		n.r.o.Log.Warn("a part of a folder is not seen", "folder", d.Path(), "error", &listing.Unread[i])
	}
	if n.mayRecord(d) {
		listing.Files = slices.DeleteFunc(listing.Files, func(f strand.File) bool { return n.isRecord(d, f.Path) })
	}
	var h maphash.Hash
	h.SetSeed(n.seed)
	for i := range listing.Files {
		f := &listing.Files[i]
		h.WriteString(f.Path)
		maphash.WriteComparable(&h, [3]int64{f.Size, f.ModTime.UnixNano(), int64(f.Inode)})
	}
	return &listed{listing, h.Sum64()}, nil
}

// compare names the files of a folder that may not be as a knot knows them, by their size
// and time alone. What has changed just now is left to the watcher, or looked at a
// moment later. A folder that is as it was when the knot knew all of it is not held
// against the ledger again.
func (n *running) compare(ctx context.Context, k *rig.Knot, d *strand.Dir, listing *listed) (paths []string, err error) {
	if was, known := n.clean[k.ID()]; known && was.sum == listing.sum && was.left > 0 {
		n.clean[k.ID()] = clean{was.sum, was.left - 1}
		return nil, nil
	}
	rows, err := n.r.o.Ledger.Strands(ctx, n.key, k.ID())
	if err != nil {
		return nil, err
	}
	known := make(map[string]*ledger.Strand, len(rows))
	for i := range rows {
		known[rows[i].Path] = &rows[i]
	}
	now := time.Now()
	var young []string
	for _, f := range listing.Files {
		row := known[n.shown(d, f.Path)]
		delete(known, n.shown(d, f.Path))
		switch {
		case row != nil && f.Same(row.Size, row.ModTime, row.Checked):
		case row != nil && f.Skipped != "" && row.Skipped == string(f.Skipped):
		case isYoung(f, k, now):
			young = append(young, f.Path)
		default:
			paths = append(paths, f.Path)
		}
	}
	for shown, row := range known {
		if row.Digest == "" && row.Skipped == "" {
			continue // it was gone before
		}
		if p, in := n.below(d, shown); in && listing.Knows(p) {
			paths = append(paths, p)
		}
	}
	n.later(ctx, d, k.Debounce.V, young)
	if len(paths)+len(young)+len(listing.Unread) == 0 {
		n.clean[k.ID()] = clean{listing.sum, trusted}
	}
	return paths, nil
}

// isYoung says whether a file has not been still for as long as its knot wants. The
// time of one that lies in the future says nothing.
func isYoung(f strand.File, k *rig.Knot, now time.Time) bool {
	age := now.Sub(f.ModTime)
	return age < k.Debounce.V && age > -time.Second
}

// isGone says whether a file that is not there has been missing for as long as its knot
// wants: an editor may be about to make it anew.
func (n *running) isGone(k *rig.Knot, shown string, now time.Time) bool {
	name := k.ID() + "\n" + shown
	n.mu.Lock()
	defer n.mu.Unlock()
	since, known := n.missing[name]
	if !known {
		n.missing[name] = now
		return false
	}
	if now.Sub(since) < k.Debounce.V {
		return false
	}
	delete(n.missing, name)
	return true
}

// isThere forgets that a file was missing.
func (n *running) isThere(k *rig.Knot, shown string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.missing, k.ID()+"\n"+shown)
}

// later looks at files again after a while, if there are any.
func (n *running) later(ctx context.Context, d *strand.Dir, wait time.Duration, paths []string) {
	if len(paths) == 0 {
		return
	}
	n.r.work.Go(func() {
		if pause(ctx, wait) {
			n.look(d, paths)
		}
	})
}

// shown is a path of a folder as the ledger has it, and below what it was from.
func (n *running) shown(d *strand.Dir, p string) string {
	return n.r.shown(filepath.Join(d.Path(), filepath.FromSlash(p)))
}

func (n *running) below(d *strand.Dir, shown string) (p string, in bool) {
	full := filepath.FromSlash(shown)
	if !filepath.IsAbs(full) {
		full = filepath.Join(n.r.o.Dir, full)
	}
	rel, err := filepath.Rel(d.Path(), full)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// note reads files and notes what has changed, some at a time.
func (n *running) note(ctx context.Context, k *rig.Knot, d *strand.Dir, paths []string) error {
	seen := make(map[string]bool, len(paths))
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		was := seen[p]
		seen[p] = true
		return was || n.isRecord(d, p)
	})
	for tries := 0; len(paths) > 0; {
		rest, stale, err := n.noteSome(ctx, k, d, paths)
		if err != nil {
			return err
		}
		if len(stale) == 0 {
			tries = 0
		} else if tries++; tries == noteTries {
			n.later(ctx, d, pollEvery, stale)
			stale = nil
		}
		paths = append(rest, stale...)
	}
	return nil
}

// noteSome notes the first of the paths. It returns the others, and those whose rows have
// changed meanwhile: another process was quicker.
func (n *running) noteSome(ctx context.Context, k *rig.Knot, d *strand.Dir, paths []string) (rest, stale []string, err error) {
	some, rest := paths[:min(noteFiles, len(paths))], paths[min(noteFiles, len(paths)):]
	rows, err := n.rows(ctx, k, d, some) // before the files are read: see ledger.Change
	if err != nil {
		return nil, nil, err
	}
	var changes []ledger.Change
	var of []string
	size := 0
	for i, p := range some {
		c, changed, err := n.change(ctx, k, d, p, rows[n.shown(d, p)])
		if err != nil {
			return nil, nil, err
		}
		if !changed {
			continue
		}
		changes, of = append(changes, c), append(of, p)
		if c.Job != nil {
			size += len(c.Job.Content)
		}
		if size >= noteBytes {
			rest = append(append([]string{}, some[i+1:]...), rest...)
			break
		}
	}
	if len(changes) == 0 {
		return rest, nil, nil
	}
	delete(n.clean, k.ID())
	if k.Bundling.V == rig.Batch {
		n.together(k, changes)
	}
	indices, err := n.r.o.Ledger.Note(ctx, n.key, changes)
	if err != nil {
		return nil, nil, err
	}
	noted := map[string]ledger.Job{}
	for i := range changes {
		if slices.Contains(indices, i) {
			stale = append(stale, of[i])
		} else if j := changes[i].Job; j != nil {
			noted[j.ID] = *j
		}
	}
	n.log(ctx, ended(slices.Collect(maps.Values(noted)))...)
	n.signal(n.jobs)
	n.signal(n.changed)
	return rest, stale, nil
}

// rows are what a knot knows of files, by their paths in the ledger.
func (n *running) rows(ctx context.Context, k *rig.Knot, d *strand.Dir, paths []string) (map[string]ledger.Strand, error) {
	shown := make([]string, len(paths))
	for i, p := range paths {
		shown[i] = n.shown(d, p)
	}
	list, err := n.r.o.Ledger.Strands(ctx, n.key, k.ID(), shown...)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]ledger.Strand, len(list))
	for _, s := range list {
		rows[s.Path] = s
	}
	return rows, nil
}

// change compares a file with its row; changed: there is something to note.
func (n *running) change(ctx context.Context, k *rig.Knot, d *strand.Dir, p string, row ledger.Strand) (c ledger.Change, changed bool, err error) {
	looked := time.Now()
	file, err := d.Read(ctx, p)
	var restless *strand.Restless
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if row.Digest != "" && !n.isGone(k, row.Path, time.Now()) {
			n.later(ctx, d, k.Debounce.V, []string{p})
			return c, false, nil
		}
		file = strand.Content{}
	case errors.As(err, &restless):
		n.later(ctx, d, k.Debounce.V, []string{p})
		return c, false, nil
	case err != nil:
		return c, false, err
	case isYoung(file.File, k, time.Now()): // it may be half written
		n.later(ctx, d, k.Debounce.V, []string{p})
		return c, false, nil
	default:
		n.isThere(k, row.Path)
	}
	c.Strand = ledger.Strand{
		Knot: k.ID(), Path: n.shown(d, p), Digest: file.Digest, Size: file.Size, ModTime: file.ModTime, Checked: looked,
		Skipped: string(file.Skipped), Rev: row.Rev,
	}
	was, is := row.Digest, file.Digest
	if was == is {
		known := row.Rev > 0 || is != "" || file.Skipped != ""
		same := row.Rev > 0 && row.Size == file.Size && row.ModTime.Equal(file.ModTime) && row.Skipped == string(file.Skipped) && !row.Checked.Before(row.ModTime.Add(2*time.Second))
		return c, known && !same, nil
	}
	if file.Skipped != "" {
		n.r.o.Log.Info("a file is no strand any more", "knot", k.ID(), "path", c.Path, "why", c.Skipped)
		return c, true, nil
	}
	c.Job, err = n.job(ctx, k, was, &file, c.Path)
	return c, err == nil, err
}

// job is what a change of a file asks for; nil: nothing.
func (n *running) job(ctx context.Context, k *rig.Knot, was string, file *strand.Content, shown string) (*ledger.Job, error) {
	what := rig.Modified
	switch {
	case file.Digest == "":
		what = rig.Deleted
	case was == "":
		what = rig.Created
	}
	if !k.Wants(what) {
		return nil, nil
	}
	j := &ledger.Job{
		ID: newID(), Knot: k.ID(), Event: string(what), Path: shown, Digest: file.Digest, Content: file.Data, Queued: time.Now(),
	}
	if what == rig.Deleted {
		j.Digest = ledger.Removed(was)
	}
	if k.Bundling.V == rig.Diff {
		j.Content = bundle(bundled{what, shown, file.Data, n.difference(shown, file.Data)})
	}
	w, byJob, err := n.r.o.Ledger.Writer(ctx, n.key, shown, j.Digest)
	if err != nil {
		return nil, err
	}
	if byJob {
		if w.Knot == k.ID() && !k.Self.V {
			return nil, nil
		}
		j.Hops, j.Parent = w.Hops+1, w.Job
		n.bound(j)
	}
	return j, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
