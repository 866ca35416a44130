package expr

import (
	"context"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	maxTable = 1 << 18 // entries of the table of an automaton
	maxSets  = 1 << 20 // instructions in its states together
	pause    = 1 << 16 // instructions that are followed between looks at the context
)

// The entries of the table that are no states.
const (
	unknown int32 = iota
	matched
	dead
	first // where the row of the first state begins
)

// automaton follows all ways through a program at once. A state is a row of the
// table, which has the next state for each class of characters; a row is filled
// in as it is needed, and all are dropped when they are too many.
type automaton struct {
	ctx     context.Context
	stopped bool // ctx has ended
	work    int  // instructions followed since it was looked at

	prog    *syntax.Prog
	classes *classes
	stride  int
	table   []int32
	states  []state
	rows    map[string]int32
	size    int   // instructions in all states
	start   int32 // the row where a line begins; 0: not made yet

	set, next  sparse
	stack      []uint32
	key        []byte
	hasMatched bool // the set that is being made has a match
}

// state is the instructions at which one may be before the next character.
type state struct {
	insts []uint32
	prev  rune // stands for the character before; -1: a line begins
}

func newAutomaton(ctx context.Context, e *Expr) automaton {
	n := len(e.prog.Inst)
	return automaton{
		ctx: ctx, prog: e.prog, classes: &e.classes, stride: int(e.classes.end) + 1,
		set: newSparse(n), next: newSparse(n), rows: map[string]int32{},
	}
}

func (a *automaton) match(line []byte) bool {
	if a.start == 0 {
		a.next.clear()
		a.hasMatched = false
		a.add(uint32(a.prog.Start), true)
		a.start = a.row(-1)
	}
	at, table := a.start, a.table
	ascii := &a.classes.ascii
	for i := 0; i < len(line); {
		var class int32
		if b := line[i]; b < utf8.RuneSelf {
			class = ascii[b]
			i++
		} else {
			r, n := utf8.DecodeRune(line[i:])
			class = a.classes.find(r)
			i += n
		}
		next := table[at+class]
		if next < first {
			if next == unknown {
				next = a.step(at, class)
				table = a.table
			}
			if next < first {
				return next == matched
			}
		}
		at = next
	}
	next := table[at+a.classes.end]
	if next == unknown {
		next = a.step(at, a.classes.end)
	}
	return next == matched
}

// step fills in an entry. The end of a line leads to a match or to nothing.
func (a *automaton) step(at, class int32) int32 {
	if a.work > pause {
		a.work = 0
		a.stopped = a.stopped || a.ctx.Err() != nil
	}
	if a.stopped {
		return dead
	}
	s := a.states[(at-first)/int32(a.stride)]
	r, prev := rune(-1), ' '
	if class != a.classes.end {
		r = a.classes.starts[class]
	}
	if a.classes.words && syntax.IsWordChar(r) {
		prev = 'a'
	}
	matches := a.reach(s, syntax.EmptyOpContext(s.prev, r))
	a.next.clear()
	a.hasMatched = false
	if !matches && r >= 0 {
		a.add(uint32(a.prog.Start), false)
		for _, pc := range a.set.dense {
			if a.prog.Inst[pc].MatchRune(r) {
				a.add(a.prog.Inst[pc].Out, false)
			}
		}
		a.work += len(a.set.dense)
	}
	next := dead
	switch {
	case matches || a.hasMatched:
		next = matched
	case len(a.next.dense) > 0:
		rows := len(a.states)
		if next = a.row(prev); len(a.states) < rows { // all were dropped
			return next
		}
	}
	a.table[at+class] = next
	return next
}

// reach fills set with the instructions of a state that take a character, and
// says whether one gets to a match without any.
func (a *automaton) reach(s state, context syntax.EmptyOp) bool {
	a.set.clear()
	for _, pc := range s.insts {
		a.stack = append(a.stack[:0], pc)
		for len(a.stack) > 0 {
			pc := a.stack[len(a.stack)-1]
			a.stack = a.stack[:len(a.stack)-1]
			switch inst := &a.prog.Inst[pc]; inst.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				a.set.add(pc)
			case syntax.InstMatch:
				return true
			case syntax.InstEmptyWidth:
				if syntax.EmptyOp(inst.Arg)&^context == 0 && a.set.add(pc) {
					a.stack = append(a.stack, inst.Out)
				}
			case syntax.InstAlt, syntax.InstAltMatch:
				if a.set.add(pc) {
					a.stack = append(a.stack, inst.Arg, inst.Out)
				}
			case syntax.InstCapture, syntax.InstNop:
				if a.set.add(pc) {
					a.stack = append(a.stack, inst.Out)
				}
			}
		}
	}
	a.work += len(a.set.dense)
	a.set.dense = slices.DeleteFunc(a.set.dense, func(pc uint32) bool {
		op := a.prog.Inst[pc].Op
		return op == syntax.InstEmptyWidth || op == syntax.InstAlt || op == syntax.InstAltMatch || op == syntax.InstCapture || op == syntax.InstNop
	})
	return false
}

// add puts an instruction into the next state, or those that it leads to. What
// depends on the character that follows is put there as it is. A line that has
// begun does not begin again.
func (a *automaton) add(pc uint32, begins bool) {
	a.stack = append(a.stack[:0], pc)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.next.has(pc) {
			continue
		}
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstFail:
			continue
		case syntax.InstEmptyWidth:
			if !begins && syntax.EmptyOp(inst.Arg)&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0 {
				continue
			}
		case syntax.InstMatch:
			a.hasMatched = true
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, inst.Out)
		}
		a.next.add(pc)
	}
}

// row gives the row of the state that is in next.
func (a *automaton) row(prev rune) int32 {
	insts := make([]uint32, 0, len(a.next.dense))
	for _, pc := range a.next.dense {
		switch a.prog.Inst[pc].Op {
		case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture, syntax.InstNop:
		default:
			insts = append(insts, pc)
		}
	}
	a.work += len(a.next.dense)
	slices.Sort(insts)
	a.key = binary.AppendVarint(a.key[:0], int64(prev))
	for _, pc := range insts {
		a.key = binary.AppendUvarint(a.key, uint64(pc))
	}
	if row, ok := a.rows[string(a.key)]; ok {
		return row
	}
	if len(a.table)+a.stride > max(maxTable, 16*a.stride) || a.size+len(insts) > max(maxSets, 4*len(a.prog.Inst)) {
		clear(a.rows)
		clear(a.states)
		a.states, a.table, a.size, a.start = a.states[:0], a.table[:0], 0, 0
	}
	if len(a.table) == 0 {
		a.table = append(a.table, unknown, matched, dead)
	}
	row := int32(len(a.table))
	a.table = slices.Grow(a.table, a.stride)[:len(a.table)+a.stride]
	clear(a.table[row:])
	a.states = append(a.states, state{insts, prev})
	a.rows[string(a.key)] = row
	a.size += len(insts)
	return row
}

// sparse is a set of instructions.
type sparse struct {
	dense []uint32
	where []uint32 // of each instruction in dense, if it is there
}

func newSparse(n int) sparse { return sparse{make([]uint32, 0, n), make([]uint32, n)} }

func (s *sparse) clear() { s.dense = s.dense[:0] }

func (s *sparse) has(pc uint32) bool {
	at := s.where[pc]
	return int(at) < len(s.dense) && s.dense[at] == pc
}

// add says whether it was not there.
func (s *sparse) add(pc uint32) bool {
	if s.has(pc) {
		return false
	}
	s.where[pc] = uint32(len(s.dense))
	s.dense = append(s.dense, pc)
	return true
}
