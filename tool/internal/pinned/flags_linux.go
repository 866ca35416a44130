package pinned

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// searchFlags open a directory to go on from, also one that may not be listed.
const searchFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// WorkingDir names the open directory for a process that is about to start.
func WorkingDir(dir *os.File, _ string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd()))
}
