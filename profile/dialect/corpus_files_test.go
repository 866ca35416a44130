package dialect_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unpacked gives the real files that stand beside the project and have one of the
// suffixes, by path.
func unpacked(tb testing.TB, suffixes ...string) map[string][]byte {
	tb.Helper()
	archive := filepath.Join("..", "..", "..", "shared", "corpus", "corpus.tar.zst")
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
	files := map[string][]byte{}
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !slices.Contains(suffixes, filepath.Ext(h.Name)) {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		files[strings.TrimPrefix(h.Name, "corpus/")] = data
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
	return files
}

// corpus gives the Markdown files, and the list of all files.
func corpus(tb testing.TB) (files map[string][]byte, manifest string) {
	tb.Helper()
	files = unpacked(tb, ".md", ".tsv")
	manifest = string(files[manifestFile])
	delete(files, manifestFile)
	return files, manifest
}

const manifestFile = "MANIFEST.tsv"

// published gives the data files of one format of the list; empty: of all.
func published(tb testing.TB, format string) map[string][]byte {
	tb.Helper()
	files := unpacked(tb, ".toml", ".json", ".yaml", ".yml", ".tsv")
	out := map[string][]byte{}
	for _, r := range rows(string(files[manifestFile])) {
		if data, ok := files[r.path]; ok && (r.format == format || format == "") {
			out[r.path] = data
		}
	}
	return out
}
