package strand

import (
	"path"
	"strings"
)

// Reason is a word for why a file is no strand; empty: it is one.
type Reason string

// Reasons, in the order in which they are looked for.
const (
	Temporary Reason = "temporary" // by its name: an editor or a program keeps it for a moment
	Hidden    Reason = "hidden"    // it, or a folder that it is in, begins with a dot
	Ignored   Reason = "ignored"   // by the globs of the folder
	Outside   Reason = "outside"   // a link out of the folder, or to what is skipped in it
	Irregular Reason = "irregular" // neither a file nor a link to one
	TooLarge  Reason = "large"     // it has more bytes than a strand may have
	Binary    Reason = "binary"    // see IsBinary
)

// Skips says why a path below the folder is no strand, by its name alone. What is not
// a path below the folder is Outside.
func (d *Dir) Skips(name string) Reason {
	switch {
	case !local(name):
		return Outside
	case IsTemporary(path.Base(name)):
		return Temporary
	case hidden(name):
		return Hidden
	case d.ignores(name, false):
		return Ignored
	}
	return ""
}

// named is Skips for a file of a folder that is neither hidden nor ignored.
func (d *Dir) named(name string) Reason {
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case IsTemporary(base):
		return Temporary
	case base[0] == '.':
		return Hidden
	case d.ignored.Match(name, false):
		return Ignored
	}
	return ""
}

// local says whether a name is a clean path, with slashes, that stays below a folder.
func local(name string) bool {
	return name != "" && name != "." && name != ".." && path.Clean(name) == name && name[0] != '/' && !strings.HasPrefix(name, "../") && !strings.Contains(name, "\x00")
}

func hidden(name string) bool { return name[0] == '.' || strings.Contains(name, "/.") }

// ignores holds a path, and the folders that it is in, against the globs.
func (d *Dir) ignores(name string, dir bool) bool {
	if d.ignored == nil {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' && d.ignored.Match(name[:i], true) {
			return true
		}
	}
	return d.ignored.Match(name, dir)
}

// endings are those of files that are kept for a moment: backups, swap files of vim,
// downloads that are under way, and what editors rename into place.
var endings = [...]string{"~", ".tmp", ".swp", ".swo", ".swx", ".part", ".crdownload", ".vsctmp", "___jb_tmp___", "___jb_old___"}

// IsTemporary says whether the name of a file, without its folder, is one that
// editors and programs give to what they keep for a moment.
func IsTemporary(base string) bool {
	for _, end := range endings {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	switch {
	case base == "4913": // vim tries with it whether it may write to the folder
		return true
	case strings.HasPrefix(base, ".#"): // a lock of emacs
		return true
	case len(base) > 2 && base[0] == '#' && base[len(base)-1] == '#': // what emacs saves by itself
		return true
	}
	return ofSed(base)
}

// ofSed says whether a name is one of sed -i: sed and six letters or digits, with
// nothing behind them.
func ofSed(base string) bool {
	random, ok := strings.CutPrefix(base, "sed")
	if !ok || len(random) != 6 {
		return false
	}
	for i := range len(random) {
		c := random[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
