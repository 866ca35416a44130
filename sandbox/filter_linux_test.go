package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter as the kernel does.
func judge(t *testing.T, f []unix.SockFilter, arch, number, argument uint32) uint32 {
	t.Helper()
	seen := map[uint32]uint32{0: number, 4: arch, 16: argument}
	var loaded uint32
	for at := 0; at < len(f); at++ {
		skip := func(when bool) {
			if when {
				at += int(f[at].Jt)
			} else {
				at += int(f[at].Jf)
			}
		}
		switch i := f[at]; i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = seen[i.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			skip(loaded == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			skip(loaded >= i.K)
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("instruction %d: %#x", at, i.Code)
		}
	}
	t.Fatal("the filter does not end")
	return 0
}

func TestCallFilter(t *testing.T) {
	const allow = unix.SECCOMP_RET_ALLOW
	tests := map[string]struct {
		goarch          string
		arch, number    uint32
		argument        uint32
		closed, withWeb uint32 // without a network and with one
	}{
		"read":                 {"amd64", unix.AUDIT_ARCH_X86_64, 0, 0, allow, allow},
		"connect":              {"amd64", unix.AUDIT_ARCH_X86_64, 42, 0, allow, allow},
		"before add_key":       {"amd64", unix.AUDIT_ARCH_X86_64, 247, 0, allow, allow},
		"add_key":              {"amd64", unix.AUDIT_ARCH_X86_64, 248, 0, noCall, noCall},
		"request_key":          {"amd64", unix.AUDIT_ARCH_X86_64, 249, 0, noCall, noCall},
		"keyctl":               {"amd64", unix.AUDIT_ARCH_X86_64, 250, 0, noCall, noCall},
		"after keyctl":         {"amd64", unix.AUDIT_ARCH_X86_64, 251, 0, allow, allow},
		"keyctl by x32":        {"amd64", unix.AUDIT_ARCH_X86_64, x32 | 250, 0, noCall, noCall},
		"keyctl by i386":       {"amd64", unix.AUDIT_ARCH_I386, 288, 0, noCall, noCall},
		"its number, by i386":  {"amd64", unix.AUDIT_ARCH_I386, 250, 0, allow, allow},
		"a unix socket":        {"amd64", unix.AUDIT_ARCH_X86_64, 41, unix.AF_UNIX, allow, allow},
		"a socket to the host": {"amd64", unix.AUDIT_ARCH_X86_64, 41, unix.AF_VSOCK, noFamily, allow},
		"its family elsewhere": {"amd64", unix.AUDIT_ARCH_X86_64, 42, unix.AF_VSOCK, allow, allow},
		"by i386":              {"amd64", unix.AUDIT_ARCH_I386, 359, unix.AF_VSOCK, noFamily, allow},
		"by socketcall":        {"amd64", unix.AUDIT_ARCH_I386, 102, 1, noCall, allow},
		"by io_uring":          {"amd64", unix.AUDIT_ARCH_X86_64, 425, 1, noCall, allow},
		"another machine":      {"amd64", unix.AUDIT_ARCH_AARCH64, 0, 0, noCall, noCall},
		"keyctl on arm64":      {"arm64", unix.AUDIT_ARCH_AARCH64, 219, 0, noCall, noCall},
		"keyctl by arm":        {"arm64", unix.AUDIT_ARCH_ARM, 311, 0, noCall, noCall},
		"others on arm64":      {"arm64", unix.AUDIT_ARCH_AARCH64, 220, 0, allow, allow},
		"the host on arm64":    {"arm64", unix.AUDIT_ARCH_AARCH64, 198, unix.AF_VSOCK, noFamily, allow},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for network, want := range map[bool]uint32{false: tt.closed, true: tt.withWeb} {
				if got := judge(t, callFilter(tt.goarch, network), tt.arch, tt.number, tt.argument); got != want {
					t.Errorf("network %v: got %#x, want %#x", network, got, want)
				}
			}
		})
	}
	if f := callFilter("riscv64", false); f != nil {
		t.Errorf("a machine that is not known has a filter: %v", f)
	}
}

// TestNoSocketToTheHostOfTheMachine: the filter is in place where there is no
// network.
func TestNoSocketToTheHostOfTheMachine(t *testing.T) {
	c, out := boxed(t, Bubblewrap)
	c.Box.Network = false
	c.Box.Read = append(c.Box.Read, filepath.Dir(os.Args[0]))
	c.Argv = []string{os.Args[0], "__probe", "vsock"}
	if _, err := c.Run(t.Context()); err != nil || !strings.Contains(out.String(), unix.EAFNOSUPPORT.Error()) {
		t.Errorf("%v, %s", err, out)
	}
}
