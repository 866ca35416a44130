package command_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/internal/corpus"
	"github.com/rosterrun/roster/message"
)

var update = flag.Bool("update", false, "write the golden files")

// realCommands are the commands of the corpus.
func realCommands(t testing.TB) (files map[string][]byte, kinds map[string]command.Kind) {
	manifest := corpus.Files(t, func(p string) bool { return p == corpus.ManifestFile })
	kinds = map[string]command.Kind{}
	for line := range strings.Lines(string(manifest[corpus.ManifestFile])) {
		f := strings.Split(line, "\t")
		switch f[4] {
		case "claude-command":
			kinds[f[0]] = command.Claude
		case "opencode-command":
			kinds[f[0]] = command.OpenCode
		case "gemini-command-toml":
			kinds[f[0]] = command.Gemini
		}
	}
	return corpus.Files(t, func(p string) bool { return kinds[p] != "" }), kinds
}

// TestRealCommands expands every command of the corpus as its system documents it, and
// holds what each of them uses and lacks against a table.
func TestRealCommands(t *testing.T) {
	files, kinds := realCommands(t)
	if len(files) < 255 {
		t.Fatalf("there are %d commands", len(files))
	}
	const arguments = `one "two words" three`
	var table strings.Builder
	for _, p := range slices.Sorted(maps.Keys(files)) {
		name := strings.TrimSuffix(path.Base(p), path.Ext(p))
		c, ds := command.Read(kinds[p], name, p, files[p])
		if c == nil {
			t.Errorf("%s is not read: %+v", p, ds)
			continue
		}
		for i := range ds {
			if ds[i].Severity == "error" {
				t.Errorf("%s: %v", p, &ds[i])
			}
		}
		got, err := c.Expand(t.Context(), arguments, fake(nil))
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		text := got.Parts[0].(message.Text).Text
		if diff := cmp.Diff(documented(c, name, arguments), text); diff != "" {
			t.Errorf("%s:\n%s", p, diff)
		}
		fmt.Fprintf(&table, "%s %s: %s\n", c.Kind, p, usesOf(c, got))
	}
	golden(t, "testdata/corpus.golden", table.String())
}

func usesOf(c *command.Command, e *command.Expanded) string {
	uses := []string{"expands"}
	if c.TakesArguments() {
		uses = append(uses, "arguments")
	}
	if n := len(c.Lines()); n > 0 {
		uses = append(uses, fmt.Sprintf("%d lines", n))
	}
	for _, a := range c.Allows {
		uses = append(uses, "allows "+a.Tool+" "+a.Subject)
	}
	if c.Profile != "" {
		uses = append(uses, "agent "+c.Profile)
	}
	if c.Model != "" {
		uses = append(uses, "model "+c.Model)
	}
	for _, n := range e.Notes {
		uses = append(uses, "says: "+n)
	}
	return strings.Join(uses, "; ")
}

// documented is what the public documentation of a command's system says that it comes
// to, written anew with as little as it takes. What is an amount of money stays, which
// no documentation speaks of.
func documented(c *command.Command, name, arguments string) string {
	word := map[string]string{"1": "one", "2": "two words", "3": "three"}
	text, had := c.Text, false
	number := regexp.MustCompile(`\$([1-9])([^0-9A-Za-z_.,]|[.,][^0-9]|$)`)
	switch c.Kind {
	case command.Gemini:
		had = strings.Contains(text, "{{args}}")
		text = regexp.MustCompile(`!\{((?:[^{}]|\{[^{}]*\})*)\}`).ReplaceAllString(text, "<$1>")
		text = strings.ReplaceAll(text, "{{args}}", arguments)
		if !had {
			text += "\n\n/" + name + " " + arguments
		}
		return text
	case command.OpenCode:
		last := ""
		for _, m := range number.FindAllStringSubmatch(text, -1) {
			last = max(last, m[1])
		}
		had = last != "" || strings.Contains(text, "$ARGUMENTS")
		text = number.ReplaceAllStringFunc(text, func(s string) string {
			if s[1:2] == last {
				rest := []string{}
				for n := s[1]; n <= '3'; n++ {
					rest = append(rest, word[string(n)])
				}
				return strings.Join(rest, " ") + s[2:]
			}
			return word[s[1:2]] + s[2:]
		})
		text = regexp.MustCompile("!`([^`\n]+)`").ReplaceAllString(text, "<$1>")
	default:
		had = number.MatchString(text) || strings.Contains(text, "$ARGUMENTS")
		for range 2 { // two may share the character between them
			text = number.ReplaceAllStringFunc(text, func(s string) string {
				if w, ok := word[s[1:2]]; ok {
					return w + s[2:]
				}
				return s
			})
		}
		text = regexp.MustCompile("(?m)(^|[ \t])!`([^`\n]+)`").ReplaceAllString(text, "$1<$2>")
	}
	text = strings.ReplaceAll(text, "$ARGUMENTS", arguments)
	switch {
	case had:
	case c.Kind == command.Claude:
		text += "\n\nARGUMENTS: " + arguments
	default:
		text += "\n\n" + arguments
	}
	return text
}

func golden(t *testing.T, file, got string) {
	t.Helper()
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
		t.Errorf("%s (go test -update writes it anew):\n%s", file, diff)
	}
}
