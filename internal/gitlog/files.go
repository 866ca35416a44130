package gitlog

import (
	"compress/zlib"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

const (
	maxObject = 16 << 20  // bytes of a commit, a tree or a loose object
	maxIndex  = 256 << 20 // of a pack's index, which is read as a whole
	maxFile   = 64 << 20  // of any other file, but a pack
)

// plainFiles are those of a repository that somebody else may have made: a file is
// opened only when it is regular, and no larger than what is read of it.
type plainFiles struct {
	billy.Filesystem
	shared bool // they are another repository's, whose objects this one has too
}

func filesOf(dir string) billy.Filesystem { return plainFiles{osfs.New(dir), false} }

// Chroot gives the files of a repository that this one shares objects with. It
// cannot name a third: two that name each other would have no end.
func (p plainFiles) Chroot(path string) (billy.Filesystem, error) {
	below, err := p.Filesystem.Chroot(path)
	return plainFiles{below, true}, err
}

// Open opens a file for reading. It does not wait for the other end of a pipe.
func (p plainFiles) Open(name string) (billy.File, error) {
	slashes := filepath.ToSlash(name)
	if p.shared && strings.HasSuffix(slashes, "info/alternates") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	info, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if most := limitOf(slashes); info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
	}
	f, err := p.OpenFile(name, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil && isLoose(slashes) {
		if err = inflates(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return f, err
}

func limitOf(name string) int64 {
	switch {
	case strings.HasSuffix(name, ".pack"):
		return 1 << 62
	case strings.HasSuffix(name, ".idx"):
		return maxIndex
	}
	return maxFile
}

// isLoose knows an object that is a file of its own: objects/12/3456….
func isLoose(name string) bool {
	dir, file := filepath.Split(name)
	dir, folder := filepath.Split(filepath.Clean(dir))
	return len(folder) == 2 && len(file) >= 38 && filepath.Base(dir) == "objects"
}

// inflates says whether an object is not larger than it may be: a small file
// can stand for much.
func inflates(f billy.File) error {
	r, err := zlib.NewReader(f)
	if err != nil {
		return err
	}
	defer r.Close()
	const header = 32
	if n, _ := io.CopyN(io.Discard, r, maxObject+header+1); n > maxObject+header {
		return fmt.Errorf("the object has more than %d bytes", maxObject)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
