package dialect_test

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

// published gives the files of one format of the list of real files that stand
// beside the project, by path.
func published(tb testing.TB, format string) map[string][]byte {
	tb.Helper()
	files := unpacked(tb, func(name string) bool {
		switch filepath.Ext(name) {
		case ".toml", ".json", ".yaml", ".yml", ".tsv":
			return true
		}
		return false
	})
	out := map[string][]byte{}
	for row := range strings.Lines(string(files["MANIFEST.tsv"])) {
		col := strings.Split(strings.TrimRight(row, "\n"), "\t")
		if len(col) > 4 && (col[4] == format || format == "") && files[col[0]] != nil {
			out[col[0]] = files[col[0]]
		}
	}
	return out
}

func unpacked(tb testing.TB, want func(string) bool) map[string][]byte {
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
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "corpus/")
		if h.Typeflag != tar.TypeReg || !want(name) {
			continue
		}
		if files[name], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
	return files
}

// diagnosed lists codes and places, sorted.
func diagnosed(ds []profile.Diagnostic) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s:%d:%d", d.Code, d.Line, d.Column))
	}
	return strings.Join(sorted(out), " ")
}
