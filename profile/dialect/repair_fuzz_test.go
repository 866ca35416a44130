package dialect_test

import (
	"bytes"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// FuzzRepair: a frontmatter that YAML accepts is read as YAML says; what is
// repaired is read the same once it is fixed; a fix is final; and every
// diagnostic has a place in the file.
func FuzzRepair(f *testing.F) {
	for _, s := range []string{
		"a: b: c # d\r\ne: *\n", "a: [b] | [c]\n", "a:\n\tb: c: d\n", "description: a\n\n  - b: c\n", "a: \"b \"c\" d\"\n",
		"a: 'it's'\n", "a: [*, @b, 'c']\n", "a: &x b\nc: *y\n", "a: \"b\nc: d\"\ne: f: g\n", "handoffs:\n  - label: a: b\n    x: y\n",
		"a: \"\\d\"\n", "*: a\nb:\n  *: c\n", "a: b: c\rd\u2028e\n", "a: >=3\n", "a: |\n  b\n c\n", "- a\n", "a: b\n--- x\n", "a: b\x00\n",
	} {
		f.Add([]byte("---\n" + s + "---\nbody\n"))
		f.Add([]byte("\ufeff\n<!-- a\r\nb -->\n---\r\n" + s + "---"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.Clone(data)
		file := &dialect.File{Name: "f.md", Path: "f.md", Data: data}
		fields, ds, ok := dialect.ReadDocument(file)
		lines := 1 + bytes.Count(data, []byte("\n"))
		for i := range ds {
			if ds[i].Line < 1 || ds[i].Line > lines || ds[i].Column < 1 || ds[i].Message == "" {
				t.Errorf("no place: %v", &ds[i])
			}
		}
		if ok == profile.Refused(ds) {
			t.Errorf("read is %v: %v", ok, ds)
		}
		untouched(t, data, fields, ds, ok)
		fixed, done := dialect.Fix(file)
		if !bytes.Equal(in, data) {
			t.Fatal("the input was changed")
		}
		if len(done) == 0 && !bytes.Equal(fixed, data) {
			t.Fatal("fixed, and nothing is said")
		}
		g := &dialect.File{Name: "f.md", Path: "f.md", Data: fixed}
		again, _, okAgain := dialect.ReadDocument(g)
		if ok != okAgain || ok && len(fields) != len(again) {
			t.Fatalf("%q was read, %v, and fixed as %q it is %v", data, ok, fixed, okAgain)
		}
		for i := range again {
			if diff := sameTree(fields[i].Node, again[i].Node); ok && (diff != "" || fields[i].Key != again[i].Key) {
				t.Errorf("%q fixed as %q: %s: %s", data, fixed, fields[i].Key, diff)
			}
		}
		if last, done := dialect.Fix(g); len(done) > 0 || !bytes.Equal(last, fixed) {
			t.Errorf("%q fixed as %q changes again to %q", data, fixed, last)
		}
	})
}

// untouched checks that valid YAML is read as it is.
func untouched(t *testing.T, data []byte, fields []dialect.ReadField, ds []profile.Diagnostic, ok bool) {
	t.Helper()
	front, _ := profile.Split("f.md", data)
	var doc yaml.Node
	if front.BodyLine == 0 || yaml.Load(front.YAML, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return
	}
	for i := range ds {
		if ds[i].Code == profile.CodeRepaired || ds[i].Code == profile.CodeTabs {
			t.Errorf("%q is valid: %v", front.YAML, &ds[i])
		}
	}
	root := doc.Content[0]
	if !ok || len(fields) != len(root.Content)/2 {
		return // deeper than is allowed
	}
	for i, fd := range fields {
		if diff := sameTree(fd.Node, root.Content[2*i+1]); diff != "" {
			t.Errorf("%q: %s: %s", front.YAML, fd.Key, diff)
		}
	}
}
