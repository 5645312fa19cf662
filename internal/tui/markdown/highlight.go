package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe/internal/tui/styled"
)

// Highlight draws lines of source code in a language, named as fences and file
// extensions name it. An unknown language is drawn plain.
func Highlight(lang string, code []string, st *Styles) []styled.Line {
	lang = strings.ToLower(strings.TrimPrefix(lang, "."))
	out := make([]styled.Line, len(code))
	if lang == "diff" || lang == "patch" {
		for i, l := range code {
			out[i] = diffLine(l, st)
		}
		return out
	}
	g := grammarOf(lang)
	if g == nil {
		for i, l := range code {
			out[i] = styled.Plain(l, st.CodeBlock)
		}
		return out
	}
	h := highlighter{grammar: g, st: st}
	for i, l := range code {
		out[i] = h.line(l)
	}
	return out
}

func diffLine(l string, st *Styles) styled.Line {
	style := st.CodeBlock
	switch {
	case strings.HasPrefix(l, "+"):
		style = st.Added
	case strings.HasPrefix(l, "-"):
		style = st.Removed
	case strings.HasPrefix(l, "@@"):
		style = st.Function
	}
	return styled.Plain(l, style)
}

// grammar is what the highlighter knows about a language.
type grammar struct {
	keywords, types string // between blanks
	line            []string
	open, close     string // of block comments
	quotes          string
	long            []string // quotes that span lines
	fold            bool     // keywords match in any letter case
	dash            bool     // words may hold "-"
	markup          bool     // tags instead of words
}

// highlighter draws one line after the other. until is what ends the comment or
// string that an earlier line left open.
type highlighter struct {
	*grammar
	st    *Styles
	until string
	style styled.Style
	out   styled.Line
}

func (h *highlighter) emit(text string, style styled.Style) {
	if text == "" {
		return
	}
	if n := len(h.out); n > 0 && h.out[n-1].Style == style {
		h.out[n-1].Text += text
		return
	}
	h.out = append(h.out, styled.Span{Text: text, Style: style})
}

// maxCode bounds the lines whose parts are told apart, in bytes: a longer one was
// made by a program, and colours would not help to read it.
const maxCode = 4096

func (h *highlighter) line(l string) styled.Line {
	if len(l) > maxCode {
		return styled.Plain(l, h.st.CodeBlock)
	}
	h.out = nil
	for l != "" {
		if h.until != "" {
			l = h.rest(l)
			continue
		}
		n, style := h.token(l)
		h.emit(l[:n], style)
		l = l[n:]
	}
	return h.out
}

// rest draws what belongs to an open comment or string.
func (h *highlighter) rest(l string) string {
	i := strings.Index(l, h.until)
	if i < 0 {
		h.emit(l, h.style)
		return ""
	}
	end := i + len(h.until)
	h.emit(l[:end], h.style)
	h.until = ""
	return l[end:]
}

// token returns the length and style of the token that l begins with. Opening a
// long string or comment, it returns the opening mark alone.
func (h *highlighter) token(l string) (int, styled.Style) {
	for _, c := range h.grammar.line {
		if strings.HasPrefix(l, c) {
			return len(l), h.st.Comment
		}
	}
	if h.open != "" && strings.HasPrefix(l, h.open) {
		h.until, h.style = h.close, h.st.Comment
		return len(h.open), h.st.Comment
	}
	for _, q := range h.long {
		if strings.HasPrefix(l, q) {
			h.until, h.style = q, h.st.String
			return len(q), h.st.String
		}
	}
	c := l[0]
	if strings.IndexByte(h.quotes, c) >= 0 {
		return quoted(l), h.st.String
	}
	if h.markup {
		return h.tag(l)
	}
	if c >= '0' && c <= '9' {
		return number(l), h.st.Number
	}
	if n := h.word(l); n > 0 {
		return n, h.wordStyle(l[:n], l[n:])
	}
	_, n := utf8.DecodeRuneInString(l)
	return n, h.st.CodeBlock
}

func (h *highlighter) word(l string) int {
	for i, r := range l {
		if !unicode.IsLetter(r) && r != '_' && r != '$' && r != '@' && (i == 0 || !unicode.IsDigit(r) && !(h.dash && r == '-')) {
			return i
		}
	}
	return len(l)
}

func (h *highlighter) wordStyle(w, after string) styled.Style {
	key := w
	if h.fold {
		key = strings.ToLower(w)
	}
	switch {
	case has(h.keywords, key):
		return h.st.Keyword
	case has(h.types, key):
		return h.st.Type
	case strings.HasPrefix(after, "(") && !h.dash:
		return h.st.Function
	case strings.HasPrefix(strings.TrimLeft(after, " "), ":") && h.dash:
		return h.st.Keyword // a key of YAML, TOML or CSS
	case w[0] >= 'A' && w[0] <= 'Z' && !h.fold && !h.dash && strings.ToUpper(w) != w:
		return h.st.Type
	}
	return h.st.CodeBlock
}

func has(words, w string) bool { return len(w) < 24 && strings.Contains(words, " "+w+" ") }

func (h *highlighter) tag(l string) (int, styled.Style) {
	if l[0] != '<' {
		if i := strings.IndexAny(l, "<\"'"); i > 0 {
			return i, h.st.CodeBlock
		}
		return len(l), h.st.CodeBlock
	}
	if i := strings.IndexAny(l, " >"); i > 0 {
		return i, h.st.Keyword
	}
	return len(l), h.st.Keyword
}

func quoted(l string) int {
	for i := 1; i < len(l); i++ {
		switch l[i] {
		case '\\':
			i++
		case l[0]:
			return i + 1
		}
	}
	return len(l)
}

func number(l string) int {
	n := strings.IndexFunc(l, func(r rune) bool {
		return !unicode.IsDigit(r) && !unicode.IsLetter(r) && r != '.' && r != '_'
	})
	if n < 0 {
		return len(l)
	}
	return n
}
