// Package bundle passes looms on: as one file with their knots and the profiles that those
// name, and nothing of what a rig has done.
//
// The file is a zip. It has rig/LOOM/KNOT.md, rig/profiles/NAME.md for the profiles of
// the rig, and profiles/NAME.md for those of the workspace. The same files always make the
// same zip.
package bundle

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
)

// Bounds of a bundle.
const (
	MaxFiles = 5000
	MaxSize  = 64 << 20 // bytes of all files, and of the zip
)

// File is a file of a bundle. Its path is as in a workspace whose rig is named rig.
type File struct {
	Path string
	Data []byte
}

// Error says what in a bundle is refused.
type Error struct {
	Name string // in the bundle; empty: the bundle itself
	Why  string
}

func (e *Error) Error() string {
	if e.Name == "" {
		return "the bundle is refused: " + e.Why
	}
	return fmt.Sprintf("the bundle is refused: %q %s", e.Name, e.Why)
}

const (
	ofRig    = "rig"      // what stands for the rig, whatever its name
	profiles = "profiles" // a folder of the rig, and of the workspace
)

// Write writes a bundle of files, in the order of their paths. *Error.
func Write(w io.Writer, files []File) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := check(files); err != nil {
		return err
	}
	z := zip.NewWriter(w)
	for _, f := range files {
		part, err := z.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Deflate}) // without a time
		if err != nil {
			return err
		}
		if _, err := part.Write(f.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

// Read gives the files of a bundle, in the order of their paths. Whatever is not a knot or
// profile with a plain name has the whole bundle refused (*Error), and so has what is too
// large, whatever it says of its size.
func Read(data []byte) ([]File, error) {
	if len(data) > MaxSize {
		return nil, &Error{Why: fmt.Sprintf("it has more than %d bytes", MaxSize)}
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &Error{Why: "it is no zip file that can be read: " + err.Error()}
	}
	if len(z.File) > MaxFiles {
		return nil, &Error{Why: fmt.Sprintf("it has more than %d files", MaxFiles)}
	}
	var files []File
	left := int64(MaxSize)
	for _, f := range z.File {
		if folder, is := strings.CutSuffix(f.Name, "/"); is && f.UncompressedSize64 == 0 && path.Clean(folder) == folder {
			continue // programs that make zips add them
		}
		if err := checkPath(f.Name); err != nil { // before it is opened
			return nil, err
		}
		if !f.Mode().IsRegular() {
			return nil, &Error{f.Name, "is a link, or something else than a file"}
		}
		text, err := content(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		files = append(files, File{f.Name, text})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, check(files)
}

// content reads a file of a zip; no more of it than shows that it is too large.
func content(f *zip.File, left int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, &Error{f.Name, "cannot be read: " + err.Error()}
	}
	defer r.Close()
	most := min(left, profile.MaxFile)
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, &Error{f.Name, "cannot be read: " + err.Error()}
	}
	if int64(len(text)) > most {
		return nil, &Error{f.Name, fmt.Sprintf("is too large: a file has %d bytes at most, and all together %d", profile.MaxFile, MaxSize)}
	}
	return text, nil
}

// check says what of files, which are in order, cannot be in a bundle.
func check(files []File) error {
	if len(files) == 0 {
		return &Error{Why: "there is nothing in it"}
	}
	seen, size := map[string]bool{}, 0
	for _, f := range files {
		if err := checkPath(f.Path); err != nil {
			return err
		}
		if key := strings.ToLower(f.Path); seen[key] {
			return &Error{f.Path, "is there twice"} // on systems that take no account of the case
		} else {
			seen[key] = true
		}
		if len(f.Data) > profile.MaxFile {
			return &Error{f.Path, fmt.Sprintf("is too large: a file has %d bytes at most", profile.MaxFile)}
		}
		size += len(f.Data)
	}
	if len(files) > MaxFiles || size > MaxSize {
		return &Error{Why: fmt.Sprintf("it has more than %d files, or %d bytes", MaxFiles, MaxSize)}
	}
	return nil
}

// checkPath says whether a path is that of a knot or of a profile.
func checkPath(name string) error {
	stem, md := strings.CutSuffix(name, ".md")
	parts := strings.Split(stem, "/")
	err := profile.CheckName(stem)
	known := parts[0] == profiles && len(parts) > 1 || parts[0] == ofRig && (len(parts) > 2 && parts[1] == profiles || len(parts) == 3 && rig.IsLoom(parts[1]))
	switch {
	case !md || !known:
		return &Error{name, "is neither a knot, rig/LOOM/KNOT.md, nor a profile"}
	case err != nil:
		return &Error{name, "has no plain name: " + err.Error()}
	}
	return nil
}
