package knowledge

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/permission"
)

// walk finds the files of the folder. Links are not followed, and what begins with a
// dot is passed over.
func (x *index) walk(ctx context.Context, hidden string, found func(name string, info fs.FileInfo) error) error {
	x.left = left{}
	files, bytes := 0, int64(0)
	return fs.WalkDir(x.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch base := path.Base(name); {
		case err != nil && name == ".":
			return err
		case err != nil:
			x.left.unreadable++
			return nil
		case name == ".":
			return nil
		case strings.HasPrefix(base, "."), d.IsDir() && base == "node_modules":
			return skip(d)
		case d.IsDir():
			if at := filepath.Join(x.dir, filepath.FromSlash(name)); hidden != "" && permission.Within(at, hidden) {
				return fs.SkipDir
			}
			if strings.Count(name, "/") >= maxDepth {
				x.left.full = true
				return fs.SkipDir
			}
			return nil
		case kindOf(base) == other:
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			x.left.links++
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // it is gone
		}
		files++
		bytes += min(info.Size(), maxFile)
		if files > maxFiles || bytes > maxTotal {
			x.left.full = true
			return fs.SkipAll
		}
		return found(name, info)
	})
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
