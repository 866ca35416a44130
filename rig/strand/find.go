package strand

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// find looks at a name, and at what it links to: only to a strand of the same folder.
// at is the path without a link at its end.
func (d *Dir) find(root *os.Root, name string) (at string, info fs.FileInfo, why Reason, err error) {
	info, err = root.Lstat(name)
	if err != nil {
		return "", nil, "", err
	}
	if way := filepath.Dir(filepath.Join(d.path, filepath.FromSlash(name))); way != d.path {
		if found, err := filepath.EvalSymlinks(way); err == nil && found != way {
			return name, info, Outside, nil // what is behind a link to a folder has a path of its own
		}
	}
	if info.Mode().IsRegular() {
		return name, info, "", nil
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return name, info, Irregular, nil
	}
	found, err := filepath.EvalSymlinks(filepath.Join(d.path, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, "", err
	}
	if err != nil { // such as a link to itself
		return name, info, Outside, nil
	}
	rel, err := filepath.Rel(d.path, found)
	at = filepath.ToSlash(rel)
	if err != nil || d.Skips(at) != "" {
		return name, info, Outside, nil
	}
	target, err := root.Lstat(at)
	if err != nil {
		return "", nil, "", err
	}
	if !target.Mode().IsRegular() {
		return at, target, Irregular, nil
	}
	return at, target, "", nil
}
