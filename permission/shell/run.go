package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is a simple command whose words are expanded.
type call struct {
	front  []Word // assignments
	words  []word
	redirs []*syntax.Redirect
}

// run lists a command. One that runs others that its words give may run
// anything.
func (a *analyzer) run(c call) (success directory) {
	a.add(c.front, c.words)
	name, known := c.words[0].Literal()
	if !known || name == "" || strings.ContainsAny(name, " \t\n=") {
		a.unknown()
		return a.dir
	}
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.String()
	}
	if launches(words) {
		a.unknown()
	}
	switch name {
	case "cd":
		a.moves++
		success, a.dir = directory{unknown: true}, directory{unknown: true}
	case "pushd", "popd", "set", "shopt", "alias":
		a.unknown()
	}
	return a.dir
}

func (a *analyzer) declClause(c *syntax.DeclClause) {
	a.unknown()
	a.special(c.Variant.Value, c)
}
