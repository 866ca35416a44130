// Package corpus gives tests the real agent files that stand beside the project,
// in ../shared/corpus. It is for tests, which it skips where they are absent.
package corpus

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ManifestFile is the list of all files: a line each, its fields set apart by tabs.
const ManifestFile = "MANIFEST.tsv"

// Files gives the files that match, by their paths with slashes; nil: all.
func Files(tb testing.TB, match func(path string) bool) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	each(tb, match, func(path string, h *tar.Header, r io.Reader) error {
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		data, err := io.ReadAll(r)
		files[path] = data
		return err
	})
	return files
}

// Dir unpacks the files that match, and links among them, into a folder that goes
// with the test.
func Dir(tb testing.TB, match func(path string) bool) string {
	tb.Helper()
	dir := tb.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer root.Close()
	each(tb, match, func(path string, h *tar.Header, r io.Reader) error {
		name := filepath.FromSlash(path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			f, err := root.Create(name)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, r)
			return errors.Join(err, f.Close())
		case tar.TypeSymlink:
			return root.Symlink(h.Linkname, name)
		}
		return nil
	})
	return dir
}

// each goes through the archive.
func each(tb testing.TB, match func(string) bool, do func(string, *tar.Header, io.Reader) error) {
	tb.Helper()
	_, self, _, _ := runtime.Caller(0)
	archive := filepath.Join(filepath.Dir(self), "..", "..", "..", "shared", "corpus", "corpus.tar.zst")
	if _, err := os.Stat(archive); err != nil {
		tb.Skipf("SKIPPED: the corpus of real files is not beside the project: %v", err)
	}
	cmd := exec.CommandContext(tb.Context(), "zstd", "-dc", "--long=27", archive)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		path := strings.TrimPrefix(h.Name, "corpus/")
		if h.Typeflag == tar.TypeDir || match != nil && !match(path) {
			continue
		}
		if err := do(path, h, r); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
}
