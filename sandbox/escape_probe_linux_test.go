package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeMain does what bash cannot: single system calls.
func probeMain(args []string) int {
	probes := map[string]func([]string) error{
		"truncate": func(a []string) error { return syscall.Truncate(a[0], 0) },
		"rename":   func(a []string) error { return syscall.Rename(a[0], a[1]) },
		"exchange": func(a []string) error {
			return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
		},
		"bind":      bindSocket,
		"setxattr":  func(a []string) error { return unix.Lsetxattr(a[0], "user.roster", []byte("x"), 0) },
		"handle":    openByHandle,
		"pidfd":     takeFile,
		"mem":       readMem,
		"readv":     func(a []string) error { return memory(a, unix.ProcessVMReadv) },
		"writev":    writeMemory,
		"ptrace":    attach,
		"pidfdkill": pidfdKill,
		"sigio":     ownSignals,
		"prlimit":   limitFiles,
		"shm":       readShm,
		"unix":      func(a []string) error { return callUnix("unix", a[0]) },
		"unixgram":  func(a []string) error { return callUnix("unixgram", a[0]) },
		"packet":    openPacket,
		"hostname":  nameMachine,
		"keyring":   searchKey,
		"key":       linkKey,
		"kernellog": kernelLog,
		"bpf":       loadProgram,
		"vsock": func([]string) error {
			_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
			return err
		},
	}
	if err := probes[args[0]](args[1:]); err != nil {
		fmt.Println("probe:", err)
		return 1
	}
	return 0
}

func number(s string) int {
	n, _ := strconv.ParseUint(s, 10, 64)
	return int(n)
}

func bindSocket(a []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrUnix{Name: a[0]})
}

// openByHandle opens a file by its number on the disk, past all folders. The
// handle is made from the number, as one would who cannot reach the path.
func openByHandle(a []string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, a[0], 0)
	if err != nil {
		return err
	}
	mount, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
	if err != nil {
		return err
	}
	return show(fd)
}

func show(fd int) error {
	b := make([]byte, 4096)
	n, err := unix.Pread(fd, b, 0)
	os.Stdout.Write(b[:max(n, 0)])
	return err
}

func takeFile(a []string) error {
	p, err := unix.PidfdOpen(number(a[0]), 0)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdGetfd(p, number(a[1]), 0)
	if err != nil {
		return err
	}
	return show(fd)
}

// secretSize is more than a secret has, in bytes.
const secretSize = 64

func readMem(a []string) error {
	f, err := os.Open("/proc/" + a[0] + "/mem")
	if err != nil {
		return err
	}
	b := make([]byte, secretSize)
	if _, err := f.ReadAt(b, int64(number(a[1]))); err != nil {
		return err
	}
	os.Stdout.Write(b)
	return nil
}

type transfer func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)

func memory(a []string, move transfer) error {
	b := bytes.Repeat([]byte{'x'}, secretSize)
	local := []unix.Iovec{{Base: &b[0], Len: secretSize}}
	_, err := move(number(a[0]), local, []unix.RemoteIovec{{Base: uintptr(number(a[1])), Len: secretSize}}, 0)
	if err == nil {
		os.Stdout.Write(b)
	}
	return err
}

func writeMemory(a []string) error {
	err := memory(a, unix.ProcessVMWritev)
	if err == nil {
		fmt.Println("written")
	}
	return err
}

// attach seizes the process without stopping it, and lets it go at its end.
func attach(a []string) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(number(a[0])), 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	fmt.Println("attached")
	return nil
}

func pidfdKill(a []string) error {
	p, err := unix.PidfdOpen(number(a[0]), 0)
	if err != nil {
		return err
	}
	return unix.PidfdSendSignal(p, unix.SIGKILL, nil, 0)
}

