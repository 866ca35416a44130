package tool

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxPattern      = 4096 // bytes
	maxAlternatives = 256  // that the braces of a glob come to
)

// globs is a pattern with its braces written out: the matcher takes exponential
// time for braces, and linear time without.
type globs []string

func parseGlob(key, pattern string) (globs, error) {
	switch {
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("%s: at most %d bytes", key, maxPattern)
	case strings.HasPrefix(pattern, "/"):
		return nil, fmt.Errorf("%s %q is absolute: give the directory as path, and a pattern below it", key, pattern)
	case !doublestar.ValidatePattern(pattern):
		return nil, fmt.Errorf("%s %q is malformed: every [ and { must be closed", key, pattern)
	}
	all, err := alternatives(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	for _, p := range all {
		for element := range strings.SplitSeq(p, "/") {
			if element == ".." {
				return nil, fmt.Errorf("%s %q goes up: give the directory as path, and a pattern below it", key, pattern)
			}
		}
	}
	return all, nil
}

func (g globs) match(name string) bool {
	for _, p := range g {
		if ok, _ := doublestar.Match(p, name); ok {
			return true
		}
	}
	return false
}

// matchName matches patterns without a slash to the last element alone. None
// match everything.
func (g globs) matchName(name string) bool {
	base := path.Base(name)
	for _, p := range g {
		of := name
		if !strings.Contains(p, "/") {
			of = base
		}
		if ok, _ := doublestar.Match(p, of); ok {
			return true
		}
	}
	return len(g) == 0
}

var errAlternatives = fmt.Errorf("the braces come to more than %d patterns: search in several steps", maxAlternatives)

// alternatives writes the braces of a valid pattern out.
func alternatives(pattern string) ([]string, error) {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 {
		if len(done)+len(todo) > maxAlternatives {
			return nil, errAlternatives
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		cuts := braces(p)
		if len(cuts) == 0 {
			done = append(done, p)
			continue
		}
		last := len(cuts) - 1
		for i := range last {
			todo = append(todo, p[:cuts[0]]+p[cuts[i]+1:cuts[i+1]]+p[cuts[last]+1:])
		}
	}
	return done, nil
}

// braces returns where the first braces open, are divided and close.
func braces(p string) (cuts []int) {
	depth, class := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				cuts = append(cuts, i)
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return append(cuts, i)
			}
		}
	}
	return nil
}
