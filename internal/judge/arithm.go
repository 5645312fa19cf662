package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluation looks at what arithmetic and tests evaluate in a scope.
type evaluation struct {
	walker *walker
	scope  *scope
}

// arithm looks at an arithmetic expression. The value of a variable in it is
// evaluated again, and an index in that value can run commands.
func (e evaluation) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		e.arithmWord(x)
	case *syntax.BinaryArithm:
		e.arithmBinary(x)
	case *syntax.UnaryArithm:
		e.arithm(x.X)
	case *syntax.ParenArithm:
		e.arithm(x.X)
	default:
		e.walker.dynamic(e.walker.source(x), "an arithmetic expression cannot be judged")
	}
}

func (e evaluation) arithmBinary(x *syntax.BinaryArithm) {
	if word, ok := x.X.(*syntax.Word); ok && x.Op == syntax.Assgn && syntax.ValidName(word.Lit()) {
		e.arithm(x.Y)
		e.walker.assign(word.Lit(), field{safe: true}, e.scope, e.walker.source(x))
		return
	}
	e.arithm(x.X)
	e.arithm(x.Y)
}

func (e evaluation) arithmWord(word *syntax.Word) {
	lit := word.Lit()
	if p := loneParam(word); p != nil && p.Index == nil {
		lit = p.Param.Value
	}
	switch {
	case isNumber(lit):
	case syntax.ValidName(lit):
		if v := e.scope.get(lit); !v.num && !(v.known && (v.text == "" || isNumber(v.text))) && !e.scope.fresh(lit) {
			e.walker.dynamic(e.walker.source(word), "the variable "+lit+" is evaluated as arithmetic, and what it holds is not known")
		}
	case lit == "@" || lit == "*" || lit == "":
		for _, f := range e.walker.expand(word, e.scope) {
			if !f.safe || f.known && !isHexNumber(f.text) {
				e.walker.dynamic(e.walker.source(word), "arithmetic on a text that is not known")
			}
		}
	default:
		if f := e.walker.single(word, e.scope); !f.plain() || f.known && !isHexNumber(f.text) && !syntax.ValidName(f.text) && !isPositional(lit) {
			e.walker.dynamic(e.walker.source(word), "arithmetic on a text that is not known")
		}
	}
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

func (e evaluation) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		e.walker.single(x, e.scope)
	case *syntax.ParenTest:
		e.test(x.X)
	case *syntax.UnaryTest:
		e.test(x.X)
		if word, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if f := e.walker.single(word, e.scope); !f.known || !syntax.ValidName(f.text) {
				e.walker.dynamic(e.walker.source(word), "a name with an index is evaluated, which can run commands")
			}
		}
	case *syntax.BinaryTest:
		e.binaryTest(x)
	}
}

func (e evaluation) binaryTest(x *syntax.BinaryTest) {
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			word, ok := side.(*syntax.Word)
			if !ok {
				continue
			}
			f := e.walker.single(word, e.scope)
			if f.safe && !f.known || f.known && isHexNumber(f.text) || f.known && f.text == "" {
				continue
			}
			e.walker.dynamic(e.walker.source(word), "arithmetic on a text that is not known")
		}
	default:
		e.test(x.X)
		e.test(x.Y)
	}
}
