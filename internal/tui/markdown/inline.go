package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"lathe/internal/tui/styled"
)

// maxNest bounds how deep emphasis and links nest.
const maxNest = 8

// maxAddress bounds an address in angle brackets, in bytes.
const maxAddress = 2048

// inline draws the text of a block.
func (r renderer) inline(text string, style styled.Style) styled.Line {
	p := inliner{renderer: r}
	p.run(text, style, "", 0)
	p.flush()
	return p.out
}

// inliner collects spans. Neighbours that look the same are one span.
type inliner struct {
	renderer
	out   styled.Line
	text  []byte // text of the span that is not in out yet
	style styled.Style
	leads string
}

func (p *inliner) emit(text string, style styled.Style, link string) {
	if text == "" {
		return
	}
	if style != p.style || link != p.leads {
		p.flush()
		p.style, p.leads = style, link
	}
	p.text = append(p.text, text...)
}

func (p *inliner) flush() {
	if len(p.text) > 0 {
		p.out = append(p.out, styled.Span{Text: string(p.text), Style: p.style, Link: p.leads})
		p.text = p.text[:0]
	}
}

// run draws text.
func (p *inliner) run(text string, style styled.Style, link string, depth int) {
	marks := &delimiters{unclosed: map[string]bool{}}
	plain := 0
	for at := 0; at < len(text); {
		n := p.element(text, at, plain, style, link, depth, marks)
		if n == 0 {
			at++
			continue
		}
		at += n
		plain = at
	}
	p.emit(text[plain:], style, link)
}

// element draws the element at a position, after the plain text before it, and
// returns its length; 0 means that there is none.
func (p *inliner) element(text string, at, plain int, style styled.Style, link string, depth int, marks *delimiters) int {
	rest := text[at:]
	before := func() { p.emit(text[plain:at], style, link) }
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && unicode.IsPunct(rune(rest[1])) || len(rest) > 1 && strings.IndexByte("`$+<=>^|~", rest[1]) >= 0 {
			before()
			p.emit(rest[1:2], style, link)
			return 2
		}
	case '`':
		if body, n := codeSpan(rest, marks.unclosed); n > 0 {
			before()
			p.emit(body, style.With(p.Code), link)
			return n
		}
		return skip(rest, '`', before, func(n int) { p.emit(rest[:n], style, link) })
	case '*', '_', '~':
		if depth < maxNest {
			if body, mark, n := emphasis(text, at, marks.unclosed); n > 0 {
				before()
				p.run(body, style.With(p.emphasis(mark)), link, depth+1)
				return n
			}
		}
		return skip(rest, rest[0], before, func(n int) { p.emit(rest[:n], style, link) })
	case '[', '!':
		if link == "" && depth < maxNest {
			if label, url, n := linked(text, at, marks); n > 0 {
				before()
				p.link(label, url, style, depth)
				return n
			}
		}
	case '<':
		if !strings.HasPrefix(rest[1:], "http") && !strings.HasPrefix(rest[1:], "mailto:") {
			break
		}
		if i := strings.IndexAny(rest[:min(len(rest), maxAddress)], "> "); i > 0 && rest[i] == '>' && address(rest[1:i]) {
			before()
			p.emit(rest[1:i], style.With(p.Link), rest[1:i])
			return i + 1
		}
	case 'h':
		if n := bare(text, at); n > 0 && link == "" {
			before()
			p.emit(rest[:n], style.With(p.Link), rest[:n])
			return n
		}
	case '&':
		if i := strings.IndexByte(rest[:min(len(rest), 12)], ';'); i > 1 {
			if s := html.UnescapeString(rest[:i+1]); s != rest[:i+1] {
				before()
				p.emit(styled.Clean(s), style, link)
				return i + 1
			}
		}
	}
	return 0
}

// skip passes over a run of a delimiter that opens nothing.
func skip(rest string, c byte, before func(), emit func(int)) int {
	n := 1
	for n < len(rest) && rest[n] == c {
		n++
	}
	before()
	emit(n)
	return n
}

func (p *inliner) emphasis(mark string) styled.Style {
	switch mark {
	case "**", "__":
		return p.Strong
	case "~~":
		return p.Strike
	case "***", "___":
		return p.Strong.With(styled.Italic)
	}
	return p.Emph
}

// link draws a link; the address is shown unless the label already says it.
func (p *inliner) link(label, url string, style styled.Style, depth int) {
	target := ""
	if address(url) {
		target = url
	}
	p.flush()
	from := len(p.out)
	p.run(label, style.With(p.Link), cmpOr(target, "\x00"), depth+1)
	p.flush()
	for i := range p.out[from:] {
		if p.out[from+i].Link == "\x00" {
			p.out[from+i].Link = ""
		}
	}
	if url != "" && url != label && !strings.HasPrefix(url, "#") {
		p.emit(" ("+url+")", style.With(p.Quote), "")
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// address reports whether a link may be made clickable.
func address(url string) bool {
	if strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "mailto:")
}

func codeSpan(rest string, unclosed map[string]bool) (body string, n int) {
	ticks := len(rest) - len(strings.TrimLeft(rest, "`"))
	mark := rest[:ticks]
	if unclosed[mark] {
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
	unclosed[mark] = true
	return "", 0
}

// emphasis finds the text between the run of delimiters at a position and the
// run of the same length that closes it.
func emphasis(text string, at int, unclosed map[string]bool) (body, mark string, n int) {
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
	if unclosed[mark] || from >= len(text) || isSpace(text[from]) || c == '_' && wordBefore(text, at) {
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
	unclosed[mark] = true
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

// linked reads "[label](url)" or "![alt](url)" at a position.
func linked(text string, at int, marks *delimiters) (label, url string, n int) {
	open := at
	if text[at] == '!' {
		open++
	}
	if open >= len(text) || text[open] != '[' {
		return "", "", 0
	}
	closes := marks.bracket(text, open)
	if closes <= open || closes+1 >= len(text) || text[closes+1] != '(' {
		return "", "", 0
	}
	end := marks.parenthesis(text, closes+1)
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
