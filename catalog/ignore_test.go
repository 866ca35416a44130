package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/catalog"
)

// TestIgnoredLikeGit makes folders with .gitignore files of many patterns, and
// asks git which files it would not ignore.
func TestIgnoredLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed")
	}
	patterns := []string{
		"a", "a/", "/a", "/a/", "b.md", "*.md", "!*.md", "!b.md", "!a/", "a/b", "a/*", "a/**", "**/b", "**/b.md", "a/**/b.md", "/b.md", "?.md", "[ab].md", "[!a].md",
		"[Bb]", "c*", "!c*", "*c", "/*", "!/a", "!/b", "/a/*.md", "\\!x.md", "\\#y.md", "b ", "c/b/", "b/c.md", "*", "!*/", "a/b/c.md", "!c.md", "**/c/", "x y.md", "/**/c.md",
	}
	var files []string
	names := []string{"a", "b", "c"}
	for _, x := range names {
		files = append(files, x+".md")
		for _, y := range names {
			files = append(files, x+"/"+y+".md")
			for _, z := range names {
				files = append(files, x+"/"+y+"/"+z+".md")
			}
		}
	}
	files = append(files, "!x.md", "#y.md", "x y.md", "B/b.md")
	random := rand.New(rand.NewPCG(1, 2))
	some := func(most int) string {
		text := ""
		for range random.IntN(most) + 1 {
			text += patterns[random.IntN(len(patterns))] + "\n"
		}
		return text
	}
	for n := range 40 {
		dir := t.TempDir()
		top, below := some(6), some(3)
		put(t, dir, "agents/.gitignore", top, "agents/a/.gitignore", below)
		for i, f := range files {
			put(t, dir, "agents/"+f, text(fmt.Sprintf("name: n%d\n", i)))
		}
		for _, args := range [][]string{{"init", "-q"}, {"ls-files", "-z", "--others", "--exclude-standard", "--", "*.md"}} {
			out, err := exec.CommandContext(t.Context(), git, append([]string{"-C", filepath.Join(dir, "agents"), "-c", "core.excludesFile=/dev/null"}, args...)...).Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			if args[0] == "init" {
				continue
			}
			want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if string(out) == "" {
				want = nil
			}
			var got []string
			c := catalog.Open(catalog.Options{Sources: catalog.Standard("", dir)})
			for p := range c.List() {
				got = append(got, strings.TrimPrefix(p.File, "agents/"))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d: with\n%s\nand in a\n%s\nread, and ignored by git: %q\nnot read: %q", n, top, below, without(got, want), without(want, got))
			}
		}
	}
}

func without(all, those []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(those, s) })
}
