package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes every descendant whose parent dies a child of this process.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot become the reaper of its children: %w", err)
	}
	return nil
}

// keepFiles keeps every open file but the standard three from the command,
// also those that the parent was started with.
func keepFiles() {
	if unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		keepFirstFiles()
	}
}

// helperAttr keeps the signals of a terminal, such as ^C, from the helper: its
// parent decides when to end the command. A helper that the command has stopped
// goes on when the parent dies.
func helperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGCONT}
}

func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// children lists the processes whose parent this process is.
func children() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	self := strconv.Itoa(os.Getpid())
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && parent(name) == self {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parent reads the fourth field of /proc/PID/stat. The second, the program's
// name in parentheses, may contain anything.
func parent(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return ""
	}
	return string(fields[1])
}
