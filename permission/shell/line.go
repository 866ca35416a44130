package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of an analysis. A line beyond them is an error.
const (
	maxCommands = 4096
	maxDepth    = 5           // scripts within scripts: sh -c 'sh -c …'
	maxParsed   = 4 * MaxLine // bytes, of the line and the scripts in it
)

// Piece is a part of a word. A hole is text that is known only when the line
// runs; its Text is what the line says there, to be shown.
type Piece struct {
	Text string
	Hole bool
}

// Word is a word without its quotes. A hole in it may stand for any text, also
// for none and for several words.
type Word []Piece

// Literal returns the word's text, if it is known.
func (w Word) Literal() (text string, known bool) {
	switch {
	case len(w) == 0:
		return "", true
	case len(w) == 1 && !w[0].Hole:
		return w[0].Text, true
	}
	return "", false
}

// String shows the word, holes as the line says them.
func (w Word) String() string {
	if text, ok := w.Literal(); ok {
		return text
	}
	var b strings.Builder
	for _, p := range w {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Command is a simple command as it is to be judged: without its wrappers
// (env, timeout, sh -c), its braces expanded, the assignments in front of it as
// words such as "X=1". A line that only assigns is a command of such words.
// Words has at least one.
type Command struct {
	Words []Word
}

// String shows the words, with a blank between them.
func (c Command) String() string {
	var b strings.Builder
	for i, w := range c.Words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.String())
	}
	return b.String()
}

// Redirect is a file that the line opens. A path is relative to the directory
// that the line starts in; where a cd makes that unknown, it begins with a
// hole. A path that is written may be read too (<>).
type Redirect struct {
	Path  Word
	Write bool
}

// Line is what a command line runs.
type Line struct {
	Commands  []Command
	Redirects []Redirect
	// Unknown says that besides these, any command may run and any file be opened.
	Unknown bool
}

// Analyze lists the simple commands and redirections of a line of bash, run by
// bash --noprofile --norc -c. A line that does not parse as bash would, or that
// is too long or too deep, is an error: nothing is known of it. Comments and
// blank lines alone are an error too. It starts nothing and reads nothing.
func Analyze(line string) (Line, error) {
	if err := plainText(line); err != nil {
		return Line{}, err
	}
	a := analyzer{left: maxParsed}
	if err := a.script(line, syntax.LangBash); err != nil {
		return Line{}, err
	}
	if len(a.line.Commands) == 0 && len(a.line.Redirects) == 0 && !a.line.Unknown {
		return Line{}, errors.New("the command line is empty")
	}
	if len(a.line.Commands) > maxCommands || len(a.line.Redirects) > maxCommands {
		return Line{}, fmt.Errorf("the command line has more than %d commands", maxCommands)
	}
	a.names.settle(&a.line)
	return a.line, nil
}

// analyzer collects what a line runs. Its state is that of the shell at the
// place it has come to.
type analyzer struct {
	line  Line
	src   string // the script that is walked
	lang  syntax.LangVariant
	dir   directory
	moves int // cd and the like, in this shell
	names names
	depth int // of scripts in scripts
	chain int // of wrappers in wrappers
	left  int // bytes that may still be parsed
	err   error
}

// script analyses a text as a script of its own syntax. Its state stays as the
// script leaves it, as with eval.
func (a *analyzer) script(text string, lang syntax.LangVariant) error {
	if a.left -= len(text); a.left < 0 || a.depth == maxDepth {
		return errors.New("the command line has too many scripts in scripts")
	}
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		return fmt.Errorf("the command line does not parse: %w", err)
	}
	src, outer := a.src, a.lang
	a.src, a.lang, a.depth = text, lang, a.depth+1
	a.stmts(file.Stmts)
	a.src, a.lang, a.depth = src, outer, a.depth-1
	return a.err
}

// nested analyses a script that is part of the line. One that does not parse
// may do anything.
func (a *analyzer) nested(text string, lang syntax.LangVariant) {
	if a.err != nil {
		return
	}
	if err := plainText(text); err != nil || a.script(text, lang) != nil {
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

// add lists a command.
func (a *analyzer) add(front []Word, words []word) {
	if len(a.line.Commands) > maxCommands {
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
