// Package markup is the grammar of the Markdown that models write: what a line begins,
// and what stands within a text. The screen and the page of a shared session draw by it,
// so both understand the same. Work is linear in the text and nesting is bounded, whatever
// the text is; nothing is prepared at a start.
package markup

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxNest bounds how deep emphasis and links nest.
	MaxNest = 8
	// MaxDepth bounds how deep lists and quotes nest; deeper ones are text.
	MaxDepth = 12

	maxAddress = 2048 // in angle brackets, in bytes
)

// Kind is what an [Element] is.
type Kind uint8

// The kinds of elements.
const (
	Literal Kind = iota + 1 // text that stands for itself
	Code
	Emph
	Strong
	StrongEmph
	Strike
	Linked // a label and an address
	Auto   // an address that stands for itself
	Math   // a formula in TeX, without its marks
)

// Element is what stands at one place of a text. Text is what is shown, for Emph, Strong,
// StrongEmph, Strike and Linked text to be read in turn; URL is where a link leads, which
// may be nothing that can be opened, see [Address].
type Element struct {
	Kind  Kind
	Text  string
	URL   string
	Image bool // a link to a picture
}

// Element reads the element at a position of the text that d belongs to and returns its
// length; 0 means that a plain character stands there. nest says that emphasis and links
// may begin, links that a link may.
func (d *Delimiters) Element(text string, at int, nest, links bool) (Element, int) {
	rest := text[at:]
	switch rest[0] {
	case '$':
		return d.dollars(text, at)
	case '\\':
		if body, n := d.math(rest); n > 0 {
			return Element{Kind: Math, Text: body}, n
		}
		if len(rest) > 1 && (unicode.IsPunct(rune(rest[1])) || strings.IndexByte("`$+<=>^|~", rest[1]) >= 0) {
			return Element{Kind: Literal, Text: rest[1:2]}, 2
		}
	case '`':
		if body, n := d.codeSpan(rest); n > 0 {
			return Element{Kind: Code, Text: body}, n
		}
		return run(rest)
	case '*', '_', '~':
		if nest {
			if body, mark, n := d.emphasis(text, at); n > 0 {
				return Element{Kind: emphasisKind(mark), Text: body}, n
			}
		}
		return run(rest)
	case '[', '!':
		if links && nest {
			if label, url, n := d.link(text, at); n > 0 {
				return Element{Kind: Linked, Text: label, URL: url, Image: rest[0] == '!'}, n
			}
		}
	case '<':
		return angle(rest)
	case 'h':
		if n := bare(text, at); n > 0 && links {
			return Element{Kind: Auto, Text: rest[:n], URL: rest[:n]}, n
		}
	case '&':
		return entity(rest)
	}
	return Element{}, 0
}

// run takes a run of a delimiter that opens nothing.
func run(rest string) (Element, int) {
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	return Element{Kind: Literal, Text: rest[:n]}, n
}

func emphasisKind(mark string) Kind {
	switch mark {
	case "**", "__":
		return Strong
	case "~~":
		return Strike
	case "***", "___":
		return StrongEmph
	}
	return Emph
}

// angle reads an address between angle brackets.
func angle(rest string) (Element, int) {
	i := strings.IndexAny(rest[:min(len(rest), maxAddress)], "> ")
	if i <= 0 || rest[i] != '>' || !Address(rest[1:i]) {
		return Element{}, 0
	}
	return Element{Kind: Auto, Text: rest[1:i], URL: rest[1:i]}, i + 1
}

func entity(rest string) (Element, int) {
	i := strings.IndexByte(rest[:min(len(rest), 12)], ';')
	if i <= 1 {
		return Element{}, 0
	}
	s := html.UnescapeString(rest[:i+1])
	if s == rest[:i+1] {
		return Element{}, 0
	}
	return Element{Kind: Literal, Text: s}, i + 1
}

// Address reports whether a link may be made clickable.
func Address(url string) bool {
	if strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "mailto:")
}

func (d *Delimiters) codeSpan(rest string) (body string, n int) {
	ticks := len(rest) - len(strings.TrimLeft(rest, "`"))
	mark := rest[:ticks]
	if d.unclosed[mark] {
		return "", 0
	}
	for at := ticks; at < len(rest); {
		i := strings.Index(rest[at:], mark)
		if i < 0 {
			break
		}
		at += i
		end := at + ticks
		for end < len(rest) && rest[end] == '`' {
			end++
		}
		if end-at == ticks {
			body = strings.ReplaceAll(rest[ticks:at], "\n", " ")
			if len(body) > 2 && body[0] == ' ' && body[len(body)-1] == ' ' && strings.TrimSpace(body) != "" {
				body = body[1 : len(body)-1]
			}
			return body, end
		}
		at = end
	}
	d.missing(mark)
	return "", 0
}

// emphasis finds the text between the run of delimiters at a position and the
// run of the same length that closes it.
func (d *Delimiters) emphasis(text string, at int) (body, mark string, n int) {
	c := text[at]
	size := 1
	for at+size < len(text) && text[at+size] == c {
		size++
	}
	if size > 3 || c == '~' && size != 2 {
		return "", "", 0
	}
	mark = text[at : at+size]
	from := at + size
	if d.unclosed[mark] || from >= len(text) || isSpace(text[from]) || c == '_' && wordBefore(text, at) {
		return "", "", 0
	}
	for i := from; i < len(text); {
		j := strings.IndexByte(text[i:], c)
		if j < 0 {
			break
		}
		i += j
		end := i
		for end < len(text) && text[end] == c {
			end++
		}
		if end-i == size && i > from && !isSpace(text[i-1]) && text[i-1] != '\\' && (c != '_' || !wordAfter(text, end)) {
			return text[from:i], mark, end - at
		}
		i = end
	}
	d.missing(mark)
	return "", "", 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' }

func wordBefore(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return at > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func wordAfter(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return at < len(text) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// link reads "[label](url)" or "![alt](url)" at a position.
func (d *Delimiters) link(text string, at int) (label, url string, n int) {
	open := at
	if text[at] == '!' {
		open++
	}
	if open >= len(text) || text[open] != '[' {
		return "", "", 0
	}
	closes := d.bracket(text, open)
	if closes <= open || closes+1 >= len(text) || text[closes+1] != '(' {
		return "", "", 0
	}
	end := d.parenthesis(text, closes+1)
	if end <= closes {
		return "", "", 0
	}
	url, _, _ = strings.Cut(strings.TrimSpace(text[closes+2:end]), " ")
	return text[open+1 : closes], strings.Trim(url, "<>"), end + 1 - at
}

// bare returns the length of an address that stands in the text as it is.
func bare(text string, at int) int {
	rest := text[at:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || wordBefore(text, at) {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"`|", r) || r > 0x2e80 })
	if n < 0 {
		n = len(rest)
	}
	for n > 0 && strings.IndexByte(".,;:!?'*_~", rest[n-1]) >= 0 {
		n--
	}
	for over := strings.Count(rest[:n], ")") - strings.Count(rest[:n], "("); n > 0 && rest[n-1] == ')' && over > 0; over-- {
		n--
	}
	if n <= len("https://") {
		return 0
	}
	return n
}
