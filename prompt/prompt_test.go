package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// workspace makes a directory with the files given and opens it.
func workspace(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestText(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("hunter2"), 0o644); err != nil {
		t.Fatal(err)
	}
	root := workspace(t, map[string]string{
		"prompts/review.md": "\nYou review.\n", "latin1.txt": "caf\xe9", "big.txt": strings.Repeat("x", maxFile+1),
	})
	if err := os.Symlink(outside, filepath.Join(root.Name(), "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root.Name(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 4, Column: 1}
	for _, c := range []struct {
		name   string
		system string
		want   string
		fails  string
	}{
		{"a text", "\nYou are brief. ", "You are brief.", ""},
		{"a file", "file:prompts/review.md", "You review.", ""},
		{"a file with a blank after the colon", "file: prompts/review.md", "You review.", ""},
		{"text that merely looks like a template", "Write {{name}} as it is.", "Write {{name}} as it is.", ""},
		{"a missing file", "file:prompts/none.md", "", "profiles/a.md:4:1: the prompt file prompts/none.md cannot be read"},
		{"a file above", "file:../x", "", "cannot be read"},
		{"an absolute path", "file:" + outside, "", "cannot be read"},
		{"a link out of the workspace", "file:link.txt", "", "cannot be read"},
		{"a pipe", "file:pipe", "", "it is not a file"},
		{"a directory", "file:prompts", "", "it is not a file"},
		{"not text", "file:latin1.txt", "", "not UTF-8"},
		{"too big", "file:big.txt", "", "more than"},
		{"a reference", "{{reviewer}}", "", `profiles/a.md:4:1: there is no prompt "reviewer" (declare it in roster.yaml, or in prompts/reviewer.yaml)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, from, err := NewComposer(root, nil, nil).Text(profile.Value[string]{V: c.system, Set: true, At: at})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "hunter2") {
					t.Fatalf("error = %v, want %q", err, c.fails)
				}
				var fe *FileError
				if strings.HasPrefix(c.system, "file:") && !errors.As(err, &fe) {
					t.Errorf("%T is no *FileError", err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("Text = %q, %v, want %q", got, err, c.want)
			}
			if strings.HasPrefix(c.system, "file:") != (from.File == "prompts/review.md") {
				t.Errorf("it is from %+v", from)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	long := strings.Repeat("ä", maxInstructions)
	for _, c := range []struct {
		name  string
		files map[string]string
		has   []string
		from  []string
		codes []string
	}{
		{"without instructions", nil, []string{"Workspace: /ws", "Platform: linux/amd64"}, nil, nil},
		{"with both", map[string]string{"AGENTS.md": "Use tabs.", "CLAUDE.md": "Be kind."},
			[]string{"(AGENTS.md)\n\nUse tabs.", "(CLAUDE.md)\n\nBe kind."}, []string{"AGENTS.md", "CLAUDE.md"}, nil},
		{"the same text twice is there once", map[string]string{"AGENTS.md": "Same.", "CLAUDE.md": "Same.\n"}, []string{"Same."}, []string{"AGENTS.md"}, nil},
		{"too long", map[string]string{"AGENTS.md": long}, []string{"this is its beginning"}, []string{"AGENTS.md"}, []string{CodeCut}},
		{"not text", map[string]string{"CLAUDE.md": "\xff"}, []string{"Workspace"}, nil, []string{CodeLeftOut}},
		{"blank", map[string]string{"CLAUDE.md": " \n"}, []string{"Workspace"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, from, ds := Surroundings{Root: workspace(t, c.files), Workspace: "/ws", Platform: "linux/amd64"}.Compose()
			for _, want := range c.has {
				if strings.Count(text, want) != 1 {
					t.Errorf("%q stands %d times in %.200q", want, strings.Count(text, want), text)
				}
			}
			if !utf8.ValidString(text) || len(text) > maxInstructions+1000 {
				t.Errorf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
			}
			var codes []string
			for _, d := range ds {
				codes = append(codes, d.Code)
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" {
				t.Errorf("diagnostics: %s", diff)
			}
			if diff := cmp.Diff(c.from, from); diff != "" {
				t.Errorf("files: %s", diff)
			}
		})
	}
}
