package strand_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/rig/strand"
)

// TestWhatCannotBeListedIsNotGone scans, as another user than root, folders that may
// not be listed, or not be entered.
func TestWhatCannotBeListedIsNotGone(t *testing.T) {
	if dir := os.Getenv("TEST_UNREAD"); dir != "" {
		l, err := open(t, dir, strand.Options{}).Scan(t.Context())
		must(t, err)
		if got := listed(l); got != "a.md sub/b.md" || l.Missing {
			t.Errorf("%q, missing %v", got, l.Missing)
		}
		for name, want := range map[string]bool{"shut/x.md": false, "shut/y/z.md": false, "named/x.md": false, "sub/none.md": true, "shut.md": true} {
			if l.Knows(name) != want {
				t.Errorf("%s: %v, of %v", name, !want, l.Unread)
			}
		}
		return
	}
	dir, err := os.MkdirTemp("", "roster-unread-") // that of the test is root's alone
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"a.md", "sub/b.md", "shut/x.md", "named/x.md"} {
		put(t, filepath.Join(dir, name), "")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestWhatCannotBeListedIsNotGone$")
	cmd.Env = []string{"TEST_UNREAD=" + dir}
	if os.Getuid() == 0 {
		const nobody = 65534
		must(t, filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
			if err == nil {
				err = os.Lchown(path, nobody, nobody)
			}
			return err
		}))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
	must(t, os.Chmod(filepath.Join(dir, "named"), 0o400))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
