package judge

import (
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	maxFields = 512      // words that one word may expand to
	maxText   = 64 << 10 // bytes of one
)

// field is one word of a command after expansion.
type field struct {
	text  string // the word; of one that is not known its source
	known bool
	glob  bool // has an active wildcard
	multi bool // may be no word or several
	safe  bool // not known, but a plain number or a file descriptor
	proc  bool // a process substitution
}

// plain reports whether rules may rely on the word.
func (f field) plain() bool { return f.known || f.safe }

// builder collects the fields of one word.
type builder struct {
	out     []field
	cur     strings.Builder
	begun   bool // an empty field counts, too
	field   field
	bracket bool // has a "[" that was not quoted
	steps   *int
	over    bool // the result is too long to be followed
}

func (w *walker) builder() *builder {
	return &builder{field: field{known: true, safe: true}, steps: w.steps}
}

func (b *builder) put(s string) {
	*b.steps += len(s) / 128
	if b.over = b.over || *b.steps > maxSteps || b.cur.Len()+len(s) > maxText; b.over {
		return
	}
	b.cur.WriteString(s)
	b.begun = b.begun || s != ""
}

func (b *builder) cut() {
	if b.over || len(b.out) > 16*maxFields {
		b.over = true
		b.out = []field{{text: "<long>", multi: true}}
	} else if b.begun {
		f := b.field
		f.text = b.cur.String()
		f.glob = f.glob || b.bracket && strings.Contains(f.text, "]")
		b.out = append(b.out, f)
	}
	b.cur.Reset()
	b.begun, b.bracket, b.field = false, false, field{known: true, safe: true}
}

// unknown marks the current field as not known.
func (b *builder) unknown(source string, multi, safe bool) {
	b.put(source)
	b.field.known = false
	b.field.multi = b.field.multi || multi
	b.field.safe = b.field.safe && safe
	b.begun = true
}

// fields expands words.
func (w *walker) fields(words []*syntax.Word, s *scope) []field {
	var out []field
	for _, word := range words {
		out = append(out, w.expand(word, s)...)
		if len(out) > 16*maxFields {
			w.dynamic(w.source(word), "a command has too many words")
			return out
		}
	}
	return out
}

// expand expands one word as an argument: braces, tilde, variables, splitting.
func (w *walker) expand(word *syntax.Word, s *scope) []field {
	if w.spend(1) {
		return []field{{text: w.source(word), multi: true}}
	}
	if !hasBrace(word) {
		return w.expandOne(word, s)
	}
	split := *word
	if !syntax.SplitBraces(&split) {
		return w.expandOne(word, s)
	}
	var out []field
	n := 0
	for one, err := range expand.BracesSeq(&expand.Config{}, &split) {
		if n++; err != nil || n > maxFields || w.spend(1) {
			w.dynamic(w.source(word), "a word expands to too many words")
			return []field{{text: w.source(word), multi: true}}
		}
		out = append(out, w.expandOne(one, s)...)
	}
	return out
}

func hasBrace(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			return true
		}
	}
	return false
}

func (w *walker) expandOne(word *syntax.Word, s *scope) []field {
	b := w.builder()
	for i, part := range word.Parts {
		w.part(b, part, s, i == 0)
	}
	b.cut()
	return b.out
}

// single expands a word where the shell does not split: assignments, redirects,
// here-documents, case words.
func (w *walker) single(word *syntax.Word, s *scope) field {
	if word == nil {
		return field{known: true, safe: true}
	}
	b := w.builder()
	for i, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			w.literal(b, lit, i == 0)
			continue
		}
		w.quoted(b, part, s)
	}
	b.begun = true
	b.cut()
	return b.out[0]
}

func (w *walker) part(b *builder, part syntax.WordPart, s *scope, first bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		w.literal(b, p, first)
	case *syntax.ParamExp:
		w.param(b, p, s, false)
	case *syntax.CmdSubst:
		w.substitute(b, p, s, false)
	case *syntax.ExtGlob:
		b.put(w.source(p))
		b.field.glob = true
		w.dynamic(w.source(p), "an extended pattern can run code in some shells")
	default:
		w.quoted(b, part, s)
	}
}

// quoted handles parts that never split.
func (w *walker) quoted(b *builder, part syntax.WordPart, s *scope) {
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
			w.quoted(b, inner, s)
		}
	case *syntax.Lit:
		b.put(unescape(p.Value, "$`\\"))
	case *syntax.ParamExp:
		w.param(b, p, s, true)
	case *syntax.CmdSubst:
		w.substitute(b, p, s, true)
	case *syntax.ArithmExp:
		w.arithm(p.X, s)
		b.unknown(w.source(p), false, true)
	case *syntax.ProcSubst:
		w.inSubshell(p.Stmts, s)
		b.unknown(w.source(p), false, true)
		b.field.proc = true
	default:
		b.unknown(w.source(part), true, false)
	}
}

