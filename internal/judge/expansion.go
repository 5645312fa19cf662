package judge

import (
	"cmp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// part adds one part of a word that the shell splits.
func (b *builder) part(part syntax.WordPart, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.literal(p, first)
	case *syntax.ParamExp:
		b.param(p, false)
	case *syntax.CmdSubst:
		b.substitute(p, false)
	case *syntax.ExtGlob:
		b.put(b.walker.source(p))
		b.field.glob = true
		b.walker.dynamic(b.walker.source(p), "an extended pattern can run code in some shells")
	default:
		b.quoted(part)
	}
}

// quoted handles parts that never split.
func (b *builder) quoted(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		b.begun = true
		text := p.Value
		if p.Dollar {
			text = ansiC(text)
		}
		b.put(text)
	case *syntax.DblQuoted:
		b.begun = true
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.put(unescape(lit.Value, "$`\"\\"))
				continue
			}
			b.quoted(inner)
		}
	case *syntax.Lit:
		b.put(unescape(p.Value, "$`\\"))
	case *syntax.ParamExp:
		b.param(p, true)
	case *syntax.CmdSubst:
		b.substitute(p, true)
	case *syntax.ArithmExp:
		evaluation{b.walker, b.scope}.arithm(p.X)
		b.unknown(b.walker.source(p), false, true)
	case *syntax.ProcSubst:
		b.walker.inSubshell(p.Stmts, b.scope)
		b.unknown(b.walker.source(p), false, true)
		b.field.proc = true
	default:
		b.unknown(b.walker.source(part), true, false)
	}
}

// literal handles unquoted text.
func (b *builder) literal(lit *syntax.Lit, first bool) {
	text := lit.Value
	b.walker.checkSpaces(text)
	if first && strings.HasPrefix(text, "~") {
		text = b.tilde(text)
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\n' {
				b.put(text[i : i+1])
			}
		case c == '\\': // the last character of a here-document or word
			b.put(`\`)
		default:
			b.field.glob = b.field.glob || c == '*' || c == '?'
			b.bracket = b.bracket || c == '['
			b.put(text[i : i+1])
		}
	}
}

func (b *builder) tilde(text string) string {
	user, rest, slash := strings.Cut(text[1:], "/")
	if slash {
		rest = "/" + rest
	}
	if user == "" && b.walker.env.Home != "" {
		b.put(b.walker.env.Home)
		return rest
	}
	b.unknown("~"+user, false, false)
	return rest
}

// param expands a variable. Only plain uses of known values are expanded.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	source := b.walker.source(p)
	b.walker.paramEffects(p, b.scope)
	if p.Param == nil || p.Flags != nil || p.Excl || p.Width || p.IsSet || p.NestedParam != nil || p.Names != 0 {
		b.unknown(source, !quoted, false)
		if p.Excl && p.Names == 0 || p.Flags != nil || p.NestedParam != nil {
			b.walker.dynamic(source, "an indirect variable can name anything")
		}
		return
	}
	name := p.Param.Value
	if p.Length || name == "#" || name == "?" || name == "$" || name == "!" {
		b.unknown(source, false, !b.scope.ifs)
		return
	}
	simple := p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && len(p.Modifiers) == 0
	switch {
	case (name == "@" || name == "*") && simple && !b.scope.blind:
		b.positional(b.scope.args, name == "*", quoted)
		return
	case !simple:
		b.unknown(source, !quoted, false)
		return
	}
	v := b.scope.get(name)
	if n, err := strconv.Atoi(name); err == nil {
		v = b.scope.arg(n)
	}
	switch {
	case !v.known:
		b.shaped(source, cmp.Or(v.shape, gap), !quoted, v.num && !b.scope.ifs)
	case quoted:
		b.put(v.text)
	case b.scope.ifs:
		b.unknown(source, true, false)
	default:
		b.split(v.text)
	}
}

func (b *builder) positional(args []field, join, quoted bool) {
	for i, a := range args {
		switch {
		case i == 0:
		case join && quoted:
			b.put(" ")
		default:
			b.cut()
		}
		switch {
		case !a.known:
			b.unknown(a.text, true, a.safe)
		case quoted:
			b.put(a.text)
			b.begun = true
		default:
			b.split(a.text)
		}
	}
}

// split puts the text of an unquoted expansion, cut into words.
func (b *builder) split(text string) {
	if text == "" {
		return
	}
	for i, word := range strings.FieldsFunc(text+".", isBlank) { // the dot keeps a trailing blank
		if i > 0 || isBlank(rune(text[0])) {
			b.cut()
		}
		b.put(word)
		b.field.glob = b.field.glob || strings.ContainsAny(word, "*?[")
	}
	// remove the dot
	kept, shape := strings.TrimSuffix(b.cur.String(), "."), strings.TrimSuffix(b.shape.String(), ".")
	b.cur.Reset()
	b.cur.WriteString(kept)
	b.shape.Reset()
	b.shape.WriteString(shape)
	b.begun = b.begun && kept != ""
}

// substitute expands $(…): its commands run, and some simple ones have an output
// that is known.
func (b *builder) substitute(p *syntax.CmdSubst, quoted bool) {
	out, ok := b.walker.output(p.Stmts, b.scope)
	b.walker.inSubshell(p.Stmts, b.scope)
	switch {
	case !ok || b.scope.ifs && !quoted:
		b.unknown(b.walker.source(p), !quoted, false)
	case quoted:
		b.put(strings.TrimRight(out, "\n"))
	default:
		b.split(strings.TrimRight(out, "\n"))
	}
}
