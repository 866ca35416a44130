package apidoc_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/apidoc"
)

//go:generate go test -run ^TestDocument$ . -update

var update = flag.Bool("update", false, "write docs/reference/openapi.json")

const (
	root   = "../.."
	module = "github.com/rosterrun/roster"
)

// TestDocument holds the document against the routes, the types and their comments.
// With -update it writes it.
func TestDocument(t *testing.T) {
	home := t.TempDir()
	app, _, err := roster.Open(t.TempDir(), roster.Options{State: t.TempDir(), Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	h := app.Handler()
	t.Cleanup(func() {
		h.Shutdown()
		if err := app.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	want, err := apidoc.New(root, module, h.Operations())
	if err != nil {
		t.Fatalf("%v\nsay what it is in host/describe*.go, and run go generate ./...", err)
	}
	path := filepath.Join(root, "docs", "reference", "openapi.json")
	if *update {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("%s is not up to date: run make generate\n%s", path, diff)
	}
	doc, err := openapi3.NewLoader().LoadFromData(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}
