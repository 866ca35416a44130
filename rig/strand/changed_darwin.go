package strand

import (
	"io/fs"
	"syscall"
)

// changedAt is when a file was changed, its name and rights included, in nanoseconds:
// a time that nobody sets.
func changedAt(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
