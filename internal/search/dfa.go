package search

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	maxProgram = 2000    // instructions; a larger program runs on package regexp
	maxStates  = 2000    // of one automaton, about 2.5 MB of tables
	maxWide    = 1 << 16 // steps for non-ASCII characters that are kept, in all states
	maxFlushes = 20      // after that the pattern has too many states to be worth it
)

// automaton finds lines that match a program with one table look-up for each
// byte. Its states are made when they are first reached, as in RE2 (Cox,
// "Regular Expression Matching in the Wild", 2010), and thrown away when there
// are too many. It knows only whether a line matches, not what in it. It is for
// one goroutine.
type automaton struct {
	prog    *syntax.Prog
	states  map[string]*dfaState
	start   *dfaState
	flushes int
	wide    int // steps kept in the states' wide

	// Scratch space of step.
	set, next sparse
	stack     []uint32
	key       []byte
}

// dfaState is a set of instructions that wait for the next character.
type dfaState struct {
	insts []uint32
	prev  prevChar // the character that led here
	ascii [utf8.RuneSelf]*dfaState
	// wide holds the steps for non-ASCII characters.
	wide map[rune]*dfaState
	end  *dfaState // the step at the end of the text
}

// prevChar is what an assertion has to know about the character before it.
type prevChar uint8

const (
	lineBreak prevChar = iota // or the start of the text
	wordChar
	otherChar
)

// found is the state reached by a line that matches.
var found = new(dfaState)

// endOfText stands for the character after the last one.
const endOfText rune = -1

// newAutomaton returns nil for a program that is too large.
func newAutomaton(prog *syntax.Prog) *automaton {
	if prog == nil || len(prog.Inst) > maxProgram {
		return nil
	}
	a := &automaton{prog: prog, set: newSparse(len(prog.Inst)), next: newSparse(len(prog.Inst))}
	a.flush()
	return a
}

func (a *automaton) flush() {
	a.states, a.wide = map[string]*dfaState{}, 0
	a.start = a.state(lineBreak)
}

// find returns a place in the first line of the text that matches, or -1. The
// text starts a line, and ends with one. If ok is false, the automaton gave up
// and should not be asked again.
func (a *automaton) find(text []byte) (at int, ok bool) {
	s := a.start
	for i := 0; i < len(text); {
		size := 1
		var to *dfaState
		if c := text[i]; c < utf8.RuneSelf {
			if to = s.ascii[c]; to == nil {
				to = a.step(s, rune(c))
			}
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			if to = s.wide[r]; to == nil {
				to = a.step(s, r)
			}
		}
		if to == found {
			return i, true
		}
		if to == nil {
			return 0, false
		}
		s = to
		i += size
	}
	if len(text) > 0 && text[len(text)-1] == '\n' {
		return -1, true // nothing is after the last line end
	}
	if s.end == nil {
		s.end = a.step(s, endOfText)
	}
	if s.end == found {
		return len(text), true
	}
	return -1, true
}

// step computes where a character leads, and keeps it. It returns nil if there
// were too many states too often.
func (a *automaton) step(s *dfaState, r rune) *dfaState {
	to := a.compute(s, r)
	if to != found && len(a.states) > maxStates {
		if a.flushes++; a.flushes > maxFlushes {
			return nil
		}
		a.flush()
		return a.state(to.prev, to.insts...)
	}
	switch {
	case r == endOfText:
	case r < utf8.RuneSelf:
		s.ascii[r] = to
	default:
		if s.wide == nil {
			s.wide = map[rune]*dfaState{}
		}
		if len(s.wide) < 1024 && a.wide < maxWide {
			a.wide++
			s.wide[r] = to
		}
	}
	return to
}

func (a *automaton) compute(s *dfaState, r rune) *dfaState {
	if a.closure(s, emptyOps(s.prev, r)) {
		return found
	}
	if r == '\n' || r == endOfText {
		return a.start // a match never spans lines
	}
	a.next.clear()
	for _, pc := range a.set.dense {
		if inst := &a.prog.Inst[pc]; takes(inst, r) {
			a.next.add(inst.Out)
		}
	}
	prev := otherChar
	if syntax.IsWordChar(r) {
		prev = wordChar
	}
	return a.state(prev, a.next.dense...)
}

// closure fills a.set with what is reached from a state, and from the start of
// the pattern, without reading. It reports whether that includes a match.
func (a *automaton) closure(s *dfaState, ops syntax.EmptyOp) bool {
	a.set.clear()
	a.stack = append(a.stack[:0], s.insts...)
	a.stack = append(a.stack, uint32(a.prog.Start))
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if !a.set.add(pc) {
			continue
		}
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^ops == 0 {
				a.stack = append(a.stack, inst.Out)
			}
		}
	}
	return false
}

// state returns the state for a set of instructions.
func (a *automaton) state(prev prevChar, insts ...uint32) *dfaState {
	slices.Sort(insts)
	a.key = append(a.key[:0], byte(prev))
	for _, pc := range insts {
		a.key = append(a.key, byte(pc), byte(pc>>8))
	}
	if s := a.states[string(a.key)]; s != nil {
		return s
	}
	s := &dfaState{insts: slices.Clone(insts), prev: prev}
	a.states[string(a.key)] = s
	return s
}

// emptyOps are the assertions that hold between two characters of a line.
func emptyOps(prev prevChar, next rune) syntax.EmptyOp {
	var ops syntax.EmptyOp
	if prev == lineBreak {
		ops |= syntax.EmptyBeginLine
	}
	if next == '\n' || next == endOfText {
		ops |= syntax.EmptyEndLine
	}
	if (prev == wordChar) != syntax.IsWordChar(next) {
		return ops | syntax.EmptyWordBoundary
	}
	return ops | syntax.EmptyNoWordBoundary
}

func takes(inst *syntax.Inst, r rune) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1:
		return inst.MatchRune(r)
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// sparse is a set of small numbers that is cleared without touching it (Briggs
// and Torczon, 1993).
type sparse struct {
	where []uint32
	dense []uint32
}

func newSparse(n int) sparse { return sparse{make([]uint32, n), make([]uint32, 0, n)} }

func (s *sparse) clear() { s.dense = s.dense[:0] }

func (s *sparse) add(n uint32) bool {
	if at := s.where[n]; int(at) < len(s.dense) && s.dense[at] == n {
		return false
	}
	s.where[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
