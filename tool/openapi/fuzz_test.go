package openapi_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/tool/openapi"
)

// FuzzLoad: whatever a document says, it is refused with a place, or what there is of
// operations is what callers rely on.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"openapi": "3.1.0", "paths": {"/a/{b}": {"get": {"parameters": [{"$ref": "#/x"}]}}}, "x": {"name": "b", "in": "path"}}`))
	f.Add([]byte("swagger: '2.0'\npaths: {/a: {post: {parameters: [{name: a, in: formData, type: file}]}}}"))
	f.Add([]byte("openapi: 3.0.0\n? [a]\n: &x {<<: *x}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := openapi.Load(t.Context(), openapi.Source{Name: "f", Data: data}, openapi.Options{MaxBytes: 1 << 16})
		if err != nil {
			if p := (*openapi.Problem)(nil); !errors.As(err, &p) || p.At.File != "f" || p.Text == "" {
				t.Errorf("refused without a place: %v", err)
			}
			return
		}
		ids := map[string]bool{}
		for _, op := range d.Operations {
			if !safe.MatchString(op.ID) || ids[op.ID] {
				t.Errorf("the ID %q is not safe or not unique", op.ID)
			}
			ids[op.ID] = true
			text, problems := op.Schema()
			if text == nil {
				if len(problems) == 0 {
					t.Errorf("%s has no schema, and nobody says why", op.ID)
				}
				continue
			}
			fuzzSchema(t, op, text)
		}
	})
}

func fuzzSchema(t *testing.T, op *openapi.Operation, text []byte) {
	t.Helper()
	if _, err := schema.Compile(text); err != nil {
		t.Errorf("%s: %v\n%s", op.ID, err, text)
	}
	var in struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(text, &in); err != nil {
		t.Errorf("%s: %v", op.ID, err)
	}
	args := op.Args()
	slices.Sort(args)
	if !slices.Equal(args, slices.Sorted(maps.Keys(in.Properties))) {
		t.Errorf("%s: takes %q, and its schema has %q", op.ID, args, slices.Sorted(maps.Keys(in.Properties)))
	}
	for _, a := range args {
		if len(a) > 64 || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != "" {
			t.Errorf("%s: the input %q has no safe name", op.ID, a)
		}
	}
}
