package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

const (
	brokenText = "---\nname: lame\ntools: [read, grep\n---\nWalk.\n"
	mendedText = "---\nname: lame\ndescription: Walks.\ntools: [read, grep]\n---\nWalk.\n"
)

// texts is a workspace with a file that loads, one that does not, and links.
func texts(t *testing.T) (c *catalog.Catalog, dir, home string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(dir, "profiles/sound.md"):            "---\nname: sound\ndescription: Runs.\n---\nRun.\n",
		filepath.Join(dir, "profiles/lame.md"):             brokenText,
		filepath.Join(dir, "README.md"):                    "# Not one\n",
		filepath.Join(dir, "kept/target.md"):               "---\nname: target\ndescription: Lies elsewhere.\n---\nLie.\n",
		filepath.Join(dir, "opencode.json"):                `{"agent": {"helper": {"description": "Helps.", "prompt": "Help."}}}`,
		filepath.Join(home, "profiles/my-own.md"):          "---\nname: my-own\ndescription: Is mine.\n---\nBe mine.\n",
		filepath.Join(dir, "profiles/d/config.json"):       `{"id": "d", "name": "D", "description": "Is a folder.", "model": "m", "llm_backend": "ollama"}`,
		filepath.Join(dir, "profiles/d/system_prompt.txt"): "You are a folder.\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../kept/target.md", filepath.Join(dir, "profiles/link.md")); err != nil {
		t.Fatal(err)
	}
	return writable(dir, home, t.TempDir()), dir, home
}

// TestTextOfABrokenFile reads what does not load, and mends it.
func TestTextOfABrokenFile(t *testing.T) {
	c, dir, _ := texts(t)
	was, err := c.Text("profiles/lame.md")
	if err != nil || was.Text != brokenText || was.Status != catalog.Refused || was.ReadOnly != nil || !profile.Refused(was.Diagnostics) || was.Revision == "" {
		t.Fatalf("%+v, %v", was, err)
	}
	is, err := c.SetText(t.Context(), "profiles/lame.md", []byte(mendedText), catalog.TextOptions{IfMatch: was.Revision})
	if err != nil || is.Text != mendedText || is.Status != catalog.Loaded || is.Name != "lame" || is.Revision == was.Revision {
		t.Fatalf("%+v, %v", is, err)
	}
	if p, err := c.Get("lame"); err != nil || p.Description.V != "Walks." {
		t.Errorf("%+v, %v", p, err)
	}
	if got := contents(t, filepath.Join(dir, "profiles/lame.md")); got != mendedText {
		t.Errorf("the file has %q", got)
	}
	versions, _, err := c.History(t.Context(), "lame")
	if err != nil || len(versions) != 2 || !versions[0].Current {
		t.Errorf("the history is %+v, %v", versions, err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "profiles", ".*")); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestSetTextRefuses: what is refused changes nothing.
func TestSetTextRefuses(t *testing.T) {
	c, dir, home := texts(t)
	before, own := files(t, dir), files(t, home)
	mine, err := c.Get("my-own")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := errors.New("not you")
	for _, tt := range []struct {
		name, path, text string
		o                catalog.TextOptions
		want             error
	}{
		{"what does not load", "profiles/sound.md", brokenText, catalog.TextOptions{}, profile.InvalidYAML},
		{"another revision", "profiles/sound.md", mendedText, catalog.TextOptions{IfMatch: "0a1b"}, profile.RevisionMismatch},
		{"a name that is taken", "profiles/sound.md", strings.Replace(mendedText, "lame", "target", 1), catalog.TextOptions{Force: true}, profile.ProfileExists},
		{"what the caller may not say", "profiles/sound.md", mendedText, catalog.TextOptions{Check: func(before, after []*profile.Profile) error {
			if len(before) != 1 || len(after) != 1 || before[0].Name != "sound" || after[0].Name != "lame" {
				t.Errorf("asked about %v, %v", before, after)
			}
			return forbidden
		}}, forbidden},
		{"a new file", "profiles/new.md", mendedText, catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"no profile", "README.md", mendedText, catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"outside", "../" + filepath.Base(dir) + "/profiles/sound.md", mendedText, catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"not clean", "profiles/./sound.md", mendedText, catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"absolute", filepath.Join(dir, "profiles/sound.md"), mendedText, catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"a prompt of a folder", "profiles/d/system_prompt.txt", "x", catalog.TextOptions{Force: true}, profile.ProfileNotFound},
		{"a link", "profiles/link.md", mendedText, catalog.TextOptions{Force: true}, profile.ReadOnly},
		{"the user's own", mine.File, mendedText, catalog.TextOptions{Force: true}, profile.ReadOnly},
		{"a configuration", "opencode.json", "{}", catalog.TextOptions{Force: true}, profile.ReadOnly},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := c.SetText(t.Context(), tt.path, []byte(tt.text), tt.o); !errors.Is(err, tt.want) {
				t.Errorf("%+v, %v; want %v", got, err, tt.want)
			}
		})
	}
	if files(t, dir) != before || files(t, home) != own {
		t.Errorf("files have changed: %s", files(t, dir))
	}
}

// TestSetTextForced saves what does not load, and it can be mended again.
func TestSetTextForced(t *testing.T) {
	c, _, _ := texts(t)
	got, err := c.SetText(t.Context(), "profiles/sound.md", []byte("---\nname: sound\ntools: [\n---\n"), catalog.TextOptions{Force: true})
	if err != nil || got.Status != catalog.Refused || !profile.Refused(got.Diagnostics) {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := c.SetText(t.Context(), "profiles/sound.md", []byte("---\nname: sound\ndescription: Runs again.\n---\nRun.\n"), catalog.TextOptions{IfMatch: got.Revision}); err != nil {
		t.Error(err)
	}
	if p, err := c.Get("sound"); err != nil || p.Description.V != "Runs again." {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestTextOfAFolder: the text of a directory profile is judged with its other files.
func TestTextOfAFolder(t *testing.T) {
	c, _, _ := texts(t)
	was, err := c.Text("profiles/d/config.json")
	if err != nil || was.Dialect != "directory" || was.ReadOnly != nil {
		t.Fatalf("%+v, %v", was, err)
	}
	is, err := c.SetText(t.Context(), "profiles/d/config.json", []byte(strings.Replace(was.Text, "Is a folder", "Still is one", 1)), catalog.TextOptions{IfMatch: was.Revision})
	if err != nil || is.Status != catalog.Loaded {
		t.Fatalf("%+v, %v", is, err)
	}
	if p, err := c.Get("d"); err != nil || p.Description.V != "Still is one." || !strings.Contains(p.SystemPrompt.V+p.Body, "You are a folder") {
		t.Errorf("%+v, %v", p, err)
	}
}
