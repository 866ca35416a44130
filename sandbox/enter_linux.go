package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// behind gives what starts a command behind the wall of a ruleset: this program,
// which restricts itself and becomes the command. The helper stays outside of
// the wall, where the command can neither signal nor trace it.
func behind(path string, args []string) (string, []string) {
	return "/proc/self/exe", append([]string{"roster", enterArg, path}, args...)
}

func isRuleset(fd int) bool {
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil && link == "anon_inode:[landlock-ruleset]"
}

// enter goes behind the wall for good and becomes the command. It returns only
// if that fails.
func enter(path string, args []string) error {
	runtime.LockOSThread() // the wall is around this thread, which becomes the process
	unix.CloseOnExec(rulesetFD)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rulesetFD, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	if err := filterCalls(true); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, os.Environ()))
}

// keptCapabilities are those that a command of root keeps: those over files and
// users, which the wall and the kernel bound. Without the others it can trace
// nothing that is outside, make no device, load no module and stop no machine.
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_KILL

// dropCapabilities gives up what the command is not to have. With no_new_privs
// no program gives it back.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for i := range data {
		keep := uint32(keptCapabilities >> (32 * i))
		data[i].Effective &= keep
		data[i].Permitted &= keep
		data[i].Inheritable &= keep
	}
	_, _, errno := unix.Syscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
