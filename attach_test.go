package roster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"

// TestAttach: files that the user names go with the prompt, as the profile may
// read them, and everything else stays text.
func TestAttach(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, "roster.yaml", "")
	write(t, dir, "profiles/p.md", "---\ndescription: Reads.\nmodel: script:none.yaml\npermission: {read: {\"no/**\": deny}}\n---\nRead.\n")
	write(t, dir, "a.txt", "alpha\n")
	write(t, dir, "sub/b c.md", "beta\n")
	write(t, dir, "no/secret.txt", "s\n")
	write(t, dir, "x.env", "KEY=1\n")
	write(t, dir, "picture.txt", onePixel)
	write(t, dir, "data.bin", "a\x00b")
	write(t, other, "out.txt", "outside\n")
	if err := os.Symlink(filepath.Join(other, "out.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(t.Context()) })
	for _, c := range []struct {
		name, prompt string
		want         []string // what the parts after the prompt hold
		refused      string
		missed       string
	}{
		{"none", "plain, me@a.txt, @nobody and @", nil, "", ""},
		{"one", "look at @a.txt", []string{"@a.txt:\n     1\talpha"}, "", ""},
		{"at the end of a sentence", "Is it (@a.txt)? Or @a.txt.", []string{"alpha"}, "", ""},
		{"in quotes", `@"sub/b c.md" then`, []string{"beta"}, "", ""},
		{"two", "@a.txt @./a.txt", []string{"alpha", "alpha"}, "", ""},
		{"an image by its bytes", "@picture.txt", []string{"picture.txt (image/png", "image"}, "", ""},
		{"what would be asked for", "@x.env", []string{"KEY=1"}, "", ""},
		{"a folder", "@sub", nil, "", ""},
		{"what is denied", "@no/secret.txt", nil, "@no/secret.txt: the profile may not read it", ""},
		{"outside", "@" + filepath.Join(other, "out.txt"), nil, "outside of the workspace", ""},
		{"outside, by a way up", "@../" + filepath.Base(other) + "/out.txt", nil, "outside", ""},
		{"outside, by a link", "@link.txt", nil, "@link.txt: ", ""},
		{"what is no text", "@data.bin", nil, "is a binary file", ""},
		{"what is not there", "see @a.txt, @gone.txt and @gone/too", []string{"alpha"}, "", "gone.txt gone/too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.prompt, "@../") && filepath.Dir(dir) != filepath.Dir(other) {
				c.prompt = "@../../" + filepath.Base(filepath.Dir(other)) + "/" + filepath.Base(other) + "/out.txt"
			}
			parts, missed, err := app.Attach(t.Context(), "p", session.Overrides{}, c.prompt)
			var refused *roster.AttachError
			if c.refused != "" {
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("err = %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(missed, " "); got != c.missed {
				t.Errorf("missed %q, want %q", got, c.missed)
			}
			if len(parts) != len(c.want)+1 || parts[0] != message.Part(message.Text{Text: c.prompt}) {
				t.Fatalf("%d parts: %v", len(parts), parts)
			}
			for i, want := range c.want {
				switch p := parts[i+1].(type) {
				case message.Text:
					if !strings.Contains(p.Text, want) {
						t.Errorf("part %d is %q, want %q", i+1, p.Text, want)
					}
				case message.Image:
					if want != "image" || p.MediaType != "image/png" {
						t.Errorf("part %d is an image of %s", i+1, p.MediaType)
					}
				}
			}
		})
	}
}
