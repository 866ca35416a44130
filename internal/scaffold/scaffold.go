// Package scaffold makes the files of a new workspace.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

//go:embed files
var files embed.FS

// File is one file of a new workspace. Created is false if there was one of
// that name, which is kept as it is.
type File struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
}

// Write makes the files below dir, which is created if need be. It overwrites
// nothing and follows no link out of dir.
func Write(dir string) ([]File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sub, err := fs.Sub(files, "files")
	if err != nil {
		return nil, err
	}
	var made []File
	err = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		created, err := write(root, sub, name)
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(dir, name), err)
		}
		made = append(made, File{name, created})
		return nil
	})
	return made, err
}

func write(root *os.Root, from fs.FS, name string) (created bool, err error) {
	data, err := fs.ReadFile(from, name)
	if err != nil {
		return false, err
	}
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
