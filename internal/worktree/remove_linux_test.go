package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRemoveWhatMayNotBeWrittenTo removes, as another user than root, folders
// that may not be written to.
func TestRemoveWhatMayNotBeWrittenTo(t *testing.T) {
	if dir := os.Getenv("TEST_REMOVE"); dir != "" {
		base, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer base.Close()
		if err := removeAll(base, "tree"); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "roster-remove-") // that of the test is root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"", "tree", "tree/mod", "tree/mod/in", "tree/shut"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tree/mod/in/f"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(dir, "tree/mod/in"), 0o500)
	os.Chmod(filepath.Join(dir, "tree/mod"), 0o500)
	os.Chmod(filepath.Join(dir, "tree/shut"), 0)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestRemoveWhatMayNotBeWrittenTo$")
	cmd.Env = []string{"TEST_REMOVE=" + dir}
	if os.Getuid() == 0 {
		const nobody = 65534
		err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
			if err == nil {
				err = os.Lchown(path, nobody, nobody)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "tree")); err == nil {
		t.Error("the tree is there")
	}
}
