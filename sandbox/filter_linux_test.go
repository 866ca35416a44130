package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter as the kernel does.
func judge(t *testing.T, f []unix.SockFilter, arch, number uint32) uint32 {
	t.Helper()
	seen := map[uint32]uint32{0: number, 4: arch}
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

func TestKeyFilter(t *testing.T) {
	const refused = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	tests := map[string]struct {
		goarch       string
		arch, number uint32
		want         uint32
	}{
		"read":                     {"amd64", unix.AUDIT_ARCH_X86_64, 0, unix.SECCOMP_RET_ALLOW},
		"connect":                  {"amd64", unix.AUDIT_ARCH_X86_64, 42, unix.SECCOMP_RET_ALLOW},
		"before add_key":           {"amd64", unix.AUDIT_ARCH_X86_64, 247, unix.SECCOMP_RET_ALLOW},
		"add_key":                  {"amd64", unix.AUDIT_ARCH_X86_64, 248, refused},
		"request_key":              {"amd64", unix.AUDIT_ARCH_X86_64, 249, refused},
		"keyctl":                   {"amd64", unix.AUDIT_ARCH_X86_64, 250, refused},
		"after keyctl":             {"amd64", unix.AUDIT_ARCH_X86_64, 251, unix.SECCOMP_RET_ALLOW},
		"keyctl by x32":            {"amd64", unix.AUDIT_ARCH_X86_64, x32 | 250, refused},
		"keyctl by i386":           {"amd64", unix.AUDIT_ARCH_I386, 288, refused},
		"its number, by i386":      {"amd64", unix.AUDIT_ARCH_I386, 250, unix.SECCOMP_RET_ALLOW},
		"another machine":          {"amd64", unix.AUDIT_ARCH_AARCH64, 0, refused},
		"keyctl on arm64":          {"arm64", unix.AUDIT_ARCH_AARCH64, 219, refused},
		"keyctl by arm":            {"arm64", unix.AUDIT_ARCH_ARM, 311, refused},
		"anything else on arm64":   {"arm64", unix.AUDIT_ARCH_AARCH64, 220, unix.SECCOMP_RET_ALLOW},
		"anything else by arm too": {"arm64", unix.AUDIT_ARCH_ARM, 219, unix.SECCOMP_RET_ALLOW},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, keyFilter(tt.goarch), tt.arch, tt.number); got != tt.want {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
	if f := keyFilter("riscv64"); f != nil {
		t.Errorf("a machine whose numbers are not known has a filter: %v", f)
	}
}
