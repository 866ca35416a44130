package expr

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// classes divides the characters into those that an expression does not tell
// apart.
type classes struct {
	starts []rune // where each class begins
	ascii  [utf8.RuneSelf]int32
	end    int32 // the class of the end of a line
	words  bool  // the expression looks for the edges of words
}

func newClasses(prog *syntax.Prog) classes {
	c := classes{starts: []rune{0}}
	add := func(low, high rune) { c.starts = append(c.starts, low, high+1) }
	for i := range prog.Inst {
		switch inst := &prog.Inst[i]; inst.Op {
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
				c.words = true
			}
		case syntax.InstRuneAnyNotNL:
			add('\n', '\n')
		case syntax.InstRune, syntax.InstRune1:
			if len(inst.Rune) == 1 {
				r := inst.Rune[0]
				add(r, r)
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					add(other, other)
				}
				continue
			}
			for i := 0; i+1 < len(inst.Rune); i += 2 {
				add(inst.Rune[i], inst.Rune[i+1])
			}
		}
	}
	if c.words {
		add('0', '9')
		add('A', 'Z')
		add('_', '_')
		add('a', 'z')
	}
	slices.Sort(c.starts)
	c.starts = slices.Compact(c.starts)
	c.end = int32(len(c.starts))
	for r := range c.ascii {
		c.ascii[r] = c.find(rune(r))
	}
	return c
}

// find gives the class of a character.
func (c *classes) find(r rune) int32 {
	i, found := slices.BinarySearch(c.starts, r)
	if !found {
		i--
	}
	return int32(i)
}
