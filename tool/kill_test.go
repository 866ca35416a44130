package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// marked lists the processes that have the marker in their environment.
func marked(t *testing.T, mark string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			cmdline, _ := os.ReadFile(filepath.Dir(f) + "/cmdline")
			found = append(found, f+": "+string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return found
}
