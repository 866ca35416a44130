package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minABI is the first version of Landlock that handles truncation, and moving
// files from folder to folder: with less of it a wall would have holes, or mv
// and git would fail in it.
const minABI = 3

// The accesses that a ruleset handles, and so denies where no rule gives them.
const (
	readAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// Devices may be made nowhere: a command of root could make one of the disk.
	writeAccess = readAccess | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	allAccess = writeAccess | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// devices may be read and written, terminals also controlled.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// landlockABI is the version of Landlock that the kernel has.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

func probeLandlock() error {
	const remedy = "choose bubblewrap or docker, start the kernel with lsm=landlock,…, or say sandbox: none where you trust what runs"
	v, err := landlockABI()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return &UnavailableError{Landlock, "this kernel does not have it: Linux 6.2 has", remedy}
	case errors.Is(err, unix.EOPNOTSUPP):
		return &UnavailableError{Landlock, "it is turned off in this kernel", remedy}
	case err != nil:
		return &UnavailableError{Landlock, fmt.Sprintf("this kernel does not let us: %v", err), remedy}
	case v < minABI:
		return &UnavailableError{Landlock, fmt.Sprintf("this kernel has version %d of it, and %d is needed: Linux 6.2", v, minABI), remedy}
	}
	return nil
}

// handled are the accesses and scopes that a version knows.
func handled(abi int) *unix.LandlockRulesetAttr {
	attr := &unix.LandlockRulesetAttr{Handled_access_fs: allAccess}
	if abi < 5 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return attr
}

// ruleset makes the wall. Whoever restricts himself by the file can do no more
// than the box lets him.
func (b Box) ruleset() (*os.File, error) {
	abi, err := landlockABI()
	if err != nil || abi < minABI {
		return nil, errors.Join(probeLandlock(), err)
	}
	attr := handled(abi)
	if abi >= 4 && b.Connect != nil {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP | unix.LANDLOCK_ACCESS_NET_BIND_TCP
	}
	size := unsafe.Offsetof(attr.Quiet_access_fs) // what a version does not know must not be there
	switch {
	case abi < 4:
		size = unsafe.Offsetof(attr.Handled_access_net)
	case abi < 6:
		size = unsafe.Offsetof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("landlock: %w", errno)
	}
	set := &ruleset{os.NewFile(fd, "landlock"), attr.Handled_access_fs}
	err = set.fill(b)
	if err == nil && attr.Handled_access_net != 0 {
		err = set.connect(b.Connect)
	}
	if err != nil {
		set.file.Close()
		return nil, fmt.Errorf("landlock: %w", err)
	}
	return set.file, nil
}

type ruleset struct {
	file    *os.File
	handled uint64
}

func (s *ruleset) fill(b Box) error {
	type rule struct {
		path   string
		access uint64
	}
	var rules []rule
	add := func(access uint64, paths ...string) {
		for _, p := range paths {
			rules = append(rules, rule{p, access})
		}
	}
	for _, dir := range systemFolders() {
		if dir == "/etc" && os.Geteuid() == 0 {
			add(unix.LANDLOCK_ACCESS_FS_READ_DIR, dir)
			public, _ := parts(dir)
			add(readAccess, public...)
		} else {
			add(readAccess, dir)
		}
	}
	add(readAccess, b.programs()...)
	add(readAccess, b.Read...)
	add(unix.LANDLOCK_ACCESS_FS_READ_DIR, "/dev")
	add(unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_READ_DIR|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, devices[:]...)
	add(writeAccess, b.Write...)
	for _, r := range rules {
		if err := s.allow(r.path, r.access); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
	}
	return nil
}

// portAttr is landlock_net_port_attr of the kernel, and portRule the kind of rule
// that takes one.
type portAttr struct{ access, port uint64 }

const portRule = 2

// connect gives leave to connect to ports.
func (s *ruleset) connect(ports []int) error {
	for _, port := range ports {
		attr := portAttr{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, s.file.Fd(), portRule, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
		runtime.KeepAlive(s.file)
		if errno != 0 {
			return fmt.Errorf("port %d: %w", port, errno)
		}
	}
	return nil
}

// allow gives access to what is at a path and below it. What is not there, or
// cannot be reached, is passed over.
func (s *ruleset) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access & s.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, s.file.Fd(), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	runtime.KeepAlive(s.file)
	if errno != 0 {
		return errno
	}
	return nil
}

// programs are the folders on PATH, apart from those that would let more be seen
// than programs: the home folder, what holds it, and what is hidden.
func (b Box) programs() []string {
	var out []string
	home := real(os.Getenv("HOME"))
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found := real(dir)
		open := !within(found, home)
		for _, h := range b.Hidden {
			h = real(h)
			open = open && !within(found, h) && !within(h, found)
		}
		if open {
			out = append(out, found)
		}
	}
	return out
}
