package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keyCalls are the system calls on the kernel's keyrings, in which others keep
// tickets and the keys of disks. Neither kind of wall keeps a command from those
// of its user. For each machine there are its own numbers and those of programs
// of the 32-bit one before it.
var keyCalls = map[string][]struct {
	arch    uint32
	numbers [3]uint32
}{
	"amd64": {{unix.AUDIT_ARCH_X86_64, [3]uint32{248, 249, 250}}, {unix.AUDIT_ARCH_I386, [3]uint32{286, 287, 288}}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, [3]uint32{217, 218, 219}}, {unix.AUDIT_ARCH_ARM, [3]uint32{309, 310, 311}}},
}

// x32 is the bit by which a program on amd64 calls by the numbers of a third kind
// of machine.
const x32 = 0x40000000

// keyFilter is the program by which the kernel tells that there are no keyrings.
// It is empty for machines whose numbers are not known here.
func keyFilter(goarch string) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		end    = unix.BPF_RET | unix.BPF_K
		number = 0 // where the call's number is in what the program sees, in bytes
		arch   = 4
		refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	arches := keyCalls[goarch]
	if len(arches) == 0 {
		return nil
	}
	var f []unix.SockFilter
	for _, a := range arches {
		// Passed over where the call is of another machine.
		f = append(f,
			unix.SockFilter{Code: load, K: arch},
			unix.SockFilter{Code: equal, K: a.arch, Jf: 7},
			unix.SockFilter{Code: load, K: number},
			unix.SockFilter{Code: equal, K: a.numbers[0], Jt: 4},
			unix.SockFilter{Code: equal, K: a.numbers[1], Jt: 3},
			unix.SockFilter{Code: equal, K: a.numbers[2], Jt: 2},
			unix.SockFilter{Code: least, K: x32, Jt: 1},
			unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW},
			unix.SockFilter{Code: end, K: refuse},
		)
	}
	return append(f, unix.SockFilter{Code: end, K: refuse})
}

// forgetKeys has this thread, and what it becomes, do without keyrings. It needs
// no_new_privs.
func forgetKeys() error {
	f := keyFilter(runtime.GOARCH)
	if len(f) == 0 {
		return nil
	}
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(f)
	if errno != 0 && errno != unix.ENOSYS {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// filterFile holds the program as bwrap reads it.
func filterFile() (*os.File, error) {
	f := keyFilter(runtime.GOARCH)
	if len(f) == 0 {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := binary.Write(w, binary.NativeEndian, f); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
