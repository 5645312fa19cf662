// Package formula turns the TeX in which models write mathematics into text that a terminal
// can show: x² + √(y) ≤ ∑ᵢ₌₁ⁿ aᵢ. What it does not know it leaves to the caller, who shows the
// source. Work and result are bounded by the length of the text.
package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxSource bounds, in bytes, what is read as a formula.
	MaxSource = 4 << 10

	maxDepth  = 24
	maxResult = 4 * MaxSource
)

// Lines returns a formula as lines, of which most have one. It reports whether all of the
// formula was understood.
func Lines(tex string) ([]string, bool) {
	if len(tex) > MaxSource || strings.TrimSpace(tex) == "" || !utf8.ValidString(tex) {
		return nil, false
	}
	p := parser{in: tex}
	text := p.sequence("")
	if p.failed || p.at < len(p.in) {
		return nil, false
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = tidy(line); line != "" {
			out = append(out, line)
		}
	}
	return out, len(out) > 0
}

// Line is Lines with the lines of the formula on one.
func Line(tex string) (string, bool) {
	lines, ok := Lines(tex)
	return strings.Join(lines, "; "), ok
}

// parser reads TeX from front to back.
type parser struct {
	in      string
	at      int
	depth   int
	failed  bool
	written int
}

func (p *parser) fail() string {
	p.failed, p.at = true, len(p.in)
	return ""
}

// sequence reads up to a closing mark ("}", "]", `\right`, `\end`, or the end for ""), which
// is taken too.
func (p *parser) sequence(until string) string {
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	var b strings.Builder
	for p.at < len(p.in) {
		if until != "" && strings.HasPrefix(p.in[p.at:], until) && !letterAfter(p.in[p.at:], until) {
			p.at += len(until)
			return b.String()
		}
		base, binds := p.atom()
		large := utf8.RuneCountInString(base) == 1 && strings.Contains("∫∑∏∐∬∭∮⋃⋂", base)
		switch base, binds = p.scripts(base, binds); {
		case large:
			b.WriteString(base + " ")
		case binds:
			b.WriteString(base)
		default:
			b.WriteString(" " + base + " ")
		}
		if p.written += len(base); p.written > maxResult {
			return p.fail()
		}
	}
	if until != "" {
		return p.fail()
	}
	return b.String()
}

// letterAfter reports whether a command is only the beginning of another, as \right is of \rightarrow.
func letterAfter(s, command string) bool {
	if command[0] != '\\' || len(s) == len(command) {
		return false
	}
	return isLetter(s[len(command)])
}

// scripts reads what stands above and below an atom.
func (p *parser) scripts(base string, binds bool) (string, bool) {
	for {
		switch rest := strings.TrimLeft(p.in[p.at:], " "); {
		case rest != "" && (rest[0] == '^' || rest[0] == '_'):
			p.at = len(p.in) - len(rest) + 1
			base += script(strings.TrimSpace(p.argument()), rest[0] == '^')
		case rest != "" && rest[0] == '\'':
			p.at = len(p.in) - len(rest) + 1
			base += "′"
		case strings.HasPrefix(rest, `\limits`), strings.HasPrefix(rest, `\nolimits`):
			p.at = len(p.in) - len(rest) + strings.Index(rest, "limits") + len("limits")
		default:
			return base, binds
		}
	}
}

// atom reads one thing; binds says that it needs no space around it.
func (p *parser) atom() (text string, binds bool) {
	c, n := utf8.DecodeRuneInString(p.in[p.at:])
	switch {
	case c == '\\':
		return p.command()
	case c == '{':
		p.at++
		return p.sequence("}"), true
	case c == '}' || c == '$' || c == '#' || c == '%':
		return p.fail(), true
	case c == '^' || c == '_':
		return "", true // a script without a base
	case unicode.IsSpace(c):
		p.at += n
		return " ", true
	case c == '&':
		p.at++
		return " ", true
	case c == '~':
		p.at++
		return " ", true
	case strings.ContainsRune("=<>", c):
		p.at++
		return string(c), false
	case c == '-':
		p.at++
		return "−", true
	case c == '*':
		p.at++
		return "∗", true
	}
	p.at += n
	return string(c), true
}

// argument reads what a command is given: a group, or the next thing.
func (p *parser) argument() string {
	p.blanks()
	if p.at >= len(p.in) {
		return p.fail()
	}
	if p.in[p.at] == '{' {
		p.at++
		return p.sequence("}")
	}
	text, _ := p.atom()
	return text
}

// optional reads what is given between brackets, if anything.
func (p *parser) optional() string {
	p.blanks()
	if p.at < len(p.in) && p.in[p.at] == '[' {
		p.at++
		return p.sequence("]")
	}
	return ""
}

func (p *parser) blanks() {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\n') {
		p.at++
	}
}

// raw reads a group as it is written.
func (p *parser) raw() string {
	p.blanks()
	end := strings.IndexByte(p.in[p.at:], '}')
	if end < 0 || p.in[p.at] != '{' || strings.ContainsAny(p.in[p.at+1:p.at+end], `{\`) {
		return p.fail()
	}
	text := p.in[p.at+1 : p.at+end]
	p.at += end + 1
	return text
}

// name reads the name of a command, of which the backslash is read.
func (p *parser) name() string {
	end := p.at
	for end < len(p.in) && isLetter(p.in[end]) {
		end++
	}
	if end == p.at && end < len(p.in) {
		_, n := utf8.DecodeRuneInString(p.in[end:])
		end += n
	}
	name := p.in[p.at:end]
	p.at = end
	return name
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// tidy leaves single blanks between words, and none within brackets.
func tidy(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("( ", "(", " )", ")", "[ ", "[", " ]", "]", " ,", ",", "⟨ ", "⟨", " ⟩", "⟩").Replace(s)
}

// grouped puts a text between parentheses if it is more than one thing.
func grouped(s string) string {
	s = tidy(s)
	if simple(s) {
		return s
	}
	return "(" + s + ")"
}

// simple reports whether a text stands for one thing: a number, or a letter with its scripts.
func simple(s string) bool {
	digits := strings.Trim(s, "0123456789.") == ""
	base := 0
	for _, r := range s {
		switch {
		case isScript(r) || unicode.Is(unicode.Mn, r) || r == '′':
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '∞' || r == '∂':
			base++
		default:
			return wrapped(s)
		}
	}
	return digits || base <= 1
}

// wrapped reports whether a text stands between parentheses that belong together.
func wrapped(s string) bool {
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return false
	}
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(s)-1 {
				return false
			}
		}
	}
	return depth == 0
}
