package catalog

import (
	"path/filepath"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// Fix writes into a file what its reader repairs (dialect.Fix), and says what
// that was; nil: nothing, and the file is as it was. The write is atomic, as
// that of Save. The error is a *profile.LoadError, or a *RevisionError when the
// file was changed meanwhile.
func Fix(file string) ([]profile.Diagnostic, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil, ioError(file, err)
	}
	t := &target{c: Open(Options{}), name: file, source: Source{Path: real}, shown: file,
		texts: map[string][]byte{}, shared: map[string][]byte{}}
	if err := t.open(real); err != nil {
		return nil, err
	}
	defer t.root.Close()
	data, fixed := dialect.Fix(&dialect.File{Name: file, Path: file, Data: t.texts[t.base]})
	if len(fixed) == 0 {
		return nil, nil
	}
	return fixed, t.write([]dialect.Part{{Path: t.base, Data: data}})
}
