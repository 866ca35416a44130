package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/rosterrun/roster/internal/gitlog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// Bounds of a history.
const (
	maxVersions = 100
	maxTexts    = 64 << 20 // bytes of all versions in git
	gitTime     = 10 * time.Second
)

// shortest is the shortest start of a revision that stands for it.
const shortest = 4

// Where a version is from.
const (
	FromFile  = "file"  // the file, when no other source has what it holds
	FromGit   = "git"   // a commit
	FromSaves = "saves" // what Save, Delete and Rollback kept
)

// Version is a revision of a profile's file. Revision is the commit's hash, or a
// digest of the text.
type Version struct {
	Revision string    `json:"revision"`
	Time     time.Time `json:"time"`
	Author   string    `json:"author,omitempty"` // of the commit: name <address>
	Message  string    `json:"message"`
	Source   string    `json:"source"`
	Current  bool      `json:"current"` // it is what the file holds

	parts []dialect.Part
}

// VersionError says that a profile has no such version, or several that start
// like this. It is profile.RevisionNotFound for errors.Is.
type VersionError struct {
	Name, Revision string
	Several        bool
	Missing        string // what of the history could not be read
}

func (e *VersionError) Error() string {
	if e.Several {
		return fmt.Sprintf("profile %s has several revisions that start with %q: write more of it", e.Name, e.Revision)
	}
	if e.Missing != "" {
		return fmt.Sprintf("profile %s has no revision %q that can be read: %s", e.Name, e.Revision, e.Missing)
	}
	return fmt.Sprintf("profile %s has no revision %q: see its history", e.Name, e.Revision)
}

// Unwrap gives the error's name.
func (e *VersionError) Unwrap() error { return profile.RevisionNotFound }

// History lists the versions of a profile's file, the newest first, at most 100:
// the commits that changed it, if a git repository has it, and what was kept by
// saves that is not in a commit. Renames are not followed. It also has a profile
// that was deleted, and one that does not load. What cannot be read, such as a
// damaged repository, is left out and among the diagnostics. A profile that a program
// defines has none.
func (c *Catalog) History(ctx context.Context, name string) ([]Version, []profile.Diagnostic, error) {
	if p, err := c.Get(name); err == nil && p.Code != nil {
		return nil, nil, nil // it is as old as the program
	}
	t, err := c.past(name)
	if err != nil {
		return nil, nil, err
	}
	defer t.root.Close()
	all, err := c.versions(ctx, t)
	return all.versions, all.diags, err
}

// past locates a profile or, if there is none, where it was.
func (c *Catalog) past(name string) (*target, error) {
	if err := profile.CheckName(name); err != nil {
		return nil, err
	}
	t, err := c.locate(name)
	if err != nil || t.there() {
		return t, err
	}
	all, err := c.kept.list(name)
	if err == nil && len(all) == 0 {
		err = &NotFoundError{Name: name}
	}
	if err == nil {
		last := all[len(all)-1]
		rel, below := within(t.real, last.File)
		if !below {
			err = &ReadOnlyError{Name: name, File: filepath.Base(last.File), Why: "it was outside of the workspace"}
		}
		t.dir, t.base = path.Split(rel)
		t.shown, t.rel = rel, rel
		t.source = Source{Path: t.real, Root: t.real}
	}
	if err != nil {
		t.root.Close()
		return nil, err
	}
	return t, nil
}

// within gives a path's part below a folder, with slashes.
func within(dir, file string) (string, bool) {
	rel, err := filepath.Rel(dir, file)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// history is what is known of a profile's files.
type history struct {
	name, file string
	versions   []Version
	diags      []profile.Diagnostic // of what could not be read
}

// lacks says that a part of the history could not be read.
func (h *history) lacks(what string, err error) {
	if load := (*profile.LoadError)(nil); errors.As(err, &load) {
		err = load.Err // without a path outside of the workspace
	}
	h.diags = append(h.diags, profile.Diagnose(profile.CodeHistory, source.Origin{File: h.file}, "",
		fmt.Sprintf("%s: %v", what, bare(err)), "what else is known of it is listed"))
}

func (c *Catalog) versions(ctx context.Context, t *target) (history, error) {
	h := history{name: t.name, file: t.shown}
	if err := h.fromGit(ctx, t); err != nil {
		return history{}, err
	}
	known := map[string]bool{}
	for _, v := range h.versions {
		known[revisionOf(v.parts)] = true
	}
	saved, err := c.kept.list(t.name)
	if err != nil {
		h.lacks("what roster kept cannot be read", err)
	}
	next := 0 // what was kept stays in order: the clock of files is coarser than ours
	for _, v := range slices.Backward(saved) {
		if known[v.Revision] {
			continue
		}
		known[v.Revision] = true
		parts, err := c.kept.read(t.name, v)
		if err != nil {
			h.lacks("revision "+v.Revision+", which roster kept, cannot be read", err)
			continue
		}
		at := slices.IndexFunc(h.versions[next:], func(o Version) bool { return o.Time.Before(v.Time) })
		if at < 0 {
			at = len(h.versions) - next
		}
		at += next
		next = at + 1
		h.versions = slices.Insert(h.versions, at, Version{Revision: v.Revision, Time: v.Time, Message: v.Message, Source: FromSaves, parts: parts})
	}
	h.versions = t.withCurrent(h.versions)
	h.versions = h.versions[:min(len(h.versions), maxVersions)]
	return h, nil
}

// withCurrent marks the version that the files hold, or leads with it.
func (t *target) withCurrent(all []Version) []Version {
	if !t.there() {
		return all
	}
	now := revisionOf(t.parts())
	for i := range all {
		if revisionOf(all[i].parts) == now {
			all[i].Current = true
			return all
		}
	}
	v := Version{Revision: now, Time: t.mtime.UTC(), Message: "not saved by roster or git", Source: FromFile, Current: true, parts: t.parts()}
	return append([]Version{v}, all...)
}

// fromGit adds the versions in git. What cannot be read is noted; an error is
// that of the caller's context.
func (h *history) fromGit(ctx context.Context, t *target) error {
	repo, err := gitlog.Open(filepath.Dir(t.path(t.base)))
	if errors.Is(err, gitlog.ErrNone) {
		return nil
	}
	if err == nil {
		defer repo.Close()
		limited, cancel := context.WithTimeoutCause(ctx, gitTime, fmt.Errorf("it takes more than %s", gitTime))
		defer cancel()
		if err = h.commits(limited, t, repo); errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(limited)
		}
	}
	if err != nil && ctx.Err() == nil {
		h.lacks("its history in git cannot be read, or not all of it", err)
	}
	return ctx.Err()
}

