package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPictureOfTheExampleRig: the picture in the example is the one that roster draws.
func TestPictureOfTheExampleRig(t *testing.T) {
	w := newWorkspace(t)
	example := filepath.Join(root(t), "examples", "docs-review")
	r := w.run(nil, "--dir", example, "--trust", "rig", "graph", "--format", "svg")
	picture, err := os.ReadFile(filepath.Join(example, "rig.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if r.code != 0 || r.stdout != string(picture) {
		t.Errorf("write it anew: roster --dir %s --trust rig graph --format svg -o %s/rig.svg\n%+v", example, example, r)
	}
}