// ownSignals has the kernel send the signal that says that a file can be read.
func ownSignals(a []string) error {
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	for _, set := range [][2]int{{unix.F_SETSIG, int(unix.SIGKILL)}, {unix.F_SETOWN, number(a[0])}, {unix.F_SETFL, unix.O_ASYNC}} {
		if _, err := unix.FcntlInt(uintptr(fds[0]), set[0], set[1]); err != nil {
			return err
		}
	}
	_, err := unix.Write(fds[1], []byte("x"))
	return err
}

func limitFiles(a []string) error {
	if err := unix.Prlimit(number(a[0]), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 512, Max: 512}, nil); err != nil {
		return err
	}
	fmt.Println("limited")
	return nil
}

func readShm(a []string) error {
	b, err := unix.SysvShmAttach(number(a[0]), 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	os.Stdout.Write(b[:secretSize])
	return nil
}

// callUnix says something to a socket and shows the answer.
func callUnix(kind, address string) error {
	var local *net.UnixAddr
	if kind == "unixgram" {
		local = &net.UnixAddr{Net: kind, Name: address + "-answer"}
	}
	c, err := net.DialUnix(kind, local, &net.UnixAddr{Net: kind, Name: address})
	if err != nil {
		return err
	}
	c.SetDeadline(time.Now().Add(2 * time.Second))
	c.Write([]byte("x\n")) // who answers without being asked may be gone
	b := make([]byte, secretSize)
	n, err := c.Read(b)
	os.Stdout.Write(b[:n])
	return err
}

func openPacket([]string) error {
	const allProtocols = 0x0300 // ETH_P_ALL in network order
	if _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, allProtocols); err != nil {
		return err
	}
	fmt.Println("opened")
	return nil
}

// nameMachine gives the machine the name that it has.
func nameMachine([]string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return err
	}
	fmt.Println("named")
	return nil
}

func searchKey(a []string) error {
	key, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", a[0], 0)
	if err != nil {
		return err
	}
	return showKey(key)
}

// linkKey comes to possess a key by linking the keyring that holds it, whose
// number /proc/keys tells.
func linkKey(a []string) error {
	if _, err := unix.KeyctlInt(unix.KEYCTL_LINK, number(a[1]), unix.KEY_SPEC_PROCESS_KEYRING, 0, 0); err != nil {
		return err
	}
	return showKey(number(a[0]))
}

func showKey(key int) error {
	b := make([]byte, secretSize)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, key, b, 0)
	os.Stdout.Write(b[:max(0, min(n, len(b)))])
	return err
}

func kernelLog([]string) error {
	const size = 10 // SYSLOG_ACTION_SIZE_BUFFER
	if _, err := unix.Klogctl(3, make([]byte, size)); err != nil {
		return err
	}
	fmt.Println("logged")
	return nil
}

// loadProgram loads the smallest program there is: it returns 0.
func loadProgram([]string) error {
	program := []uint64{0x00000000000000b7, 0x0000000000000095}
	license := []byte("GPL\x00")
	var attr [128]byte
	binary.NativeEndian.PutUint32(attr[0:], unix.BPF_PROG_TYPE_SOCKET_FILTER)
	binary.NativeEndian.PutUint32(attr[4:], uint32(len(program)))
	binary.NativeEndian.PutUint64(attr[8:], uint64(uintptr(unsafe.Pointer(&program[0]))))
	binary.NativeEndian.PutUint64(attr[16:], uint64(uintptr(unsafe.Pointer(&license[0]))))
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr[0])), unsafe.Sizeof(attr))
	if errno != 0 {
		return errno
	}
	fmt.Println("loaded")
	return nil
}

// play plays the parts that this test binary has in the attempts to escape.
func play(part string, args []string) bool {
	switch part {
	case "__probe":
		os.Exit(probeMain(args))
	case "__victim":
		if err := victimMain(args[0]); err != nil {
			fmt.Fprintln(os.Stderr, "victim:", err)
			os.Exit(1)
		}
		return true
	}
	return false
}
