package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithm looks at an arithmetic expression. The value of a variable in it is
// evaluated again, and an index in that value can run commands.
func (w *walker) arithm(x syntax.ArithmExpr, s *scope) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		w.arithmWord(x, s)
	case *syntax.BinaryArithm:
		w.arithmBinary(x, s)
	case *syntax.UnaryArithm:
		w.arithm(x.X, s)
	case *syntax.ParenArithm:
		w.arithm(x.X, s)
	default:
		w.dynamic(w.source(x), "an arithmetic expression cannot be judged")
	}
}

func (w *walker) arithmBinary(x *syntax.BinaryArithm, s *scope) {
	if word, ok := x.X.(*syntax.Word); ok && x.Op == syntax.Assgn && syntax.ValidName(word.Lit()) {
		w.arithm(x.Y, s)
		w.assign(word.Lit(), field{safe: true}, s, w.source(x))
		return
	}
	w.arithm(x.X, s)
	w.arithm(x.Y, s)
}

func (w *walker) arithmWord(word *syntax.Word, s *scope) {
	lit := word.Lit()
	if p := loneParam(word); p != nil && p.Index == nil {
		lit = p.Param.Value
	}
	switch {
	case isNumber(lit):
	case syntax.ValidName(lit):
		if v := w.get(lit, s); !v.num && !(v.known && (v.text == "" || isNumber(v.text))) && !w.fresh(lit, s) {
			w.dynamic(w.source(word), "the variable "+lit+" is evaluated as arithmetic, and what it holds is not known")
		}
	case lit == "@" || lit == "*" || lit == "":
		for _, f := range w.expand(word, s) {
			if !f.safe || f.known && !isHexNumber(f.text) {
				w.dynamic(w.source(word), "arithmetic on a text that is not known")
			}
		}
	default:
		if f := w.single(word, s); !f.plain() || f.known && !isHexNumber(f.text) && !syntax.ValidName(f.text) && !isPositional(lit) {
			w.dynamic(w.source(word), "arithmetic on a text that is not known")
		}
	}
}

// fresh reports whether a variable is unset for all that is known: counters often are.
func (w *walker) fresh(name string, s *scope) bool {
	_, set := s.vars[name]
	if set || s.wild || w.env.Lookup == nil {
		return false
	}
	_, set = w.env.Lookup(name)
	return !set
}

func loneParam(word *syntax.Word) *syntax.ParamExp {
	if len(word.Parts) != 1 {
		return nil
	}
	p, ok := word.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Excl || p.Length || p.Flags != nil ||
		!syntax.ValidName(p.Param.Value) {
		return nil
	}
	return p
}

func isPositional(lit string) bool { return lit == "#" || lit == "?" || lit == "$" || lit == "!" }

// isHexNumber accepts every way to write a number, such as 0x1f and 16#ff.
func isHexNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEFxX#") == ""
}

func (w *walker) test(x syntax.TestExpr, s *scope) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		w.single(x, s)
	case *syntax.ParenTest:
		w.test(x.X, s)
	case *syntax.UnaryTest:
		w.test(x.X, s)
		if word, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if f := w.single(word, s); !f.known || !syntax.ValidName(f.text) {
				w.dynamic(w.source(word), "a name with an index is evaluated, which can run commands")
			}
		}
	case *syntax.BinaryTest:
		w.binaryTest(x, s)
	}
}

func (w *walker) binaryTest(x *syntax.BinaryTest, s *scope) {
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			word, ok := side.(*syntax.Word)
			if !ok {
				continue
			}
			f := w.single(word, s)
			if f.safe && !f.known || f.known && isHexNumber(f.text) || f.known && f.text == "" {
				continue
			}
			w.dynamic(w.source(word), "arithmetic on a text that is not known")
		}
	default:
		w.test(x.X, s)
		w.test(x.Y, s)
	}
}
