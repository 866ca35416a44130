// Package scaffold makes the files of a new workspace, or of a new rig in one.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

//go:embed files
var files embed.FS

// File is one file that is to be there. Created is false if there was one of that name,
// which is kept as it is.
type File struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
}

// Write makes the files of a workspace below dir, which is created if need be. It
// overwrites nothing and follows no link out of dir.
func Write(dir string) ([]File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return below(root, "files", rigName)
}

// What the rig of a new workspace is called, its loom, and the profile that its knot
// names.
const (
	rigName = "rig"
	loom    = "inbox-loom"
	Profile = "assistant"
)

// Rig makes a small rig in the folder rig of the workspace at dir, and the profile that
// its knot names if that is wanted too. It overwrites nothing: where the rig has a loom of
// that name, it makes nothing, and the error is fs.ErrExist.
func Rig(dir, rig string, profile bool) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(rig, 0o777); err != nil {
		return nil, err
	}
	if err := root.Mkdir(path.Join(rig, loom), 0o777); err != nil {
		return nil, err
	}
	made, err := below(root, "files/"+rigName, rig)
	if err != nil || !profile {
		return made, err
	}
	one, err := write(root, "files/profiles/"+Profile+".md", rig)
	return append(made, one), err
}

// below makes all files of a folder of ours.
func below(root *os.Root, folder, rig string) (made []File, err error) {
	err = fs.WalkDir(files, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		one, err := write(root, name, rig)
		made = append(made, one)
		return err
	})
	return made, err
}

// write makes one of our files, where the rig may have another name.
func write(root *os.Root, from, rig string) (File, error) {
	data, err := files.ReadFile(from)
	if err != nil {
		return File{}, err
	}
	name := strings.TrimPrefix(from, "files/")
	if in, ok := strings.CutPrefix(name, rigName+"/"); ok {
		name = path.Join(rig, in)
		data = bytes.ReplaceAll(data, []byte(rigName+"/tie-offs"), []byte(rig+"/tie-offs"))
	}
	created, err := create(root, name, data)
	if err != nil {
		err = fmt.Errorf("%s: %w", path.Join(root.Name(), name), err)
	}
	return File{name, created}, err
}

func create(root *os.Root, name string, data []byte) (created bool, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	return true, errors.Join(err, f.Close())
}
