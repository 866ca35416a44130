package tieoff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what is read.
const (
	// MaxRead is how many bytes of a tie-off are read: of one that is larger, the last.
	MaxRead = 64 << 20
	// MaxFiles is how many tie-offs a rig has at most.
	MaxFiles = 10_000
)

// Entry is a tie-off that is there.
type Entry struct {
	File       string // below the rig, with slashes
	Loom, Knot string
}

// ID is the knot as LOOM/NAME.
func (e Entry) ID() string { return e.Loom + "/" + e.Knot }

// List names the tie-offs of a rig, in order; root is its folder. Links, and what is named
// otherwise than File does, are left out. More than MaxFiles are an error.
func List(root *os.Root) ([]Entry, error) {
	looms, err := folders(root, Folder)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, loom := range looms {
		if !loom.IsDir() {
			continue
		}
		files, err := folders(root, path.Join(Folder, loom.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			knot, ok := strings.CutPrefix(strings.TrimSuffix(f.Name(), ".md"), "tie-off-")
			file, err := File(loom.Name(), knot)
			if !ok || err != nil || path.Base(file) != f.Name() || !f.Type().IsRegular() {
				continue
			}
			all = append(all, Entry{File: file, Loom: loom.Name(), Knot: knot})
		}
		if len(all) > MaxFiles {
			return nil, fmt.Errorf("%s has more than %d tie-offs", Folder, MaxFiles)
		}
	}
	return all, nil
}

// folders lists a folder by name; one that is not there has nothing.
func folders(root *os.Root, dir string) ([]fs.DirEntry, error) {
	if err := plainDir(root, dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// plainDir looks whether a folder is none that a link leads to.
func plainDir(root *os.Root, dir string) error {
	info, err := root.Lstat(dir)
	if err == nil && !info.IsDir() {
		return &LinkError{dir, "folder"}
	}
	return err
}

// Read gives the sections of a tie-off, in their order; file is one that File names. Links
// are refused (*LinkError). fs.ErrNotExist: there is none.
func Read(root *os.Root, file string) ([]Section, []Problem, error) {
	if err := plain(root, file); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	from := max(0, info.Size()-MaxRead)
	data, err := io.ReadAll(io.NewSectionReader(f, from, MaxRead))
	if err != nil {
		return nil, nil, err
	}
	var cut *Problem
	if from > 0 { // from the first whole line on
		_, data, _ = bytes.Cut(data, []byte("\n"))
		cut = &Problem{1, fmt.Sprintf("the file has %d bytes: only the last %d are read, and lines are counted from there", info.Size(), MaxRead)}
	}
	sections, problems := Parse(data)
	if cut != nil {
		problems = append([]Problem{*cut}, problems...)
	}
	return sections, problems, nil
}
