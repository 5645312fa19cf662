package search

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// PatternError says why a pattern cannot be used, and what to do.
type PatternError struct {
	Pattern string
	Reason  string
	Hint    string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q: %s; %s", e.Pattern, e.Reason, e.Hint)
}

const maxPattern = 16 << 10

// expr is a compiled pattern. It is for one goroutine; see [expr.clone].
type expr struct {
	re   *regexp.Regexp
	prog *syntax.Prog
	// dfa finds lines that match faster than re does; nil if it gave up.
	dfa *automaton
	// needs are texts of which every match contains at least one; empty if there
	// are none. only says that a line matches if it contains one of them.
	needs [][]byte
	only  bool
}

func compile(opt GrepOptions) (*expr, error) {
	p := opt.Pattern
	if p == "" {
		return nil, &PatternError{p, "is empty", "give the text to look for"}
	}
	if len(p) > maxPattern {
		return nil, &PatternError{p[:40] + "…", "is too long", "look for a part of it"}
	}
	if opt.Literal {
		p = regexp.QuoteMeta(p)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if opt.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(p, flags)
	if err != nil {
		return nil, patternError(opt.Pattern, err)
	}
	if tree = withoutNewline(tree); crosses(tree) {
		return nil, &PatternError{opt.Pattern, `contains a line end`, `a match never spans lines; look for one line of it (for a backslash and an n, write \\n)`}
	}
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, patternError(opt.Pattern, err)
	}
	e := &expr{re: re}
	simple := tree.Simplify()
	e.prog, _ = syntax.Compile(simple)
	for _, need := range required(simple) {
		e.needs = append(e.needs, []byte(need))
	}
	e.only = simple.Op == syntax.OpLiteral && simple.Flags&syntax.FoldCase == 0
	return e, nil
}

// clone returns the pattern for another goroutine.
func (e *expr) clone() *expr {
	c := *e
	if !c.only {
		c.dfa = newAutomaton(c.prog)
	}
	return &c
}

// matches reports whether a line matches.
func (e *expr) matches(line []byte) bool {
	if e.only {
		return true // the line has the needed text
	}
	if e.dfa != nil {
		if at, ok := e.dfa.find(line); ok {
			return at >= 0
		}
		e.dfa = nil
	}
	return e.re.Match(line)
}

// patternError explains an error of Go's parser to someone used to another
// dialect.
func patternError(pattern string, err error) error {
	e := &PatternError{Pattern: pattern, Reason: err.Error()}
	e.Hint = fmt.Sprintf("to look for it as plain text, escape it: %s", regexp.QuoteMeta(pattern))
	se, ok := err.(*syntax.Error)
	if !ok {
		return e
	}
	e.Reason = fmt.Sprintf("%s: `%s`", se.Code, se.Expr)
	switch {
	case lookAround(se.Expr):
		e.Reason = "look-around is not supported"
		e.Hint = "look for the main part, then filter the lines"
	case se.Code == syntax.ErrInvalidEscape && len(se.Expr) == 2 && se.Expr[1] >= '1' && se.Expr[1] <= '9':
		e.Reason = "back-references are not supported"
		e.Hint = "spell the alternatives out"
	}
	return e
}

func lookAround(s string) bool {
	for _, p := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// withoutNewline takes the line end out of classes and ".", so that a match in
// a block of lines is a match in one of them. \A and \z become line anchors, and
// a "\r" before the line end is part of it.
func withoutNewline(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText, syntax.OpEndLine:
		cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
			{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}},
			{Op: syntax.OpEndLine},
		}}
	case syntax.OpCharClass:
		var out []rune
		for i := 0; i+1 < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			if lo > '\n' || hi < '\n' {
				out = append(out, lo, hi)
				continue
			}
			if lo < '\n' {
				out = append(out, lo, '\n'-1)
			}
			if hi > '\n' {
				out = append(out, '\n'+1, hi)
			}
		}
		re.Rune = out
		if len(out) == 0 {
			re.Op = syntax.OpNoMatch
		}
	}
	for i, sub := range re.Sub {
		re.Sub[i] = withoutNewline(sub)
	}
	return re
}

// crosses reports whether the pattern asks for a line end itself.
func crosses(re *syntax.Regexp) bool {
	if re.Op == syntax.OpNoMatch || re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, crosses)
}

// maxNeeds bounds how many texts are looked for at once.
const maxNeeds = 8

// required returns texts of which every match contains at least one, exactly as
// they stand; nil if nothing is certain.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if s := string(re.Rune); re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(s, utf8.RuneError) {
			return []string{s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if s := required(sub); worth(s) > worth(best) {
				best = s
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			s := required(sub)
			if all = append(all, s...); len(s) == 0 || len(all) > maxNeeds {
				return nil
			}
		}
		return all
	}
	return nil
}

// worth is how well texts select lines: the length of the shortest, less for
// many of them.
func worth(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	shortest := len(texts[0])
	for _, s := range texts {
		shortest = min(shortest, len(s))
	}
	return 2*shortest*maxNeeds - len(texts)
}

// piece is about how much text is given to the regular expression at once: for
// short texts it uses a faster method.
const piece = 4 << 10

// next returns the first matching line at or after pos, which starts a line. The
// end excludes the line end.
func (e *expr) next(text []byte, pos int) (start, end int, ok bool) {
	if len(e.needs) == 0 {
		return e.scan(text, pos)
	}
	for pos < len(text) {
		i := e.candidate(text, pos)
		if i < 0 {
			break
		}
		start, end = lineStart(text, i), lineEnd(text, i)
		if e.matches(text[start:end]) {
			return start, end, true
		}
		pos = end + 1
	}
	return 0, 0, false
}

// candidate returns the position of the first needed text, or -1.
func (e *expr) candidate(text []byte, pos int) int {
	if len(e.needs) == 1 {
		if i := bytes.Index(text[pos:], e.needs[0]); i >= 0 {
			return pos + i
		}
		return -1
	}
	// Piece by piece, so that a rare text is not looked for to the end each time.
	for pos < len(text) {
		stop := len(text)
		if stop-pos > 4*piece {
			stop = lineEnd(text, pos+4*piece)
		}
		first := -1
		for _, need := range e.needs {
			if i := bytes.Index(text[pos:stop], need); i >= 0 && (first < 0 || i < first) {
				first = i
			}
		}
		if first >= 0 {
			return pos + first
		}
		pos = stop + 1
	}
	return -1
}

// scan is next for patterns that need no particular text.
func (e *expr) scan(text []byte, pos int) (start, end int, ok bool) {
	if e.dfa != nil {
		if at, ok := e.dfa.find(text[pos:]); ok {
			start = lineStart(text, pos+max(at, 0))
			return start, lineEnd(text, start), at >= 0 && start < len(text)
		}
		e.dfa = nil
	}
	for pos < len(text) {
		stop := len(text)
		if stop-pos > piece {
			stop = lineEnd(text, pos+piece)
		}
		if at := e.re.FindIndex(text[pos:stop]); at != nil {
			// A match of nothing after the last line end is in no line.
			if start = lineStart(text, pos+at[0]); start < len(text) {
				return start, lineEnd(text, pos+at[0]), true
			}
		}
		pos = stop + 1
	}
	return 0, 0, false
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}
