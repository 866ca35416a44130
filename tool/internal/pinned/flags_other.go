//go:build unix && !linux

package pinned

import "os"

// searchFlags open a directory to go on from.
const searchFlags = dirFlags

// WorkingDir names the open directory for a process that is about to start.
// Without a name for open files, that is its path.
func WorkingDir(_ *os.File, path string) string { return path }
