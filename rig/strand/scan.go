package strand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Listing is what a folder has, by its names and times only.
type Listing struct {
	// Files are those that may be strands, and those that are skipped for a reason
	// that is worth a word; not what is hidden or ignored. They are in the order of
	// their paths.
	Files []File
	// Missing says that the folder is not there.
	Missing bool
	// Unread are the folders that could not be listed: what is in them is not known.
	Unread []UnreadError
}

// UnreadError says that a folder could not be listed.
type UnreadError struct {
	Path string // below the watched folder, with slashes; ".": that itself
	Err  error
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("the folder %s cannot be listed, so what changes in it is not seen: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *UnreadError) Unwrap() error { return e.Err }

// Knows says whether a path that is not among the files is indeed not there.
func (l *Listing) Knows(name string) bool {
	for i := range l.Unread {
		if under := l.Unread[i].Path; under == "." || strings.HasPrefix(name, under+"/") {
			return false
		}
	}
	return true
}

// Scan lists a folder; see Scan.
func (d *Dir) Scan(ctx context.Context) (Listing, error) {
	all, err := Scan(ctx, d)
	if err != nil {
		return Listing{}, err
	}
	return all[0], nil
}

// Scan lists folders, each as its Dir sees it, without reading a file. What several
// have in common is looked at once. Links to files are followed where they lead to a
// strand of the same folder, and links to folders never: what they show has a path of
// its own. The error is that of ctx.
func Scan(ctx context.Context, dirs ...*Dir) ([]Listing, error) {
	out := make([]Listing, len(dirs))
	for i, d := range dirs {
		if slices.ContainsFunc(dirs[:i], func(e *Dir) bool { return e.path == d.path }) {
			continue
		}
		s := scan{ctx: ctx}
		for j := i; j < len(dirs); j++ {
			if dirs[j].path == d.path {
				s.views = append(s.views, view{dirs[j], &out[j]})
			}
		}
		if err := s.run(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scan is one look at one folder.
type scan struct {
	ctx   context.Context
	root  *os.Root
	views []view
}

type view struct {
	*Dir
	out *Listing
}

func (s *scan) run(d *Dir) error {
	root, err := d.root()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, v := range s.views {
			v.out.Missing = true
		}
		return s.ctx.Err()
	case err != nil:
		unread(s.views, "", err)
		return s.ctx.Err()
	}
	defer root.Close()
	s.root = root
	if err := s.folder("", s.views); err != nil {
		return err
	}
	for _, v := range s.views {
		byPath := func(a, b File) int { return strings.Compare(a.Path, b.Path) }
		slices.SortFunc(v.out.Files, byPath)
		v.out.Files = slices.CompactFunc(v.out.Files, func(a, b File) bool { return a.Path == b.Path })
	}
	return nil
}

// unread notes that a folder could not be listed, or not all of it.
func unread(views []view, dir string, err error) {
	dir = path.Join(".", dir)
	for _, v := range views {
		if n := len(v.out.Unread); n == 0 || v.out.Unread[n-1].Path != dir {
			v.out.Unread = append(v.out.Unread, UnreadError{dir, err})
		}
	}
}

// atOnce is how many names of a folder are taken at a time.
const atOnce = 4096

// folder lists one folder, and those in it, for the views that do not ignore it.
func (s *scan) folder(dir string, views []view) error {
	f, err := s.root.OpenFile(path.Join(".", dir), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil // gone, or another thing by now
	}
	if err != nil {
		unread(views, dir, err)
		return nil
	}
	below, err := s.list(f, dir, views)
	f.Close()
	if err != nil {
		return err
	}
	for _, name := range below {
		if left := slices.DeleteFunc(slices.Clone(views), func(v view) bool { return v.ignored.Match(name, true) }); len(left) > 0 {
			if err := s.folder(name, left); err != nil {
				return err
			}
		}
	}
	return nil
}

// list adds the files of an open folder, and gives the folders that are in it.
func (s *scan) list(f *os.File, dir string, views []view) (below []string, err error) {
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	fd := int(f.Fd())
	for {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		names, err := f.Readdirnames(atOnce)
		for _, base := range names {
			if base[0] == '.' {
				continue
			}
			file := File{Path: prefix + base}
			isDir, err := stat(fd, base, &file)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				unread(views, dir, err)
			case isDir:
				below = append(below, file.Path)
			default:
				s.add(file, views)
			}
		}
		if len(names) == 0 || err != nil {
			if err != nil && !errors.Is(err, io.EOF) {
				unread(views, dir, err)
			}
			return below, nil
		}
	}
}

// add takes a file into the views that do not ignore it.
func (s *scan) add(file File, views []view) {
	for _, v := range views {
		mine, why := file, v.named(file.Path)
		if why == Ignored || why == Hidden {
			continue
		}
		if mine.Skipped == Outside && why == "" {
			if mine = v.linked(s.root, file.Path); mine.Path == "" {
				continue
			}
		}
		if why == "" {
			why = mine.Skipped
		}
		if why == "" {
			why = v.tooLarge(mine.Size)
		}
		mine.Skipped = why
		v.out.Files = append(v.out.Files, mine)
	}
}

// stat looks at a name in an open folder. A link is Outside until it is followed.
func stat(fd int, base string, file *File) (isDir bool, err error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstatat(fd, base, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return false, err
	}
	file.Size, file.ModTime, file.Inode = st.Size, time.Unix(st.Mtim.Unix()), st.Ino
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return true, nil
	case unix.S_IFLNK:
		file.Skipped = Outside
	default:
		file.Skipped = Irregular
	}
	return false, nil
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// linked is what a link leads to, under the link's own path; the path is empty if
// it leads nowhere.
func (d *Dir) linked(root *os.Root, name string) File {
	_, info, why, err := d.find(root, name)
	if err != nil {
		return File{}
	}
	f := File{Path: name, Skipped: why}
	f.set(info)
	return f
}
