package history

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

const maxIgnore = 1 << 20 // bytes of a .gitignore

// rules are what is left out below a directory. A directory has those of the one
// above it where it has no .gitignore of its own.
type rules struct {
	above    *rules
	own      digest // of the .gitignore
	patterns []gitignore.Pattern
}

func (r *rules) list() []gitignore.Pattern {
	if r == nil {
		return nil
	}
	return r.patterns
}

// with adds the patterns of a file in a directory, whose path its names are.
func (r *rules) with(text []byte, sum digest, names []string) *rules {
	n := &rules{above: r, own: sum, patterns: slices.Clip(r.list())}
	names = slices.Clone(names)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			n.patterns = append(n.patterns, gitignore.ParsePattern(line, names))
		}
	}
	return n
}

// ignores says whether the last of names is left out.
func (r *rules) ignores(names []string, dir bool) bool {
	return r != nil && len(r.patterns) > 0 && gitignore.NewMatcher(r.patterns).Match(names, dir)
}
