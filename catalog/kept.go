package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const (
	maxKept  = 100     // versions of a profile
	maxIndex = 1 << 20 // bytes of an index
)

// kept holds the versions of profiles that were saved, outside of the workspace:
// a folder for each name, with the texts by their digests and an index.
type kept struct {
	dir string // empty: nothing is kept
}

// keptError is an error of the folder of versions. It does not name the folder,
// which is no part of the workspace: errors are shown to others.
func keptError(err error) error { return ioError("the kept versions", bare(err)) }

type keptIndex struct {
	Name     string        `json:"name"`
	Versions []keptVersion `json:"versions"` // the oldest first
}

// keptVersion is a version of a profile's files. File is the main one's absolute
// path.
type keptVersion struct {
	Revision string     `json:"revision"`
	Time     time.Time  `json:"time"`
	Message  string     `json:"message"`
	File     string     `json:"file"`
	Parts    []keptPart `json:"parts"`
}

type keptPart struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// revisionOf is the digest of files: 32 hexadecimal digits.
func revisionOf(parts []dialect.Part) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%s\x00%d\x00", p.Path, len(p.Data))
		sum.Write(p.Data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (k kept) folder(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(k.dir, hex.EncodeToString(sum[:16]))
}

// list gives the kept versions of a name, the oldest first.
func (k kept) list(name string) ([]keptVersion, error) {
	if k.dir == "" {
		return nil, nil
	}
	file := filepath.Join(k.folder(name), "index.json")
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxIndex {
		err = fmt.Errorf("it has more than %d bytes", maxIndex)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	var index keptIndex
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err != nil {
		return nil, keptError(err)
	}
	return index.Versions, nil
}

// read gives the files of a version.
func (k kept) read(name string, v keptVersion) ([]dialect.Part, error) {
	var out []dialect.Part
	for _, p := range v.Parts {
		file := filepath.Join(k.folder(name), filepath.Base(p.Digest))
		info, err := os.Stat(file)
		if err == nil && info.Size() > profile.MaxFile {
			err = fmt.Errorf("it has more than %d bytes", profile.MaxFile)
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(file)
		}
		if err == nil && digest(data) != p.Digest {
			err = errors.New("it is not what was kept")
		}
		if err != nil {
			return nil, keptError(err)
		}
		if !filepath.IsLocal(p.Path) {
			return nil, keptError(fmt.Errorf("the path %q leads out of the profile's folder", p.Path))
		}
		out = append(out, dialect.Part{Path: p.Path, Data: data})
	}
	return out, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// version is what is to be kept.
type version struct {
	parts   []dialect.Part
	time    time.Time
	message string
}

// add keeps versions, the oldest first. One that equals the last is kept
// already. It is durable when add returns.
func (k kept) add(name, file string, versions ...version) error {
	if k.dir == "" {
		return nil
	}
	all, err := k.list(name)
	if err != nil {
		return err
	}
	before := len(all)
	dir := k.folder(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return keptError(err)
	}
	for _, v := range versions {
		next := keptVersion{Revision: revisionOf(v.parts), Time: v.time.UTC(), Message: v.message, File: file}
		if n := len(all); len(v.parts) == 0 || n > 0 && all[n-1].Revision == next.Revision {
			continue
		}
		for _, p := range v.parts {
			next.Parts = append(next.Parts, keptPart{p.Path, digest(p.Data)})
			if err := replace(filepath.Join(dir, digest(p.Data)), p.Data); err != nil {
				return keptError(err)
			}
		}
		all = append(all, next)
	}
	if len(all) == before {
		return nil
	}
	all = slices.Clone(all[max(0, len(all)-maxKept):])
	data, err := json.Marshal(keptIndex{name, all})
	if err == nil {
		err = replace(filepath.Join(dir, "index.json"), data)
	}
	if err == nil {
		err = prune(dir, all)
	}
	if err != nil {
		return keptError(err)
	}
	return nil
}

// prune removes the texts that no version has.
func prune(dir string, all []keptVersion) error {
	used := map[string]bool{"index.json": true}
	for _, v := range all {
		for _, p := range v.Parts {
			used[p.Digest] = true
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !used[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// replace writes a file of the state directory, durably and at once.
func replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// keep keeps what the files of a target hold and what they are to hold, before
// they are written: what was there can be had again.
func (c *Catalog) keep(t *target, parts []dialect.Part, message string) error {
	now := c.now()
	var versions []version
	if t.there() {
		versions = append(versions, version{t.parts(), t.mtime, "found"})
	}
	if len(parts) > 0 {
		versions = append(versions, version{t.with(parts), now, message})
	}
	return c.kept.add(t.name, t.path(t.base), versions...)
}

// with gives the files as they are when parts are written.
func (t *target) with(parts []dialect.Part) []dialect.Part {
	out := slices.Clone(parts)
	for _, p := range t.parts() {
		if !slices.ContainsFunc(parts, func(n dialect.Part) bool { return n.Path == p.Path }) && !slices.Contains(t.gone, p.Path) && t.there() {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out[1:], func(a, b dialect.Part) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
