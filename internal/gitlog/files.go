package gitlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Bounds of what is read of a repository, which somebody else may have made.
const (
	maxObject = 16 << 20  // bytes of an object, and of each that it is built on
	maxSpent  = 128 << 20 // bytes that are unpacked for one object
	maxChain  = 4095      // objects that one is built on; git makes no more
	maxPacks  = 500
	maxShared = 16       // repositories whose objects this one has too
	maxRefs   = 64 << 20 // bytes of the list of references
	maxSmall  = 4096     // bytes of a file that names a folder or a commit
)

// openRegular opens a regular file. It does not wait for the other end of a pipe.
// Errors name the file without its folder: they are shown to others.
func openRegular(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), pe.Err)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", filepath.Base(file))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readFile reads a file that has at most so many bytes.
func readFile(file string, most int64) ([]byte, error) {
	f, err := openRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", filepath.Base(file), most)
	}
	return data, err
}
