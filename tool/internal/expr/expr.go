// Package expr finds the lines of a text that a regular expression matches, in
// time linear in the text: by a literal that each such line must contain, where
// there is one, and by a deterministic automaton that is built while it runs.
package expr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp/syntax"
)

const (
	maxLength  = 4096   // of an expression, in bytes
	maxProgram = 50_000 // instructions
)

// Expr is a regular expression. It is immutable.
type Expr struct {
	prog     *syntax.Prog
	classes  classes
	literals []literal // one of them is in each line that matches; none: not known
	exact    bool      // and a line that has it matches
}

// Compile reads an expression in RE2 syntax. Its error says what to write.
func Compile(text string, ignoreCase bool) (*Expr, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("pattern: at most %d bytes", maxLength)
	}
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w (the syntax is RE2: no look-around, no back-references)", err)
	}
	e := &Expr{}
	e.literals, e.exact = required(parsed)
	if e.prog, err = syntax.Compile(parsed.Simplify()); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if len(e.prog.Inst) > maxProgram {
		return nil, errors.New("pattern: its counted repetitions are too many; write * or + for large counts")
	}
	e.classes = newClasses(e.prog)
	return e, nil
}

// Searcher searches by an expression. It is used by one goroutine at a time.
type Searcher struct {
	*Expr
	automaton automaton
	cursors   []cursor
}

// Searcher makes one that finds nothing any more when ctx ends.
func (e *Expr) Searcher(ctx context.Context) *Searcher {
	return &Searcher{Expr: e, automaton: newAutomaton(ctx, e), cursors: make([]cursor, len(e.literals))}
}

// Match says whether the expression matches in a line, given without its end.
func (s *Searcher) Match(line []byte) bool { return s.automaton.match(line) }

// Lines yields where the lines begin and end that match. Carriage returns before
// the end of a line are no part of it.
func (s *Searcher) Lines(text []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		clear(s.cursors)
		for pos := 0; pos < len(text) && !s.automaton.stopped; {
			start, from := pos, pos
			if len(s.literals) > 0 {
				if from = s.literal(text, pos); from < 0 {
					return
				}
				start = pos + bytes.LastIndexByte(text[pos:from], '\n') + 1
			}
			end := len(text)
			if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
				end = from + n
			}
			if (s.exact || s.Match(bytes.TrimRight(text[start:end], "\r"))) && !yield(start, end) {
				return
			}
			pos = end + 1
		}
	}
}

// literal finds the first of the literals from a position on, or -1.
func (s *Searcher) literal(text []byte, from int) int {
	first := -1
	for i := range s.literals {
		if at := s.cursors[i].find(&s.literals[i], text, from); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}
