package history

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		base, mine, yours, want string
		conflict                bool
	}{
		"nothing":               {"a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", false},
		"mine alone":            {"a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n", false},
		"yours alone":           {"a\nb\nc\n", "a\nb\nc\n", "a\nb\nC\n", "a\nb\nC\n", false},
		"both, apart":           {"a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", false},
		"both the same":         {"a\nb\n", "a\nX\n", "a\nX\n", "a\nX\n", false},
		"both the same line":    {"a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", "", true},
		"a line put in by both": {"a\nc\n", "a\nx\nc\n", "a\ny\nc\n", "", true},
		"taken out and added":   {"a\nb\nc\nd\n", "a\nc\nd\n", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", false},
		"no newline at the end": {"a\nb\nc", "A\nb\nc", "a\nb\nc\n", "A\nb\nc\n", false},
		"line ends":             {"a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nc\r\n", "A\r\nb\r\nC\r\n", false},
		"all gone":              {"a\nb\n", "", "a\nb\n", "", false},
		"binary":                {"a\x00", "b\x00", "a\x00", "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := merge([]byte(tt.base), []byte(tt.mine), []byte(tt.yours))
			if ok == tt.conflict || ok && string(got) != tt.want {
				t.Errorf("%q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}

// TestMergeKeepsEachSide: what only one side has changed is what comes out, and a
// merge of both has the lines that either has put in.
func TestMergeKeepsEachSide(t *testing.T) {
	word := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "", "é\n"})
	text := rapid.Custom(func(t *rapid.T) []byte { return []byte(strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "lines"), "")) })
	rapid.Check(t, func(t *rapid.T) {
		base, mine, yours := text.Draw(t, "base"), text.Draw(t, "mine"), text.Draw(t, "yours")
		if got, ok := merge(base, mine, base); !ok || !bytes.Equal(got, mine) {
			t.Fatalf("mine alone: %q, %v", got, ok)
		}
		if got, ok := merge(base, base, yours); !ok || !bytes.Equal(got, yours) {
			t.Fatalf("yours alone: %q, %v", got, ok)
		}
		a, ok1 := merge(base, mine, yours)
		b, ok2 := merge(base, yours, mine)
		if ok1 != ok2 || !bytes.Equal(a, b) {
			t.Fatalf("the order of the sides counts: %q, %q", a, b)
		}
	})
}

// TestMergeAsGitDoes compares with git merge-file, which may join what we leave
// alone, and never the other way round with another outcome.
func TestMergeAsGitDoes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed: apt-get install git")
	}
	dir := t.TempDir()
	base := "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for i, sides := range [][2]string{
		{"ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n", "one\ntwo\nthree\nfour\nfive\nsix\n"},
		{"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n", "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\n"},
		{"two\nthree\nfour\nfive\nsix\nseven\n", "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\n"},
	} {
		for name, text := range map[string]string{"mine": sides[0], "base": base, "yours": sides[1]} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "git", "merge-file", "-p", "mine", "base", "yours")
		cmd.Dir = dir
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := merge([]byte(base), []byte(sides[0]), []byte(sides[1]))
		if !ok || string(got) != string(want) {
			t.Errorf("case %d: %q, %v; git says %q", i, got, ok, want)
		}
	}
}
