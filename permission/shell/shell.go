// Package shell says what a command line runs: every simple command in it, and
// every file that it opens. What it cannot know before the line runs, it says.
//
// A line is parsed as bash parses it. Where the parser and bash are known to
// differ, and where bash expands a text twice, the analysis gives up rather
// than guess: nothing is known of the line, or besides what is listed anything
// may run. Nothing is looked up: not what a path points to, not what a program
// does with the file that it is given.
package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of an analysis. A line beyond them is an error.
const (
	maxCommands = 4096
	maxWords    = 1 << 17
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
// hole. A file that is opened for both (<>) stands twice.
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
	a.names.settle(&a.line)
	a.own.settle(&a.line)
	return a.line, nil
}
