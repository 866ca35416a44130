package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param walks a parameter expansion and adds it as a hole.
func (a *analyzer) param(b *builder, p *syntax.ParamExp, quoted bool) {
	src := a.source(p)
	if p.Param == nil || p.NestedParam != nil || p.Flags != nil {
		a.fail("an unusual expansion")
		return
	}
	if p.Index != nil {
		a.subscript(p.Index)
	}
	if p.Excl && p.Names == 0 && !isAll(p.Index) { // the name, too, is a value
		a.unknown()
	}
	if p.Slice != nil {
		a.arith(p.Slice.Offset)
		a.arith(p.Slice.Length)
	}
	if p.Repl != nil {
		a.expansionWord(p.Repl.Orig, quoted)
		a.expansionWord(p.Repl.With, quoted)
	}
	if p.Exp != nil {
		a.expansion(p, quoted)
	}
	bare := p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && !p.Excl
	if bare && (p.Length || isNumber(p.Param.Value)) {
		b.number(src)
		return
	}
	many := p.Param.Value == "@" || p.Param.Value == "*" || isAll(p.Index) || p.Names != 0
	b.hole(src, quoted && !many)
}

// isNumber says whether a parameter is a number whatever happens.
func isNumber(name string) bool {
	switch name {
	case "?", "#", "$", "!":
		return true
	}
	return false
}

func isAll(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	lit, ok := onlyLit(w.Parts)
	return ok && (lit == "@" || lit == "*")
}

func (a *analyzer) expansion(p *syntax.ParamExp, quoted bool) {
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		// ${x@P} expands the value once more.
		if op, ok := onlyLit(p.Exp.Word.Parts); !ok || strings.Trim(op, "QEAaKkLUu") != "" {
			a.unknown()
		}
		return
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		a.assign(p.Param.Value, false)
	}
	a.expansionWord(p.Exp.Word, quoted)
}

// expansionWord walks the word in ${x:-word}. Where bash and the parser take
// quotes there for different things, anything may run.
func (a *analyzer) expansionWord(w *syntax.Word, quoted bool) {
	if w == nil {
		return
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\<>()'\"`") {
				a.unknown()
			}
		case *syntax.SglQuoted:
			if quoted || p.Dollar || strings.ContainsAny(p.Value, "{}") {
				a.unknown()
			}
		case *syntax.DblQuoted:
			if quoted {
				a.unknown()
			}
			b := builder{}
			a.part(&b, p, quoted)
		default:
			b := builder{}
			a.part(&b, p, quoted)
		}
	}
}

// subscript walks what stands in the brackets of an array.
func (a *analyzer) subscript(x syntax.ArithmExpr) {
	if isAll(x) {
		return
	}
	a.arith(x)
}

// arith walks an arithmetic expression. It evaluates the values of variables
// as expressions: all that is no number, and no variable that surely is one,
// may run anything.
func (a *analyzer) arith(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		a.arith(x.X)
		a.arith(x.Y)
	case *syntax.UnaryArithm:
		a.arith(x.X)
	case *syntax.ParenArithm:
		a.arith(x.X)
	case *syntax.Word:
		if x == nil {
			return
		}
		for _, part := range x.Parts {
			a.arithPart(part, len(x.Parts) == 1)
		}
	case nil:
	default:
		a.fail("an unusual expression")
	}
}

func (a *analyzer) arithPart(part syntax.WordPart, alone bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		switch {
		case text(p.Value).number():
		case syntax.ValidName(p.Value):
			a.use(p.Value)
		case strings.Trim(p.Value, "0123456789#xXabcdefABCDEF") != "" || p.Value[0] < '0' || p.Value[0] > '9':
			a.unknown()
		}
	case *syntax.ParamExp:
		b := builder{}
		a.param(&b, p, true)
		w := b.done()
		switch {
		case w.digits:
		case p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && syntax.ValidName(p.Param.Value) && !p.Excl && alone:
			a.use(p.Param.Value)
		default:
			a.unknown()
		}
	case *syntax.ArithmExp:
		b := builder{}
		a.part(&b, p, true)
	default:
		a.unknown()
		b := builder{}
		a.part(&b, p, true)
	}
}

// use notes a variable that arithmetic evaluates.
func (a *analyzer) use(name string) {
	switch {
	case special(name), strings.HasPrefix(name, "BASH"):
		a.unknown()
	case name == "_", name == "REPLY", name == "OPTARG", name == "MAPFILE", name == "DIRSTACK":
		a.unknown()
	}
	a.names.used = append(a.names.used, name)
}

// assign notes that a variable is set.
func (a *analyzer) assign(name string, number bool) {
	if special(name) || !number && (isInteger(name) || isLocale(name)) {
		a.unknown()
	}
	if !number {
		a.names.loose = append(a.names.loose, name)
	}
}

// assigned notes that the variable of that name is set; a name that is not
// known, or has a subscript, may run anything.
func (a *analyzer) assigned(w word, number bool) {
	name, ok := w.Literal()
	if !ok || !syntax.ValidName(name) {
		a.unknown()
		return
	}
	a.assign(name, number)
}

// isInteger says whether bash evaluates what it sets the variable to.
func isInteger(name string) bool {
	switch name {
	case "EPOCHSECONDS", "EUID", "HISTCMD", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID":
		return true
	}
	return false
}

// isLocale says whether the variable may change which bytes of the lines that
// follow are a character.
func isLocale(name string) bool { return name == "LANG" || strings.HasPrefix(name, "LC_") }

func plainLocale(value string) bool {
	return value == "" || value == "C" || value == "POSIX" || strings.HasSuffix(strings.ToUpper(value), ".UTF-8")
}

// special says whether setting the variable changes what later words run, or
// runs something.
func special(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "PAGER", "EDITOR", "VISUAL", "CDPATH", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4",
		"SHELLOPTS", "POSIXLY_CORRECT", "TEXTDOMAIN", "TEXTDOMAINDIR", "EXECIGNORE", "GLOBIGNORE":
		return true
	}
	for _, prefix := range [...]string{"BASH", "LD_", "DYLD_", "GIT_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
