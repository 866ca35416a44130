package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// victimMain is the process outside that attempts are made on. It tells on its
// standard output where everything is, and answers every line that it is told.
func victimMain(secret string) error {
	v := victim{PID: os.Getpid(), Abstract: os.Getenv("NAME"), KeyName: os.Getenv("NAME")}
	held, err := openDeleted(secret)
	if err != nil {
		return err
	}
	v.Held = int(held.Fd())
	inMemory := append([]byte(secret), make([]byte, secretSize)...)
	v.Memory = uint64(uintptr(unsafe.Pointer(&inMemory[0])))
	if v.Shm, err = share(secret); err != nil {
		return err
	}
	if os.Getenv("KEY") != "" {
		if err := v.keep(secret); err != nil {
			return err
		}
	}
	if err := v.listen(secret); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println("here")
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(inMemory)
	return nil
}

// openDeleted opens a file with the secret that has no name any more.
func openDeleted(secret string) (*os.File, error) {
	if err := os.WriteFile("held", []byte(secret), 0o600); err != nil {
		return nil, err
	}
	f, err := os.Open("held")
	if err != nil {
		return nil, err
	}
	return f, os.Remove("held")
}

// share puts the secret into shared memory, which goes with its last user.
func share(secret string) (int, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		return 0, err
	}
	b, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return 0, err
	}
	copy(b, secret)
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return id, err
}

// keep puts the secret into the user's keyring, for a minute.
func (v *victim) keep(secret string) (err error) {
	if v.Ring, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); err != nil {
		return err
	}
	if v.Key, err = unix.AddKey("user", v.KeyName, []byte(secret), unix.KEY_SPEC_USER_KEYRING); err != nil {
		return err
	}
	_, err = unix.KeyctlInt(unix.KEYCTL_SET_TIMEOUT, v.Key, 60, 0, 0)
	return err
}

func (v *victim) listen(secret string) error {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	v.TCP = tcp.Addr().(*net.TCPAddr).Port
	abstract, err := net.Listen("unix", "@"+v.Abstract)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	path, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		return err
	}
	for _, l := range []net.Listener{tcp, abstract, path} {
		go answer(l, secret)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	v.UDP = udp.LocalAddr().(*net.UDPAddr).Port
	gram, err := net.ListenPacket("unixgram", "@"+v.Abstract+"-gram")
	if err != nil {
		return err
	}
	go reply(udp, secret)
	go reply(gram, secret)
	return nil
}

func answer(l net.Listener, secret string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(c, secret)
		c.Close()
	}
}

func reply(p net.PacketConn, secret string) {
	b := make([]byte, 64)
	for {
		_, from, err := p.ReadFrom(b)
		if err != nil {
			return
		}
		p.WriteTo([]byte(secret+"\n"), from)
	}
}