// commits adds the versions that a repository has.
func (h *history) commits(ctx context.Context, t *target, repo *gitlog.Repo) error {
	names := t.names()
	if main, required, _ := dialect.DirectoryParts(); t.base == main {
		for _, name := range required {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	paths := make([]string, len(names))
	for i, name := range names {
		rel, ok := within(repo.Top, t.path(name))
		if !ok {
			return nil
		}
		paths[i] = rel
	}
	log, err := repo.Log(ctx, paths, maxVersions)
	left := maxTexts
	for _, commit := range log {
		v := Version{Revision: commit.Hash, Time: commit.Time, Author: commit.Author, Message: commit.Subject, Source: FromGit}
		var failed error
		if v.parts, failed = t.inCommit(repo, commit.Hash, names, paths); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		for _, p := range v.parts {
			left -= len(p.Data)
		}
		if left < 0 {
			return fmt.Errorf("its versions have more than %d bytes: older ones are left out", maxTexts)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(v.parts) > 0 {
			h.versions = append(h.versions, v)
		}
	}
	return err
}

// inCommit reads the files as they are in a commit; none if the main one is not
// there. Line ends that git would put in when it checks out are put in.
func (t *target) inCommit(repo *gitlog.Repo, hash string, names, paths []string) ([]dialect.Part, error) {
	var out []dialect.Part
	for i, name := range names {
		data, err := repo.Read(hash, paths[i], profile.MaxFile)
		switch {
		case errors.Is(err, os.ErrNotExist) && i == 0:
			return nil, nil
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		if crlf := []byte("\r\n"); bytes.Contains(t.texts[name], crlf) && !bytes.Contains(data, crlf) {
			data = bytes.ReplaceAll(data, []byte("\n"), crlf)
		}
		out = append(out, dialect.Part{Path: name, Data: data})
	}
	return out, nil
}

// Version gives the files of one version of a profile, the main one first, by
// their paths from its folder. revision may be the start of one, of at least
// four characters.
func (c *Catalog) Version(ctx context.Context, name, revision string) ([]dialect.Part, error) {
	t, err := c.past(name)
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	all, err := c.versions(ctx, t)
	if err != nil {
		return nil, err
	}
	v, err := all.find(revision)
	return v.parts, err
}

// find finds the version that a revision, or its start, stands for.
func (h *history) find(revision string) (Version, error) {
	var got []Version
	for _, v := range h.versions {
		if v.Revision == revision {
			return v, nil
		}
		if len(revision) >= shortest && strings.HasPrefix(v.Revision, revision) {
			got = append(got, v)
		}
	}
	if len(got) == 1 {
		return got[0], nil
	}
	e := &VersionError{Name: h.name, Revision: revision, Several: len(got) > 1}
	if len(h.diags) > 0 {
		e.Missing = h.diags[0].Message
	}
	return Version{}, e
}

// Diff says what changed from one version of a profile to another, as a unified
// diff. An empty to is what the file holds; an empty from is the version before
// to.
func (c *Catalog) Diff(ctx context.Context, name, from, to string) (string, error) {
	t, err := c.past(name)
	if err != nil {
		return "", err
	}
	defer t.root.Close()
	h, err := c.versions(ctx, t)
	if err != nil {
		return "", err
	}
	all := h.versions
	var old, now Version
	i := slices.IndexFunc(all, func(v Version) bool { return v.Current })
	if to != "" {
		if now, err = h.find(to); err != nil {
			return "", err
		}
		i = slices.IndexFunc(all, func(v Version) bool { return v.Revision == now.Revision })
	} else if i >= 0 {
		now = all[i]
	}
	switch {
	case from != "":
		if old, err = h.find(from); err != nil {
			return "", err
		}
	case i+1 < len(all):
		old = all[i+1]
	}
	return difference(old, now), nil
}

func difference(old, now Version) string {
	text := func(parts []dialect.Part, name string) []byte {
		for _, p := range parts {
			if p.Path == name {
				return p.Data
			}
		}
		return nil
	}
	label := func(v Version, name string) string {
		if v.Revision == "" {
			return "/dev/null"
		}
		return name + "@" + v.Revision[:min(12, len(v.Revision))]
	}
	var names []string
	for _, p := range slices.Concat(old.parts, now.parts) {
		if !slices.Contains(names, p.Path) {
			names = append(names, p.Path)
		}
	}
	var out strings.Builder
	for _, name := range names {
		d := diff.Diff(label(old, name), text(old.parts, name), label(now, name), text(now.parts, name))
		_, d, _ = bytes.Cut(d, []byte("\n")) // its first line is a command
		out.Write(d)
	}
	return out.String()
}

// Rollback writes an earlier version of a profile into its file, byte for byte,
// and gives the profile as the catalog serves it from then on. Of a directory
// profile, files that the version does not have are removed. ifMatch is the
// revision that the profile must have; empty: any. It also brings back a profile
// that was deleted, and replaces a file that does not load. The version must
// load, and be of the same name. What is written, and what is guaranteed, are
// those of Save. check, if set, sees the profiles of the version first; its error
// leaves all as it is.
func (c *Catalog) Rollback(ctx context.Context, name, revision, ifMatch string, check func([]*profile.Profile) error) (*profile.Profile, error) {
	if err := profile.CheckName(name); err != nil {
		return nil, err
	}
	var saved *profile.Profile
	err := c.edit(ctx, name, func(t *target) error {
		if !t.there() {
			was, err := c.past(name)
			if err != nil {
				return err
			}
			defer was.root.Close()
			t = was
		}
		if ifMatch != "" && t.revision() != ifMatch {
			return &RevisionError{Name: name, Want: ifMatch, Have: t.revision()}
		}
		all, err := c.versions(ctx, t)
		if err != nil {
			return err
		}
		v, err := all.find(revision)
		if err != nil {
			return err
		}
		then, err := t.loads(v, fmt.Sprintf("%s@%s", t.shown, v.Revision[:min(12, len(v.Revision))]))
		if err == nil && check != nil {
			err = check(then)
		}
		if err != nil {
			return err
		}
		for _, name := range t.names() {
			if !slices.ContainsFunc(v.parts, func(p dialect.Part) bool { return p.Path == name }) && t.there() {
				t.gone = append(t.gone, name)
			}
		}
		saved, err = c.put(t, v.parts, "rolled back to "+v.Revision)
		return err
	})
	return saved, err
}

// At gives a profile as a version of its file has it, with the parents that it
// would have now. It changes nothing. revision may be the start of one.
func (c *Catalog) At(ctx context.Context, name, revision string) (*profile.Profile, error) {
	t, err := c.past(name)
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	all, err := c.versions(ctx, t)
	if err != nil {
		return nil, err
	}
	v, err := all.find(revision)
	if err != nil {
		return nil, err
	}
	ps, err := t.loads(v, t.shown)
	if err != nil {
		return nil, err
	}
	p := ps[slices.IndexFunc(ps, func(p *profile.Profile) bool { return p.Name == name })]
	if len(p.Extends.V) == 0 {
		return p, nil
	}
	now := c.Snapshot()
	var parents []*profile.Profile
	for _, parent := range p.Extends.V {
		next, err := now.Get(parent)
		if err != nil {
			return nil, fmt.Errorf("%s@%s extends %s: %w", name, v.Revision[:min(12, len(v.Revision))], parent, err)
		}
		parents = append(parents, next)
	}
	return p.Linked(parents), nil
}

// loads gives the profiles of a version, if it would load under the same name. as
// is how its file is shown.
func (t *target) loads(v Version, as string) ([]*profile.Profile, error) {
	f := t.fileOf(v.parts)
	f.Name = as
	d, ok := dialect.Detect(f)
	if !ok {
		return nil, &profile.LoadError{Path: f.Name, Err: fmt.Errorf("this version is no profile: %w", profile.InvalidFormat)}
	}
	ps, ds := d.Decode(f)
	if profile.Refused(ds) {
		return nil, &profile.LoadError{Path: f.Name, Err: &profile.ParseError{Diagnostics: ds}}
	}
	if !slices.ContainsFunc(ps, func(p *profile.Profile) bool { return p.Name == t.name }) {
		return nil, &profile.LoadError{Path: f.Name, Err: fmt.Errorf("this version is not named %s: %w", t.name, profile.SchemaValidation)}
	}
	return ps, nil
}
