package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/internal/corpus"
	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/tool/openapi"
)

var update = flag.Bool("update", false, "write the golden files")

// realDocuments are the folders of the corpus that hold OpenAPI documents.
var realDocuments = []string{"OAI+learn.openapis.org", "apis-guru", "npm-readme-oas-examples", "swagger-api+swagger-petstore"}

func loadReal(t *testing.T, dir, path string, o openapi.Options) (*openapi.Document, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(filepath.Join(dir, filepath.Dir(path)))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	return openapi.Load(t.Context(), openapi.Source{Name: path, Data: data, Dir: folder}, o)
}

// TestRealDocuments loads every file beside the real documents. The table says what
// each has, or why it is refused.
func TestRealDocuments(t *testing.T) {
	files := corpus.Files(t, func(path string) bool {
		return slices.ContainsFunc(realDocuments, func(d string) bool { return strings.HasPrefix(path, "_aux/"+d+"/") })
	})
	dir := corpus.Dir(t, func(path string) bool { return files[path] != nil })
	var table bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(files)) {
		d, err := loadReal(t, dir, path, openapi.Options{})
		if err != nil {
			fmt.Fprintf(&table, "%s: refused: %s\n", path, strings.TrimPrefix(err.Error(), path+":"))
			continue
		}
		inputs, problems := checkOperations(t, path, d)
		problems = append(slices.Clone(d.Problems), problems...)
		fmt.Fprintf(&table, "%s: %s, %d operations, %d inputs\n", path, d.Format, d.Total, inputs)
		for _, p := range problems {
			fmt.Fprintf(&table, "\t%s\n", p.Error())
		}
	}
	golden(t, "testdata/corpus.txt", table.Bytes())
}

var safe = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkOperations holds operations against what callers rely on.
func checkOperations(t *testing.T, path string, d *openapi.Document) (inputs int, problems []openapi.Problem) {
	t.Helper()
	ids := map[string]bool{}
	for _, op := range d.Operations {
		if !safe.MatchString(op.ID) || ids[op.ID] {
			t.Errorf("%s: the ID %q is not safe or not unique", path, op.ID)
		}
		ids[op.ID] = true
		text, more := op.Schema()
		problems = append(problems, more...)
		if text == nil {
			continue
		}
		if _, err := schema.Compile(text); err != nil {
			t.Errorf("%s: %s: %v\n%s", path, op.ID, err, text)
		}
		var in struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(text, &in); err != nil {
			t.Errorf("%s: %s: %v", path, op.ID, err)
		}
		args := op.Args()
		slices.Sort(args)
		if !slices.Equal(args, slices.Sorted(maps.Keys(in.Properties))) {
			t.Errorf("%s: %s: takes %q, and its schema has %q", path, op.ID, args, slices.Sorted(maps.Keys(in.Properties)))
		}
		inputs += len(args)
	}
	return inputs, problems
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: with -update it is written anew\n%s", path, diff)
	}
}

// differing are documents whose twins say something else.
var differing = []string{"v2.0/json/uber.json", "v3.1/tictactoe.json", "3.1/json/parameters-style.json"}

// TestJSONAndYAML reads documents that stand in both: they say the same.
func TestJSONAndYAML(t *testing.T) {
	dir := corpus.Dir(t, func(path string) bool {
		return strings.HasPrefix(path, "_aux/npm-readme-oas-examples/") || strings.HasPrefix(path, "_aux/OAI+learn.openapis.org/examples/")
	})
	pairs := 0
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		twin := strings.TrimSuffix(strings.ReplaceAll(rel, "/json/", "/yaml/"), ".json") + ".yaml"
		other := func(name string) bool { return strings.HasSuffix(filepath.ToSlash(rel), "/"+name) }
		if _, err := os.Stat(filepath.Join(dir, twin)); err != nil || slices.ContainsFunc(differing, other) {
			return nil
		}
		a, err := loadReal(t, dir, rel, openapi.Options{})
		if err != nil {
			return nil // as the table of all says
		}
		b, err := loadReal(t, dir, twin, openapi.Options{})
		if err != nil {
			return err
		}
		pairs++
		if diff := cmp.Diff(summary(a), summary(b)); diff != "" {
			t.Errorf("%s differs from %s:\n%s", twin, rel, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pairs < 50 {
		t.Errorf("only %d documents stand in both", pairs)
	}
}

// summary is what is known of the operations of a document, apart from their places.
func summary(d *openapi.Document) []string {
	var lines []string
	for _, op := range d.Operations {
		text, _ := op.Schema()
		lines = append(lines, fmt.Sprintf("%s %s %s %v %s", op.ID, op.Method, op.Path, op.Security, text))
	}
	slices.Sort(lines)
	return lines
}
