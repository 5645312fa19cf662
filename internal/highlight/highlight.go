// Package highlight tells the parts of source code apart: comments, keywords, strings.
// It knows a language by a few words and marks, so it has no cost at a start and never
// fails; what it draws is right for most code, not for all.
package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a piece of source code is.
type Kind uint8

// The kinds of source code.
const (
	Plain Kind = iota
	Comment
	Keyword
	Function
	String
	Number
	Type
)

// Span is a piece of one line.
type Span struct {
	Text string
	Kind Kind
}

// Lines returns the pieces of each line of source code in a language, which is named as
// fences and file extensions name it. The pieces of a line make up all of it. It returns
// nil for a language that it does not know.
func Lines(lang string, code []string) [][]Span {
	g := grammarOf(strings.ToLower(strings.TrimPrefix(lang, ".")))
	if g == nil {
		return nil
	}
	h := highlighter{grammar: g}
	out := make([][]Span, len(code))
	for i, l := range code {
		out[i] = h.line(l)
	}
	return out
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
	shell           bool     // words mean something only where a command begins
}

// highlighter draws one line after the other. until is what ends the comment or
// string that an earlier line left open.
type highlighter struct {
	*grammar
	until string
	kind  Kind // of what until ends
	begun bool // a command has begun, so that words are its arguments
	out   []Span
}

func (h *highlighter) emit(text string, kind Kind) {
	if text == "" {
		return
	}
	if n := len(h.out); n > 0 && h.out[n-1].Kind == kind {
		h.out[n-1].Text += text
		return
	}
	h.out = append(h.out, Span{text, kind})
}

// maxCode bounds the lines whose parts are told apart, in bytes: a longer one was
// made by a program, and colours would not help to read it.
const maxCode = 4096

func (h *highlighter) line(l string) []Span {
	if len(l) > maxCode {
		return []Span{{l, Plain}}
	}
	h.out, h.begun = nil, false
	for l != "" {
		if h.until != "" {
			l = h.rest(l)
			continue
		}
		n, kind := h.token(l)
		if h.shell {
			kind = h.inCommand(l[:n], kind)
		}
		h.emit(l[:n], kind)
		l = l[n:]
	}
	return h.out
}

// inCommand returns what a token of a shell's command is where it stands: the argument "test"
// of "go test" is no command of that name.
func (h *highlighter) inCommand(token string, kind Kind) Kind {
	word := kind == Keyword || kind == Type
	switch {
	case strings.TrimSpace(token) == "":
	case strings.ContainsAny(token, ";|&({`") && kind == Plain:
		h.begun = false
	case has(" in ", token):
	case word && h.begun:
		return Plain
	case !word || !has(" if then else elif while until do exec sudo eval ! RUN CMD ENTRYPOINT ", token):
		h.begun = true
	}
	return kind
}

// rest draws what belongs to an open comment or string.
func (h *highlighter) rest(l string) string {
	i := strings.Index(l, h.until)
	if i < 0 {
		h.emit(l, h.kind)
		return ""
	}
	end := i + len(h.until)
	h.emit(l[:end], h.kind)
	h.until = ""
	return l[end:]
}

// token returns the length and kind of the token that l begins with. Opening a
// long string or comment, it returns the opening mark alone.
func (h *highlighter) token(l string) (int, Kind) {
	for _, c := range h.grammar.line {
		if strings.HasPrefix(l, c) {
			return len(l), Comment
		}
	}
	if h.open != "" && strings.HasPrefix(l, h.open) {
		h.until, h.kind = h.close, Comment
		return len(h.open), Comment
	}
	for _, q := range h.long {
		if strings.HasPrefix(l, q) {
			h.until, h.kind = q, String
			return len(q), String
		}
	}
	c := l[0]
	if strings.IndexByte(h.quotes, c) >= 0 {
		return quoted(l), String
	}
	if h.markup {
		return h.tag(l)
	}
	if c >= '0' && c <= '9' {
		return number(l), Number
	}
	if n := h.word(l); n > 0 {
		return n, h.wordKind(l[:n], l[n:])
	}
	_, n := utf8.DecodeRuneInString(l)
	return n, Plain
}

func (h *highlighter) word(l string) int {
	for i, r := range l {
		if !unicode.IsLetter(r) && r != '_' && r != '$' && r != '@' && (i == 0 || !unicode.IsDigit(r) && !(h.dash && r == '-')) {
			return i
		}
	}
	return len(l)
}

func (h *highlighter) wordKind(w, after string) Kind {
	key := w
	if h.fold {
		key = strings.ToLower(w)
	}
	switch {
	case has(h.keywords, key):
		return Keyword
	case has(h.types, key):
		return Type
	case strings.HasPrefix(after, "(") && !h.dash:
		return Function
	case strings.HasPrefix(strings.TrimLeft(after, " "), ":") && h.dash:
		return Keyword // a key of YAML, TOML or CSS
	case w[0] >= 'A' && w[0] <= 'Z' && !h.fold && !h.dash && strings.ToUpper(w) != w:
		return Type
	}
	return Plain
}

func has(words, w string) bool { return len(w) < 24 && strings.Contains(words, " "+w+" ") }

func (h *highlighter) tag(l string) (int, Kind) {
	if l[0] != '<' {
		if i := strings.IndexAny(l, "<\"'"); i > 0 {
			return i, Plain
		}
		return len(l), Plain
	}
	if i := strings.IndexAny(l, " >"); i > 0 {
		return i, Keyword
	}
	return len(l), Keyword
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
