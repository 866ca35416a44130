package ignore

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestIgnoresLikeGit makes trees with .gitignore files of many patterns, and asks
// git which files it would not ignore.
func TestIgnoresLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed")
	}
	files := []string{"!x", "#y", "x y", "B/b", `a\b`, "a b ", "é", "a/é", "[a]", "a-b", "-", "]", "a^", ".a", "b/.a", "ab/ab/ab", "a/b/d/e/a/b/c"}
	for _, x := range "abc" {
		files = append(files, string(x)+".md")
		for _, y := range "abc" {
			files = append(files, string(x)+"/"+string(y)+".md")
			for _, z := range "abc" {
				files = append(files, string(x)+"/"+string(y)+"/"+string(z))
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		root := t.TempDir()
		for _, f := range files {
			write(t, filepath.Join(root, f), "")
		}
		top, below, deep := lines(random, 6), lines(random, 4), lines(random, 3)
		write(t, filepath.Join(root, ".gitignore"), top)
		write(t, filepath.Join(root, "a/.gitignore"), below)
		write(t, filepath.Join(root, "a/b/.gitignore"), deep)
		run := func(args ...string) []string {
			cmd := exec.CommandContext(t.Context(), git, append([]string{"-C", root, "-c", "core.excludesFile=/dev/null"}, args...)...)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
		}
		run("init", "-q")
		want := run("ls-files", "-z", "--others", "--exclude-standard")
		got := shown(t, root, "", nil)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("with\n%s\nand in a\n%s\nand in a/b\n%s\nshown, and ignored by git: %q\nnot shown: %q", top, below, deep, without(got, want), without(want, got))
		}
	}
}

// lines makes patterns: such as people write, and what else the grammar allows.
func lines(random *rand.Rand, most int) string {
	known := []string{
		"a", "a/", "/a", "/a/", "b.md", "*.md", "!*.md", "!b.md", "!a/", "a/b", "a/*", "a/**", "**/b", "**/b.md", "a/**/b", "/b.md", "?.md", "[ab].md", "[!a].md",
		"[Bb]", "c*", "!c*", "*c", "/*", "!/a", "!/b", "/a/*.md", `\!x`, `\#y`, "b ", `a b\ `, "c/b/", "b/c.md", "*", "!*/", "a/b/c", "!c.md", "**/c/", "x y", "/**/c",
		"**", "/**", "**/", "a**", "**a", "a/b**", "***/c", "a/***", "[[:alpha:]]*", "[[:foo:]]", "[^a-b]", "[]-a]", "[a", `a\`, `\a`, "é", "?", "/", "//", "!", "*/b", "*/*/a",
		"[a/b]/c", "**/**/c", "a/**/**/c", "!**/b", "!/a/b/", "b/", "*b*/", "a\r", "# no", "", "  ", "\ta", "d/**/c", "b/*/d", "!*.*",
	}
	var b strings.Builder
	for range random.IntN(most) {
		if random.IntN(3) > 0 {
			b.WriteString(known[random.IntN(len(known))])
		} else {
			for range random.IntN(6) + 1 {
				b.WriteByte(`aabbc***//?[]!-^\ .:`[random.IntN(20)])
			}
		}
		b.WriteString([]string{"\n", "\n", "\n", "\r\n"}[random.IntN(4)])
	}
	return b.String()
}

// shown walks a tree as the package asks for.
func shown(t *testing.T, root, dir string, set *Set) (files []string) {
	if text, err := os.ReadFile(filepath.Join(root, dir, ".gitignore")); err == nil {
		set, _, _ = set.And(text, dir)
	}
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case e.Name() == ".git" || set.Match(path, e.IsDir()):
		case e.IsDir():
			files = append(files, shown(t, root, path, set)...)
		default:
			files = append(files, path)
		}
	}
	return files
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func without(all, those []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(those, s) })
}

func TestBounds(t *testing.T) {
	tests := map[string]struct {
		text string
		last int
		cut  bool
	}{
		"short":         {"a\nb\n", 2, false},
		"most patterns": {strings.Repeat("a\n", MaxPatterns), MaxPatterns, false},
		"too many":      {strings.Repeat("a\n", MaxPatterns+1), MaxPatterns, true},
		"comments":      {strings.Repeat("#\n", MaxPatterns+1), MaxPatterns + 1, false},
		"too long":      {"a\n" + strings.Repeat("b", MaxBytes), 1, true},
	}
	for name, tt := range tests {
		set, last, cut := (*Set)(nil).And([]byte(tt.text), "")
		if last != tt.last || cut != tt.cut || set.Match("a", false) != (name != "comments") {
			t.Errorf("%s: %d lines count, cut %v", name, last, cut)
		}
	}
}

// FuzzMatch: a pattern takes bounded time, and one without special characters is
// for a file of that name alone.
func FuzzMatch(f *testing.F) {
	f.Add("**/*a*/b[!c]?", "x/ya/bd")
	f.Add("a/**/b", "a/b")
	f.Add(strings.Repeat("*a", 40)+"/**/b", strings.Repeat("a", 80)+"/"+strings.Repeat("a/", 40))
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern) > 200 || len(path) > 400 {
			return
		}
		began := time.Now()
		set, _, _ := (*Set)(nil).And([]byte(pattern), "")
		got := set.Match(path, false)
		if d := time.Since(began); d > 5*time.Second {
			t.Fatalf("%q on %q took %v", pattern, path, d)
		}
		if !strings.ContainsAny(pattern, "*?[\\/!# \r\n\ufeff") && !strings.Contains(path, "/") && pattern != "" && got != (pattern == path) {
			t.Errorf("%q on %q: %v", pattern, path, got)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	set, _, _ := (*Set)(nil).And([]byte("node_modules/\n*.log\n*.o\n/build/\ndist\n.DS_Store\n**/tmp/*.txt\n!keep.log\ncoverage/\n*.swp\n"), "")
	set, _, _ = set.And([]byte("/gen\n*.pb.go\n"), "internal/deep")
	b.ReportAllocs()
	for b.Loop() {
		if set.Match("internal/deep/down/file.go", false) {
			b.Fatal("ignored")
		}
	}
}
