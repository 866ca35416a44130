package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// analyzer collects what a line runs. Its state is that of the shell at the
// place it has come to.
type analyzer struct {
	line  Line
	src   string // the script that is walked
	lang  syntax.LangVariant
	dir   directory
	moves int // cd and the like, in this shell
	names names
	own   descriptors
	count int // words in commands
	depth int // of scripts in scripts
	chain int // of wrappers in wrappers
	left  int // bytes that may still be parsed
	err   error

	pieces []Piece // see plainWord
}

// script analyses a text as a script of its own syntax. Its state stays as the
// script leaves it, as with eval.
func (a *analyzer) script(text string, lang syntax.LangVariant) error {
	if a.left -= len(text); a.left < 0 || a.depth == maxDepth {
		return errors.New("the command line has too many scripts in scripts")
	}
	file, err := parse(text, lang)
	if err != nil {
		return fmt.Errorf("the command line does not parse: %w", err)
	}
	src, outer := a.src, a.lang
	a.src, a.lang, a.depth = text, lang, a.depth+1
	a.stmts(file.Stmts)
	a.src, a.lang, a.depth = src, outer, a.depth-1
	return a.err
}

// parsers are kept between lines: making one costs more than parsing a short line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

func parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(lang)(p)
	return p.Parse(strings.NewReader(text), "")
}

// nested analyses a script that is part of the line. One that does not parse
// may do anything.
func (a *analyzer) nested(text string, lang syntax.LangVariant) {
	if a.err != nil {
		return
	}
	if plainText(text) != nil || a.script(text, lang) != nil {
		a.err = nil
		a.unknown()
	}
}

func (a *analyzer) unknown() { a.line.Unknown = true }

// fail ends the analysis: the parser takes the line for something else than
// bash does.
func (a *analyzer) fail(why string) {
	if a.err == nil {
		a.err = fmt.Errorf("the command line uses %s, which is not analysed", why)
	}
}

// room makes place for words in commands, if the result does not become too
// large.
func (a *analyzer) room(words int) bool {
	a.count += words
	if len(a.line.Commands) < maxCommands && len(a.line.Redirects) < maxCommands && a.count <= maxWords {
		return true
	}
	if a.err == nil {
		a.err = fmt.Errorf("the command line has more than %d commands or %d words", maxCommands, maxWords)
	}
	return false
}

// add lists a command.
func (a *analyzer) add(front []Word, words []word) {
	if !a.room(len(front) + len(words)) {
		return
	}
	c := Command{Words: make([]Word, 0, len(front)+len(words))}
	c.Words = append(c.Words, front...)
	for _, w := range words {
		c.Words = append(c.Words, w.Word)
	}
	a.line.Commands = append(a.line.Commands, c)
}

// source returns the text of a node, to be shown.
func (a *analyzer) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start < 0 || end > len(a.src) || start >= end {
		return "…"
	}
	return a.src[start:end]
}

// subshell runs f in a copy of the shell: where it goes stays there.
func (a *analyzer) subshell(f func()) {
	dir, moves := a.dir, a.moves
	f()
	a.dir, a.moves = dir, moves
}

// names are the variables of a line whose value an arithmetic expression may
// run: $((x)) runs what x='a[$(rm y)]' says.
type names struct {
	used  []string // in arithmetic
	loose []string // with a value that is not plainly a number
	// With an array in the line, declare x=$y expands y's value once more.
	arrays, declared bool
}

// settle says that anything may run if a name is both. Order does not matter:
// there are loops.
func (n *names) settle(line *Line) {
	if n.arrays && n.declared {
		line.Unknown = true
	}
	if line.Unknown || len(n.used) == 0 || len(n.loose) == 0 {
		return
	}
	slices.Sort(n.loose)
	for _, name := range n.used {
		if _, found := slices.BinarySearch(n.loose, name); found {
			line.Unknown = true
			return
		}
	}
}
