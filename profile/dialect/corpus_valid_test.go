package dialect_test

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile/dialect"
)

// entry is one Markdown file of the corpus and what its list says of it.
type entry struct {
	path, format, valid, reason string
	data                        []byte
}

// entries gives the Markdown files of the corpus that are to have a frontmatter.
func entries(tb testing.TB) []entry {
	files, manifest := corpus(tb)
	var out []entry
	for row := range strings.Lines(manifest) {
		col := strings.Split(strings.TrimRight(row, "\n"), "\t")
		data, ok := files[col[0]]
		if !ok || len(col) < 7 || strings.Contains(col[6], "no-frontmatter") || path.Ext(col[0]) != ".md" {
			continue
		}
		out = append(out, entry{path: col[0], format: col[4], valid: col[5], reason: col[6], data: data})
	}
	return out
}

func (e entry) file() *dialect.File {
	return &dialect.File{Name: e.path, Path: e.path, Data: e.data, Claimed: true}
}

// plainYAML parses the frontmatter of a file with nothing of ours: nil if the
// file has none.
func plainYAML(t *testing.T, data []byte) *yaml.Node {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " ") != "---" {
		return nil
	}
	for i := 1; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " ") != "---" {
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(strings.Join(lines[1:i], "\n")+"\n"), &doc); err != nil {
			t.Fatalf("its list calls it valid: %v", err)
		}
		if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
			return nil
		}
		return doc.Content[0]
	}
	return nil
}

// sameTree says where two parsed values differ; empty: nowhere.
func sameTree(a, b *yaml.Node) string {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return show(a) + " is not " + show(b)
	}
	for i := range a.Content {
		if diff := sameTree(a.Content[i], b.Content[i]); diff != "" {
			return diff
		}
	}
	return ""
}

// TestCorpusValidIsUntouched: what is valid YAML is read as YAML says, every
// key of it, at its place, with no word of a repair; and Fix leaves the
// frontmatter alone.
func TestCorpusValidIsUntouched(t *testing.T) {
	compared := 0
	for _, e := range entries(t) {
		if e.valid != "yes" {
			continue
		}
		want := plainYAML(t, e.data)
		if want == nil {
			continue
		}
		fields, ds, ok := dialect.ReadDocument(e.file())
		if !ok || len(ds) > 0 {
			t.Errorf("%s: %v", e.path, ds)
			continue
		}
		if len(fields) != len(want.Content)/2 {
			t.Errorf("%s: %d keys, not %d", e.path, len(fields), len(want.Content)/2)
			continue
		}
		for i, f := range fields {
			k, v := want.Content[2*i], want.Content[2*i+1]
			if f.Key != k.Value || f.At.Line != k.Line+1 || f.At.Column != k.Column {
				t.Errorf("%s: key %q at %v, want %q at %d:%d", e.path, f.Key, f.At, k.Value, k.Line+1, k.Column)
			}
			if diff := sameTree(f.Node, v); diff != "" {
				t.Errorf("%s: %s: %s", e.path, f.Key, diff)
			}
		}
		if fixed, done := dialect.Fix(e.file()); len(done) > 0 || !bytes.Equal(fixed, e.data) {
			t.Errorf("%s: fixed: %v", e.path, done)
		}
		compared++
	}
	t.Logf("%d files", compared)
	if compared < 2500 {
		t.Errorf("only %d files were compared", compared)
	}
}
