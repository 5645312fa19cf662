package judge

import (
	"strconv"
	"strings"

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
	glob  bool   // has an active wildcard
	multi bool   // may be no word or several
	safe  bool   // not known, but a plain number or a file descriptor
	proc  bool   // a process substitution
	shape string // of one that is not known and lies in /proc: its text, with gaps
}

// plain reports whether rules may rely on the word.
func (f field) plain() bool { return f.known || f.safe }

// builder expands one word in a scope and collects its fields.
type builder struct {
	walker  *walker
	scope   *scope
	out     []field
	cur     strings.Builder
	shape   strings.Builder // like cur, with gaps
	begun   bool            // an empty field counts, too
	field   field
	bracket bool // has a "[" that is not quoted
	over    bool // the result is too long to follow
}

func (w *walker) builder(s *scope) *builder {
	return &builder{field: field{known: true, safe: true}, walker: w, scope: s}
}

func (b *builder) put(s string) {
	*b.walker.steps += len(s) / 128
	if b.over = b.over || *b.walker.steps > maxSteps || b.cur.Len()+len(s) > maxText; b.over {
		return
	}
	b.cur.WriteString(s)
	b.shape.WriteString(s)
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
		if shape := b.shape.String(); !f.known && inProc(shape) {
			f.shape = shape
		}
		b.out = append(b.out, f)
	}
	b.cur.Reset()
	b.shape.Reset()
	b.begun, b.bracket, b.field = false, false, field{known: true, safe: true}
}

// unknown marks the current field as not known.
func (b *builder) unknown(source string, multi, safe bool) { b.shaped(source, gap, multi, safe) }

// shaped is unknown where something is known all the same.
func (b *builder) shaped(source, shape string, multi, safe bool) {
	*b.walker.steps += len(source) / 128
	if b.over = b.over || *b.walker.steps > maxSteps || b.cur.Len()+len(source)+len(shape) > maxText; !b.over {
		b.cur.WriteString(source)
		b.shape.WriteString(shape)
	}
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
	b := w.builder(s)
	for i, part := range word.Parts {
		b.part(part, i == 0)
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
	b := w.builder(s)
	for i, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.literal(lit, i == 0)
			continue
		}
		b.quoted(part)
	}
	b.begun = true
	b.cut()
	return b.out[0]
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

// ansiC decodes the contents of $'…'.
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

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// paramEffects examines what an expansion does besides producing text.
func (w *walker) paramEffects(p *syntax.ParamExp, s *scope) {
	if p.Index != nil {
		evaluation{w, s}.arithm(p.Index)
	}
	if p.Slice != nil {
		evaluation{w, s}.arithm(p.Slice.Offset)
		evaluation{w, s}.arithm(p.Slice.Length)
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

// printfText returns what printf prints for formats that consist of text and "%s" only.
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
	b := w.builder(s)
	for _, part := range r.Hdoc.Parts {
		b.quoted(part)
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
