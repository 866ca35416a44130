package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
)

// Made is what became of a file of a bundle.
type Made struct {
	Path    string `json:"path"` // in the workspace
	Created bool   `json:"created"`
}

// DiffersError says which files are there with another content, or are none. Nothing was
// written.
type DiffersError struct{ Paths []string }

func (e *DiffersError) Error() string {
	return fmt.Sprintf("nothing is imported, for these are there and differ: %s; move them away, or import as another rig", strings.Join(e.Paths, ", "))
}

// In is where a path of a bundle is in a workspace.
func In(rigName, p string) string {
	if rest, ok := strings.CutPrefix(p, ofRig+"/"); ok {
		return path.Join(rigName, rest)
	}
	return p
}

// Of is what a path of a workspace is in a bundle of a rig; ok: it can be in one.
func Of(rigName, p string) (name string, ok bool) {
	if rest, in := strings.CutPrefix(p, rigName+"/"); in {
		p = path.Join(ofRig, rest)
	} else if !strings.HasPrefix(p, profiles+"/") {
		return "", false
	}
	return p, checkPath(p) == nil
}

// Load reads a file of a workspace for a bundle. Links are not followed.
func Load(workspace *os.Root, p string) ([]byte, error) {
	info, err := lstat(workspace, p)
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	f, err := workspace.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, profile.MaxFile+1))
}

// Import adds the files of a bundle to a workspace, as those of a rig. It overwrites
// nothing and follows no link: a file that is there stays if it is the same, and if any is
// not the same nothing is written (*DiffersError).
func Import(workspace *os.Root, rigName string, files []File) ([]Made, error) {
	if !rig.IsRig(rigName) {
		return nil, fmt.Errorf("%q is not the name of a rig: one is rig, or ends in -rig", rigName)
	}
	if err := check(files); err != nil {
		return nil, err
	}
	var made []Made
	var differ []string
	for _, f := range files {
		p := In(rigName, f.Path)
		was, err := Load(workspace, p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			made = append(made, Made{p, true})
		case err == nil && bytes.Equal(was, f.Data):
			made = append(made, Made{p, false})
		case err == nil:
			differ = append(differ, p)
		default:
			return nil, err
		}
	}
	if len(differ) > 0 {
		return nil, &DiffersError{differ}
	}
	for i, m := range made {
		if !m.Created {
			continue
		}
		if err := create(workspace, m.Path, files[i].Data); err != nil {
			return made[:i], err
		}
	}
	return made, nil
}

func create(root *os.Root, p string, data []byte) error {
	if err := root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// lstat looks at a file; nil: it is not there. That it, or a folder on the way to it, is a
// link or something else is an error.
func lstat(root *os.Root, p string) (fs.FileInfo, error) {
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := root.Lstat(p[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case i < len(p) && !info.IsDir(), i == len(p) && !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is a link, or neither a file nor a folder, in the way of %s", p[:i], p)
		case i == len(p):
			return info, nil
		}
	}
	return nil, nil
}
