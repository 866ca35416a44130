package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// dacOverride is the capability to use files whatever their mode.
const dacOverride = 1

// attributes let the server die with this process. Root starts it as another
// user, for it refuses root, and gives it the directory.
func attributes(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("as root, the server needs the user postgres: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid) // numbers, on this system
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	attr.AmbientCaps = []uintptr{dacOverride} // in containers, /dev/null may be root's alone
	return attr, os.Chown(dir, uid, gid)
}
