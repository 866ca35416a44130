package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the numbers of system calls on one kind of machine.
type calls struct {
	arch       uint32
	keys       [3]uint32 // add_key, request_key, keyctl
	socket     uint32
	socketcall uint32 // the older way to all calls on sockets; 0: there is none
}

// machines are by the names that Go has for them. To each belongs the 32-bit one
// before it, whose programs run on it.
var machines = map[string][2]calls{
	"amd64": {
		{unix.AUDIT_ARCH_X86_64, [3]uint32{248, 249, 250}, 41, 0},
		{unix.AUDIT_ARCH_I386, [3]uint32{286, 287, 288}, 359, 102},
	},
	"arm64": {
		{unix.AUDIT_ARCH_AARCH64, [3]uint32{217, 218, 219}, 198, 0},
		{unix.AUDIT_ARCH_ARM, [3]uint32{309, 310, 311}, 281, 102},
	},
}

const (
	// x32 is the bit by which a program on amd64 calls by the numbers of a third
	// kind of machine.
	x32 = 0x40000000
	// ioUring is a way past a filter to sockets. It has the same number everywhere.
	ioUring = 425

	// What a call is refused with: as a kernel does that does not have it.
	noCall   = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	noFamily = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// callFilter is the program by which the kernel lacks what a wall does not hold:
// the keyrings, in which others of the same user keep tickets and the keys of
// disks, and without a network the sockets from a virtual machine to its host,
// which are of no network namespace. It is empty for machines that are not known
// here.
func callFilter(goarch string, network bool) []unix.SockFilter {
	const (
		load     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least    = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		end      = unix.BPF_RET | unix.BPF_K
		number   = 0 // where things are in what the program sees, in bytes
		arch     = 4
		argument = 16
	)
	known, ok := machines[goarch]
	if !ok {
		return nil
	}
	var f []unix.SockFilter
	for _, m := range known {
		block := []unix.SockFilter{{Code: load, K: number}, {Code: least, K: x32, Jf: 1}, {Code: end, K: noCall}}
		refused := m.keys[:]
		if !network {
			refused = append(refused, ioUring)
			if m.socketcall != 0 {
				refused = append(refused, m.socketcall)
			}
		}
		for _, n := range refused {
			block = append(block, unix.SockFilter{Code: equal, K: n, Jf: 1}, unix.SockFilter{Code: end, K: noCall})
		}
		if !network {
			block = append(block, unix.SockFilter{Code: equal, K: m.socket, Jf: 3}, unix.SockFilter{Code: load, K: argument},
				unix.SockFilter{Code: equal, K: unix.AF_VSOCK, Jf: 1}, unix.SockFilter{Code: end, K: noFamily})
		}
		block = append(block, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
		f = append(f, unix.SockFilter{Code: load, K: arch}, unix.SockFilter{Code: equal, K: m.arch, Jf: uint8(len(block))})
		f = append(f, block...)
	}
	return append(f, unix.SockFilter{Code: end, K: noCall})
}

// filterCalls has this thread, and what it becomes, do without the calls. It needs
// no_new_privs.
func filterCalls(network bool) error {
	f := callFilter(runtime.GOARCH, network)
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
func filterFile(network bool) (*os.File, error) {
	f := callFilter(runtime.GOARCH, network)
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
