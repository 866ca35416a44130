package catalog_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func pipe(tb testing.TB, path string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		tb.Fatal(err)
	}
}
