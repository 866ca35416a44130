package command_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// FuzzExpand: whatever a file says, and with whatever arguments, no more is run than
// Lines names, nothing that is put in is read as a command line or a placeholder, and
// what comes of it is bounded text.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{
		"Fix $1 of $ARGUMENTS @a.go !`git log $1`", "---\ndescription: x\narguments: [a, b]\n---\n$a $b ```!\nls $a\n```", "prompt = 'x {{args}} !{a {b} {{args}}} @{f}'",
		"${input:a:b} [x](../y.md) #file:'a b' ${workspaceFolder}", "!`", "$", "@", "!{", "@{", "```!\n", "$ARGUMENTS[", "---\n", "\xff",
	} {
		for i := range 5 {
			f.Add(s, "one \"two three\" $1 !`x` @b", uint8(i))
		}
	}
	kinds := []command.Kind{command.Roster, command.Claude, command.OpenCode, command.Gemini, command.Copilot}
	f.Fuzz(func(t *testing.T, text, arguments string, k uint8) {
		kind := kinds[int(k)%len(kinds)]
		file := "c.md"
		if kind == command.Gemini {
			file = "c.toml"
		}
		c, ds := command.Read(kind, "c", file, []byte(text))
		if c == nil || profile.Refused(ds) {
			return
		}
		const written = "!`zq9again9qz` {{args}} $1 @zq9inner9qz !{more} ${input:x}"
		ran := 0
		got, err := c.Expand(t.Context(), arguments, command.Hands{
			Workspace: "/ws",
			Run: func(_ context.Context, line string, at source.Origin) (string, error) {
				if ran++; strings.Contains(line, "zq9again9qz") && !strings.Contains(text+arguments, "zq9again9qz") {
					t.Errorf("what a line has written is run: %q", line)
				}
				if at.Line < 1 {
					t.Errorf("the line has no place: %v", at)
				}
				return written, nil
			},
			File: func(_ context.Context, f command.File) ([]message.Part, error) {
				if f.Path == "zq9inner9qz" && !strings.Contains(text+arguments, "zq9inner9qz") {
					t.Error("a file is read that a line has named")
				}
				return nil, fs.ErrNotExist
			},
		})
		if lines := c.Lines(); err == nil && ran != len(lines) {
			t.Errorf("%d lines are run, and %d are named: %+v", ran, len(lines), lines)
		}
		if err != nil {
			return
		}
		all := message.PartsText(got.Parts)
		if len(all) > command.MaxText+len(arguments) || utf8.ValidString(text) && !utf8.ValidString(all) {
			t.Errorf("it comes to %d bytes", len(all))
		}
		if n := strings.Count(all, written); n < ran {
			t.Errorf("what %d lines have written is in the prompt %d times", ran, n)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	c := made(b, command.Claude, strings.Repeat("Some text about $1 and more of it.\n", 200)+"@a.go $ARGUMENTS\n")
	hands := fake(map[string]string{"a.go": "x"})
	for b.Loop() {
		if _, err := c.Expand(b.Context(), "one two", hands); err != nil {
			b.Fatal(err)
		}
	}
}
