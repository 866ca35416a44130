// Package ignore says what .gitignore files leave out, as git does.
package ignore

import (
	"bytes"
	"strings"
)

// Bounds of one file: each name in a directory is held against every pattern.
const (
	MaxBytes    = 1 << 20
	MaxPatterns = 5000
)

// Set is the patterns of some files, from the top down; the last that matches
// decides. It is immutable, and nil ignores nothing.
type Set struct {
	up    *Set // of the directories above
	rules []rule
	from  int // where paths begin that the rules are held against
}

// And adds what the .gitignore of a directory says to what holds above. dir is
// its path, with slashes, below where paths begin; empty: there. A text over the
// bounds counts up to them, and cut says so.
func (s *Set) And(text []byte, dir string) (all *Set, last int, cut bool) {
	rules, last, cut := parse(text)
	if len(rules) == 0 {
		return s, last, cut
	}
	all = &Set{up: s, rules: rules}
	if dir != "" {
		all.from = len(dir) + 1
	}
	return all, last, cut
}

// Match says whether something is ignored. The directories that it is in are
// not, and the Set has the patterns of no others.
func (s *Set) Match(path string, dir bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; s != nil; s = s.up {
		for i := len(s.rules) - 1; i >= 0; i-- {
			r := &s.rules[i]
			if r.dirs && !dir {
				continue
			}
			text := name
			if r.path {
				text = path[s.from:]
			}
			if r.match(text) {
				return !r.negated
			}
		}
	}
	return false
}

// parse gives the rules of a file and, when it is too long, the last line that
// counts.
func parse(data []byte) (rules []rule, last int, cut bool) {
	tooLong := len(data) > MaxBytes
	if tooLong {
		data = data[:MaxBytes]
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		end := bytes.TrimSuffix(line, []byte("\n"))
		if tooLong && len(end) == len(line) {
			return rules, last, true
		}
		if len(end) < len(line) {
			end = bytes.TrimSuffix(end, []byte("\r"))
		}
		if r, ok := newRule(string(end)); ok {
			if len(rules) == MaxPatterns {
				return rules, last, true
			}
			rules = append(rules, r)
		}
		last++
	}
	return rules, last, tooLong
}
