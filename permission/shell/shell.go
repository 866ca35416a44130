// Package shell says what a command line runs.
package shell

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// MaxLine is the longest command line that is looked at, in bytes. It bounds
// the parser's recursion and stays below what Linux takes as one argument.
const MaxLine = 64 << 10

// maxNesting bounds brackets within brackets, for which the parser takes more
// than linear time.
const maxNesting = 200

// ErrNotSimple is returned for a line that parses but is more than one simple
// command with all its words written out.
var ErrNotSimple = errors.New("not a single simple command")

// Words returns the words of a simple command after quote removal. The line
// must be exactly one command without expansion, substitution, glob, tilde,
// brace, redirection, assignment, negation, comment or "&", and not one that
// runs another command given in its words (env, sudo, xargs, sh -c); otherwise
// the error is ErrNotSimple. Any other error means that the line does not
// parse.
func Words(line string) ([]string, error) {
	if err := plainText(line); err != nil {
		return nil, err
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("the command line does not parse: %w", err)
	}
	if len(file.Stmts) == 0 {
		return nil, errors.New("the command line is empty")
	}
	call := simpleCall(file)
	// The parser takes a carriage return for part of a line's end, bash for text.
	if call == nil || strings.Contains(line, "\r") {
		return nil, ErrNotSimple
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		text, ok := literal(w)
		if !ok {
			return nil, ErrNotSimple
		}
		words[i] = text
	}
	if launches(words) {
		return nil, ErrNotSimple
	}
	return words, nil
}

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
		case 0:
			return errors.New("the command line contains a NUL byte")
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return errors.New("the command line is nested too deeply")
		}
	}
	return nil
}

func simpleCall(file *syntax.File) *syntax.CallExpr {
	if len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil
	}
	s := file.Stmts[0]
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 {
		return nil
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	return call
}

// literal returns a word's text after quote removal, if it is known.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !unquote(&b, p.Value) {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || !unquoteDouble(&b, lit.Value) {
					return "", false
				}
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unquote takes the backslashes off text outside quotes. It refuses what the
// shell would expand, and control characters, which the parser and bash may
// tell apart differently.
func unquote(b *strings.Builder, s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return false
			}
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case strings.IndexByte("*?[]{}~$`", c) >= 0, c < ' ' || c == 0x7f:
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// unquoteDouble takes the backslashes off text inside double quotes.
func unquoteDouble(b *strings.Builder, s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '$' || c == '`' {
			return false
		}
		if c == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		b.WriteByte(c)
	}
	return true
}
