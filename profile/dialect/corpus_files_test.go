package dialect_test

import (
	"path/filepath"
	"slices"
	"testing"

	realfiles "github.com/rosterrun/roster/internal/corpus"
)

// unpacked gives the real files that stand beside the project and have one of the
// suffixes, by path.
func unpacked(tb testing.TB, suffixes ...string) map[string][]byte {
	tb.Helper()
	return realfiles.Files(tb, func(path string) bool { return slices.Contains(suffixes, filepath.Ext(path)) })
}

// corpus gives the Markdown files, and the list of all files.
func corpus(tb testing.TB) (files map[string][]byte, manifest string) {
	tb.Helper()
	files = unpacked(tb, ".md", ".tsv")
	manifest = string(files[realfiles.ManifestFile])
	delete(files, realfiles.ManifestFile)
	return files, manifest
}

// published gives the data files of one format of the list; empty: of all.
func published(tb testing.TB, format string) map[string][]byte {
	tb.Helper()
	files := unpacked(tb, ".toml", ".json", ".yaml", ".yml", ".tsv")
	out := map[string][]byte{}
	for _, r := range rows(string(files[realfiles.ManifestFile])) {
		if data, ok := files[r.path]; ok && (r.format == format || format == "") {
			out[r.path] = data
		}
	}
	return out
}