// literal handles unquoted text.
func (w *walker) literal(b *builder, lit *syntax.Lit, first bool) {
	text := lit.Value
	w.checkSpaces(text)
	if first && strings.HasPrefix(text, "~") {
		text = w.tilde(b, text)
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

func (w *walker) tilde(b *builder, text string) string {
	user, rest, slash := strings.Cut(text[1:], "/")
	if slash {
		rest = "/" + rest
	}
	if user == "" && w.env.Home != "" {
		b.put(w.env.Home)
		return rest
	}
	b.unknown("~"+user, false, false)
	return rest
}

// checkSpaces reports characters that look like a separator and are none, or are
// none here and one elsewhere.
func (w *walker) checkSpaces(text string) {
	for _, r := range text {
		if r != ' ' && r != '\n' && r != '\t' && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)) {
			w.dynamic(w.src, "the script has the character "+strconv.QuoteRuneToASCII(r)+", which does not separate words although it looks so")
			return
		}
	}
}

func unescape(s, special string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte(special, s[i+1]) >= 0 {
				i++
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// ansiC decodes the inside of $'…'.
func ansiC(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a', 'b', 'f', 'n', 'r', 't', 'v':
			out.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case 'e', 'E':
			out.WriteByte(27)
		case 'x':
			i += number(&out, s[i+1:], 16, 2, false)
		case 'u':
			i += number(&out, s[i+1:], 16, 4, true)
		case 'U':
			i += number(&out, s[i+1:], 16, 8, true)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&out, s[i:], 8, 3, false) - 1
		case 'c':
			if i++; i < len(s) {
				out.WriteByte(s[i] & 0x1f)
			}
		default:
			if !strings.ContainsRune(`\'"?`, rune(c)) {
				out.WriteByte('\\')
			}
			out.WriteByte(c)
		}
	}
	text, _, _ := strings.Cut(out.String(), "\x00") // bash ends the text there
	return text
}

// number decodes up to most digits and returns how many there were.
func number(out *strings.Builder, s string, base, most int, char bool) int {
	n := 0
	for n < len(s) && n < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(s[:n], base, 32)
	switch {
	case err != nil:
	case char:
		out.WriteRune(rune(v))
	default:
		out.WriteByte(byte(v))
	}
	return n
}

// param expands a variable. Only plain uses of known values are expanded.
func (w *walker) param(b *builder, p *syntax.ParamExp, s *scope, quoted bool) {
	source := w.source(p)
	w.paramEffects(p, s)
	if p.Param == nil || p.Flags != nil || p.Excl || p.Width || p.IsSet || p.NestedParam != nil || p.Names != 0 {
		b.unknown(source, !quoted, false)
		if p.Excl && p.Names == 0 || p.Flags != nil || p.NestedParam != nil {
			w.dynamic(source, "an indirect variable can name anything")
		}
		return
	}
	name := p.Param.Value
	if p.Length || name == "#" || name == "?" || name == "$" || name == "!" {
		b.unknown(source, false, !s.ifs)
		return
	}
	simple := p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && len(p.Modifiers) == 0
	switch {
	case (name == "@" || name == "*") && simple && !s.blind:
		w.positional(b, s.args, name == "*", quoted)
		return
	case !simple:
		b.unknown(source, !quoted, false)
		return
	}
	v := w.get(name, s)
	if n, err := strconv.Atoi(name); err == nil {
		v = s.arg(n)
	}
	switch {
	case !v.known:
		b.unknown(source, !quoted, v.num && !s.ifs)
	case quoted:
		b.put(v.text)
	case s.ifs:
		b.unknown(source, true, false)
	default:
		w.split(b, v.text)
	}
}

func (s *scope) arg(n int) value {
	switch {
	case s.blind || n == 0:
		return value{}
	case n > len(s.args):
		return value{known: true}
	case !s.args[n-1].known:
		return value{}
	}
	return value{known: true, text: s.args[n-1].text}
}

func (w *walker) positional(b *builder, args []field, join, quoted bool) {
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
			w.split(b, a.text)
		}
	}
}

