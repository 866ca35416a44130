package openapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Open reads the document in a file, which may refer to others in its folder.
func Open(ctx context.Context, path string, o Options) (*Document, error) {
	data, err := readFile(path, o.filled().MaxBytes)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return Load(ctx, Source{Name: path, Data: data, Dir: dir}, o)
}

func readFile(path string, most int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, most)
}

// readAll gives the text of a plain file.
func readAll(f *os.File, path string, most int) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder: name the OpenAPI document in it", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a plain file", path)
	case info.Size() > int64(most):
		return nil, fmt.Errorf("%s is too large: it has %d bytes, and at most %d are read", path, info.Size(), most)
	}
	data := make([]byte, 0, info.Size()+1)
	for len(data) <= most { // it may grow while it is read
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):min(cap(data), most+1)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s is too large: at most %d bytes are read", path, most)
}
