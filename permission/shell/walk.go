package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analyzer) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		if a.err != nil {
			return
		}
		a.stmt(s)
	}
}

// stmt walks a statement and returns the directory it ends in if it succeeds.
// The directory it ends in otherwise too is the analyzer's.
func (a *analyzer) stmt(s *syntax.Stmt) (success directory) {
	if s == nil || a.err != nil {
		return a.dir
	}
	for _, r := range s.Redirs {
		a.redirect(r)
	}
	if s.Background {
		a.subshell(func() { a.command(s.Cmd, s.Redirs) })
		return a.dir
	}
	success = a.command(s.Cmd, s.Redirs)
	if s.Negated {
		return a.dir
	}
	return success
}

func (a *analyzer) command(c syntax.Command, redirs []*syntax.Redirect) (success directory) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		return a.callExpr(c, redirs)
	case *syntax.BinaryCmd:
		return a.binary(c)
	case *syntax.Block:
		a.stmts(c.Stmts)
	case *syntax.Subshell:
		a.subshell(func() { a.stmts(c.Stmts) })
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			a.stmts(c.Cond)
			a.stmts(c.Then)
		}
	case *syntax.WhileClause:
		a.loop(func() {
			a.stmts(c.Cond)
			a.stmts(c.Do)
		})
	case *syntax.ForClause:
		a.loopHead(c.Loop)
		a.loop(func() { a.stmts(c.Do) })
	case *syntax.CaseClause:
		a.discard(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.discard(p)
			}
			a.stmts(item.Stmts)
		}
	case *syntax.FuncDecl:
		a.unknown()
		a.subshell(func() {
			a.dir = directory{unknown: true}
			a.stmt(c.Body)
		})
	case *syntax.ArithmCmd:
		a.arith(c.X)
		a.special("((", c)
	case *syntax.TestClause:
		a.test(c.X)
		a.special("[[", c)
	case *syntax.DeclClause:
		a.declClause(c)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			a.arith(x)
		}
		a.unknown()
		a.special("let", c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			a.prefixed(c.Stmt, "-")
			return a.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		a.prefixed(c.Stmt, "")
		if c.Name != nil {
			a.assigned(a.expand(c.Name), false)
		}
		a.subshell(func() { a.stmt(c.Stmt) })
	default:
		a.fail("an unusual kind of command")
	}
	return a.dir
}

// special lists a command of the shell's own syntax. It is judged as one word
// and a hole.
func (a *analyzer) special(name string, n syntax.Node) {
	inside := strings.TrimPrefix(a.source(n), name)
	inside = strings.TrimSuffix(strings.TrimSuffix(inside, "]]"), "))")
	a.add(nil, []word{text(name), hole(strings.TrimSpace(inside))})
}

// prefixed says that anything may run if the statement's first word is one
// that bash takes as part of the time or coproc before it: it starts with
// start, or assigns.
func (a *analyzer) prefixed(s *syntax.Stmt, start string) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	lit, ok := call.Args[0].Parts[0].(*syntax.Lit)
	if ok && (start != "" && strings.HasPrefix(lit.Value, start) || strings.ContainsAny(lit.Value, "=[")) {
		a.unknown()
	}
}

// binary walks two statements. After "cd x &&" the directory is known, until
// the end of what the && joins.
func (a *analyzer) binary(b *syntax.BinaryCmd) (success directory) {
	if b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
		a.subshell(func() { a.stmt(b.X) })
		a.subshell(func() { a.stmt(b.Y) })
		return a.dir
	}
	start := a.dir
	success = a.stmt(b.X)
	if b.Op == syntax.AndStmt {
		a.dir = success
		success = a.stmt(b.Y)
		if success != start {
			a.dir = directory{unknown: true}
		}
		return success
	}
	a.stmt(b.Y)
	return a.dir
}

// loop walks what may run several times: a cd in it also moves what stands
// before the cd.
func (a *analyzer) loop(body func()) {
	moves, first := a.moves, len(a.line.Redirects)
	body()
	if a.moves == moves {
		return
	}
	for i := first; i < len(a.line.Redirects); i++ {
		r := &a.line.Redirects[i]
		r.Path = directory{unknown: true}.join(r.Path)
	}
}

func (a *analyzer) loopHead(l syntax.Loop) {
	switch l := l.(type) {
	case *syntax.WordIter:
		numbers := l.InPos.IsValid()
		for _, w := range l.Items {
			for _, item := range a.words(nil, w) {
				numbers = numbers && item.number()
			}
		}
		a.assign(l.Name.Value, numbers)
	case *syntax.CStyleLoop:
		a.arith(l.Init)
		a.arith(l.Cond)
		a.arith(l.Post)
	}
}

// callExpr walks a simple command.
func (a *analyzer) callExpr(c *syntax.CallExpr, redirs []*syntax.Redirect) (success directory) {
	var front []Word
	for _, as := range c.Assigns {
		front = append(front, a.assignment(as))
	}
	words := make([]word, 0, len(c.Args))
	for _, w := range c.Args {
		words = a.words(words, w)
	}
	if a.err != nil {
		return a.dir
	}
	if len(words) == 0 {
		if len(front) > 0 {
			a.add(front, nil)
		}
		return a.dir
	}
	return a.run(call{front: front, words: words, redirs: redirs})
}

// assignment returns an assignment as a word. A value with a blank is a hole,
// so that its text cannot pass for the command that follows.
func (a *analyzer) assignment(as *syntax.Assign) Word {
	if !syntax.ValidName(as.Name.Value) {
		a.fail("an assignment to what is no name")
	}
	b := builder{}
	b.text(as.Name.Value)
	number := true
	if as.Index != nil {
		a.subscript(as.Index)
		b.hole("[…]", false)
	}
	if as.Append {
		b.text("+")
	}
	b.text("=")
	switch {
	case as.Array != nil:
		a.names.arrays = true
		for _, e := range as.Array.Elems {
			if e.Index != nil {
				a.subscript(e.Index)
			}
			if e.Value != nil {
				number = a.discard(e.Value) && number
			}
		}
		b.hole(a.source(as.Array), false)
	case as.Value != nil:
		value := a.expand(as.Value)
		number = value.number() || isLocale(as.Name.Value) && plainLocale(value.String())
		if text, ok := value.Literal(); ok && strings.ContainsAny(text, " \t\n") {
			b.hole(text, false)
		} else {
			b.word(value)
		}
	}
	a.assign(as.Name.Value, number)
	return b.done().Word
}

// test walks the expression of [[ ]].
func (a *analyzer) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		a.discard(x)
	case *syntax.ParenTest:
		a.test(x.X)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if name, ok := a.expand(w).Literal(); !ok || !syntax.ValidName(name) {
				a.unknown()
			}
			return
		}
		a.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			a.operand(x.X)
			a.operand(x.Y)
			return
		case syntax.TsReMatch:
			a.regexp(x.Y)
		}
		a.test(x.X)
		a.test(x.Y)
	}
}

// operand walks a word that [[ ]] evaluates as arithmetic.
func (a *analyzer) operand(x syntax.TestExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.unknown()
		return
	}
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
			w = &syntax.Word{Parts: q.Parts}
		}
	}
	a.arith(w)
}

// regexp is strict where the parser guesses how far an expression goes.
func (a *analyzer) regexp(x syntax.TestExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.unknown()
		return
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "();&|<>'\"\\ \t\n") {
				a.unknown()
			}
		case *syntax.ParamExp:
		default:
			a.unknown()
		}
	}
}