// split puts the text of an unquoted expansion, cut into words.
func (w *walker) split(b *builder, text string) {
	if text == "" {
		return
	}
	for i, word := range strings.FieldsFunc(text+".", isBlank) { // the dot keeps a final blank
		if i > 0 || isBlank(rune(text[0])) {
			b.cut()
		}
		b.put(word)
		b.field.glob = b.field.glob || strings.ContainsAny(word, "*?[")
	}
	// remove the dot
	kept := strings.TrimSuffix(b.cur.String(), ".")
	b.cur.Reset()
	b.cur.WriteString(kept)
	b.begun = b.begun && kept != ""
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// paramEffects looks at what an expansion does beside giving a text.
func (w *walker) paramEffects(p *syntax.ParamExp, s *scope) {
	if p.Index != nil {
		w.arithm(p.Index, s)
	}
	if p.Slice != nil {
		w.arithm(p.Slice.Offset, s)
		w.arithm(p.Slice.Length, s)
	}
	if p.Repl != nil {
		w.single(p.Repl.Orig, s)
		w.single(p.Repl.With, s)
	}
	if p.Exp == nil {
		return
	}
	text := w.single(p.Exp.Word, s)
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Param != nil {
			w.assign(p.Param.Value, field{text: text.text}, s, w.source(p))
		}
	case syntax.OtherParamOps:
		if text.text == "P" {
			w.dynamic(w.source(p), "a variable is expanded as a prompt, which can run commands")
		}
	}
}

// substitute expands $(…): its commands run, and some simple ones have an output
// that is known.
func (w *walker) substitute(b *builder, p *syntax.CmdSubst, s *scope, quoted bool) {
	out, ok := w.output(p.Stmts, s)
	w.inSubshell(p.Stmts, s)
	switch {
	case !ok || s.ifs && !quoted:
		b.unknown(w.source(p), !quoted, false)
	case quoted:
		b.put(strings.TrimRight(out, "\n"))
	default:
		w.split(b, strings.TrimRight(out, "\n"))
	}
}

// output returns what simple statements would print.
func (w *walker) output(stmts []*syntax.Stmt, s *scope) (string, bool) {
	if len(stmts) != 1 || stmts[0].Background || stmts[0].Negated {
		return "", false
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || len(s.funcs[call.Args[0].Lit()]) > 0 {
		return "", false
	}
	quiet := w.quiet()
	args := quiet.fields(call.Args, s.clone())
	for _, a := range args {
		if !a.known || a.glob {
			return "", false
		}
	}
	if len(args) == 0 || len(s.funcs[args[0].text]) > 0 || len(stmts[0].Redirs) > 0 && args[0].text != "cat" {
		return "", false
	}
	return quiet.printed(args, stmts[0].Redirs, s)
}

func (w *walker) printed(args []field, redirs []*syntax.Redirect, s *scope) (string, bool) {
	texts := make([]string, len(args)-1)
	for i, a := range args[1:] {
		texts[i] = a.text
	}
	switch joined := strings.Join(texts, " "); args[0].text {
	case "echo":
		if strings.Contains(joined, `\`) || strings.HasPrefix(joined, "-") {
			return "", false
		}
		return joined + "\n", true
	case "printf":
		return printfText(texts)
	case "pwd":
		if len(texts) == 0 && len(s.dirs) == 1 {
			return s.dirs[0] + "\n", true
		}
	case "cat":
		if len(texts) == 0 && len(redirs) == 1 && (redirs[0].Op == syntax.Hdoc || redirs[0].Op == syntax.WordHdoc) {
			return w.document(redirs[0], s)
		}
	}
	return "", false
}

// printfText returns what printf prints for formats of text and "%s" alone.
func printfText(words []string) (string, bool) {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return "", false
	}
	format, args := words[0], words[1:]
	if strings.Contains(strings.ReplaceAll(format, "%s", ""), "%") || strings.Contains(strings.ReplaceAll(format, `\n`, ""), `\`) {
		return "", false
	}
	var out strings.Builder
	for first := true; first || len(args) > 0; first = false {
		parts := strings.Split(strings.ReplaceAll(format, `\n`, "\n"), "%s")
		for i, part := range parts {
			if i > 0 && len(args) > 0 {
				out.WriteString(args[0])
				args = args[1:]
			}
			out.WriteString(part)
		}
		if len(parts) == 1 {
			return out.String(), len(args) == 0
		}
	}
	return out.String(), true
}

// document returns the text of a here-document or here-string.
func (w *walker) document(r *syntax.Redirect, s *scope) (string, bool) {
	if r.Op == syntax.WordHdoc {
		f := w.single(r.Word, s)
		return f.text + "\n", f.known
	}
	if r.Hdoc == nil {
		return "", true
	}
	if isQuoted(r.Word) {
		return r.Hdoc.Lit(), true
	}
	b := w.builder()
	for _, part := range r.Hdoc.Parts {
		w.quoted(b, part, s)
	}
	b.begun = true
	b.cut()
	return b.out[0].text, b.out[0].known && r.Op == syntax.Hdoc
}

func isQuoted(word *syntax.Word) bool {
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}
