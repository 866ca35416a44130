package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin lists a builtin of bash that changes what later words mean, or that
// expands its arguments once more, as a[$(rm x)]. ok is false if it is none.
func (a *analyzer) builtin(base string, c call) (ok bool) {
	args := c.words[1:]
	switch base {
	case "declare", "typeset", "local", "export", "readonly":
		a.declare(base, args)
	case "read", "mapfile", "readarray", "getopts":
		a.reads(base, args)
	case "printf":
		if len(args) > 0 && args[0].opens() {
			a.unknown()
		} else if len(args) > 0 && strings.HasPrefix(args[0].String(), "-v") {
			a.printfTo(args)
		}
	case "test", "[":
		a.testCommand(args)
	case "unset":
		for _, w := range args {
			if s, known := w.Literal(); !known || s != "-f" && s != "-v" {
				a.assigned(w, true)
			}
		}
	case "set":
		a.set(args)
	case "shopt":
		a.shopt(args)
	case "trap":
		a.trap(args)
	case "pushd", "popd":
		a.moves++
		a.dir = directory{unknown: true}
	default:
		return false
	}
	a.add(c.front, c.words)
	return true
}

// declClause walks a declaration that the parser knows as such.
func (a *analyzer) declClause(d *syntax.DeclClause) {
	if d.Variant.Value == "nameref" {
		a.fail("nameref")
		return
	}
	words := []word{text(d.Variant.Value)}
	for _, as := range d.Args {
		switch {
		case as.Naked && as.Name != nil:
			if as.Index != nil {
				a.subscript(as.Index)
			}
			a.assign(as.Name.Value, true)
			words = append(words, text(as.Name.Value))
		case as.Naked:
			first := len(words)
			words = a.words(words, as.Value)
			a.declare(d.Variant.Value, words[first:])
		default:
			a.declaredValue(as)
			words = append(words, word{Word: a.assignment(as)})
		}
	}
	a.add(nil, words)
}

// declaredValue: what is given to an array as text is expanded once more.
func (a *analyzer) declaredValue(as *syntax.Assign) {
	if as.Value == nil {
		return
	}
	if !written(as.Value.Parts) {
		a.names.declared = true
		return
	}
	if w := a.expand(as.Value); w.opens() || strings.HasPrefix(w.String(), "(") {
		a.unknown()
	}
}

// declare looks at the arguments of a declaration.
func (a *analyzer) declare(base string, args []word) {
	for _, w := range args {
		s := w.String()
		if w.opens() || w.split {
			a.unknown()
			continue
		}
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			if strings.Contains(s, "i") || strings.Contains(s, "n") && base != "export" {
				a.unknown()
			}
			a.names.arrays = a.names.arrays || strings.ContainsAny(s, "aA")
			continue
		}
		name, value, found := strings.Cut(s, "=")
		if name = strings.TrimSuffix(name, "+"); !syntax.ValidName(name) || strings.HasPrefix(value, "(") {
			a.unknown()
		}
		if len(w.Word) > 1 {
			a.names.declared = true
		}
		known := len(w.Word) == 1 && (text(value).number() || isLocale(name) && plainLocale(value))
		a.assign(name, !found || known)
	}
}

// reads looks at a builtin that sets variables to what it reads.
func (a *analyzer) reads(base string, args []word) {
	for _, w := range args {
		s := w.String()
		switch {
		case w.opens(), w.split, strings.Contains(s, "["):
			a.unknown()
		case syntax.ValidName(s):
			a.assign(s, false)
		case strings.HasPrefix(s, "-"):
			if base != "read" && strings.Contains(s, "C") {
				a.unknown()
			}
			a.names.arrays = a.names.arrays || strings.Contains(s, "a")
			if len(s) > 64 {
				a.unknown()
				continue
			}
			for i := 2; i < len(s); i++ { // -aNAME
				a.assign(s[i:], false)
			}
		}
	}
	a.names.arrays = a.names.arrays || base != "read" && base != "getopts"
}

func (a *analyzer) printfTo(args []word) {
	name := args[0]
	if s, known := name.Literal(); known && s != "-v" {
		name = text(s[2:])
	} else if known && len(args) > 1 {
		name = args[1]
	}
	a.assigned(name, false)
}

// testCommand says that anything may run if -v may be among the words, or may
// turn out to be: it evaluates the subscript of a[…].
func (a *analyzer) testCommand(args []word) {
	holes := 0
	for i, w := range args {
		s, known := w.Literal()
		switch {
		case known && (s == "-v" || s == "-R"):
			if i+1 < len(args) {
				a.assigned(args[i+1], true)
			}
		case w.split:
			a.unknown()
		case w.opens():
			holes++
		}
	}
	if n := len(args); n > 0 && args[n-1].String() == "]" {
		args = args[:n-1]
	}
	if len(args) > 0 && args[0].String() == "!" {
		args = args[1:]
	}
	switch {
	case holes == 0, len(args) == 1, len(args) == 2 && !args[0].opens(), len(args) == 3 && !args[1].opens():
	default:
		a.unknown()
	}
}

// set allows the options that only stop or show more, and new arguments.
func (a *analyzer) set(args []word) {
	for i := 0; i < len(args); i++ {
		s := args[i].String()
		switch {
		case s == "--":
			return
		case args[i].opens(), args[i].split:
			a.unknown()
		case s == "-o" || s == "+o" || strings.HasPrefix(s, "-") && strings.Trim(s[1:], "euxvfC") == "o" && strings.HasSuffix(s, "o"):
			if i++; i < len(args) && !isStrictness(args[i].String()) {
				a.unknown()
			}
		case strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+"):
			if strings.Trim(s[1:], "euxvfC") != "" {
				a.unknown()
			}
		default:
			return
		}
	}
}

func (a *analyzer) shopt(args []word) {
	for _, w := range args {
		switch s, _ := w.Literal(); s {
		case "-s", "-u", "-q", "-p", "nullglob", "dotglob", "globstar", "nocaseglob", "failglob", "nocasematch", "inherit_errexit":
		default:
			a.unknown()
		}
	}
}

// trap: what it is given runs at any time from now on.
func (a *analyzer) trap(args []word) {
	if len(args) == 0 || args[0].String() == "-l" || args[0].String() == "-p" {
		return
	}
	a.unknown()
	if script, known := args[0].Literal(); known {
		a.subshell(func() { a.nested(script, a.lang) })
	}
}
