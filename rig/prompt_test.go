package rig

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPrompt is the prompts of each bundling and event, as golden files.
func TestPrompt(t *testing.T) {
	const text = "# Title\n\n````md\n```go\ncode\n```\n````\nThe end"
	for _, c := range []struct {
		name, front string
		awaited     []Awaited
		strands     []Strand
	}{
		{"full", "", nil, []Strand{{Event: Modified, Path: "docs/a.md", Content: []byte(text)}}},
		{"empty", "", nil, []Strand{{Event: Created, Path: "docs/a.md"}}},
		{"path", "prompt-template: {input-bundling: path, instructions: First this.}", nil, []Strand{{Event: Created, Path: "docs/a `b`\n# c.md", Content: []byte(text)}}},
		{"diff", "prompt-template: {input-bundling: diff}", nil, []Strand{{Event: Modified, Path: "docs/a.md", Content: []byte("b\n"), Diff: "@@ -1 +1 @@\n-a\n+b\n"}}},
		{"nodiff", "prompt-template: {input-bundling: diff}", nil, []Strand{{Event: Created, Path: "docs/a.md", Content: []byte("b\n")}}},
		{"batch", "prompt-template: {input-bundling: batch}", nil, []Strand{
			{Event: Created, Path: "docs/a.md", Content: []byte("a\n")}, {Event: Deleted, Path: "docs/b.md"}, {Event: Modified, Path: "docs/c.md", Content: []byte("c")}}},
		{"deleted", "", nil, []Strand{{Event: Deleted, Path: "docs/a.md"}}},
		{"asked", "", nil, []Strand{{Event: Asked, Path: "docs/a.md", Content: []byte("a")}}},
		{"scheduled", "", nil, []Strand{{Event: Scheduled, At: time.Date(2026, 3, 27, 9, 30, 0, 0, time.UTC)}}},
		{"event", "", []Awaited{{"Fixed", []string{"the document is right", "nothing is left"}}, {"Left", nil}}, []Strand{
			{Event: "Reviewed", From: "a-loom/review", About: "docs/a.md", Description: "The document\nis wrong.", Content: []byte("line: 3\n")}}},
		{"eventalone", "", nil, []Strand{{Event: "Reviewed", From: "a-loom/review"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := valid(t, "agent-profile-ref: fast\nstrand-dir: docs\n"+c.front)
			got := k.Prompt(c.awaited, c.strands...)
			file := filepath.Join("testdata", "prompt", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
