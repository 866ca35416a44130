package shell

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest command line that is looked at, in bytes. It bounds
// the parser's recursion and stays below what Linux takes as one argument.
const MaxLine = 64 << 10

// maxNesting bounds brackets within brackets, for which the parser takes more
// than linear time.
const maxNesting = 200

// plainText refuses what is no text, or too much for the parser.
func plainText(line string) error {
	if len(line) > MaxLine {
		return fmt.Errorf("the command line has %d bytes, more than %d", len(line), MaxLine)
	}
	if !utf8.ValidString(line) {
		return errors.New("the command line is not valid UTF-8")
	}
	depth := 0
	for _, c := range []byte(line) {
		switch c {
		case '\t', '\n':
		case 0:
			return errors.New("the command line contains a NUL byte")
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		default:
			// The parser takes a carriage return for part of a line's end, bash for text.
			if c < ' ' || c == 0x7f {
				return errors.New("the command line contains a control character")
			}
		}
		if depth > maxNesting {
			return errors.New("the command line is nested too deeply")
		}
	}
	return parsesAlike(line)
}

// parsesAlike refuses what the parser and bash surely take differently.
func parsesAlike(line string) error {
	for text := range strings.SplitSeq(line, "\n") {
		if strings.HasSuffix(text, "\\") && mayComment(text) {
			return errors.New("the command line continues where there may be a comment")
		}
	}
	return nil
}

// mayComment says whether a comment may start in the text: where a word may.
func mayComment(text string) bool {
	for i := range len(text) {
		if text[i] == '#' && (i == 0 || strings.IndexByte(" \t;&|()<>`", text[i-1]) >= 0) {
			return true
		}
	}
	return false
}
