package main

import (
	"log/slog"

	"golang.org/x/sys/unix"
)

// enoughFiles is how many open files a server should be allowed: each client takes
// one while he is connected, and sessions some for their commands.
const enoughFiles = 4096

// sayFiles warns of a low limit. That of this process is the hard one by now: Go
// raises the soft one when a program starts.
func sayFiles(log *slog.Logger) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= enoughFiles {
		return
	}
	log.Warn("this server may have few files open, and each client takes one; allow more with ulimit -n, or LimitNOFILE of its systemd unit",
		"files", limit.Cur, "enough", enoughFiles)
}
