// Package printable makes text from models, tools and files harmless for a
// terminal. Whatever such text holds, it can neither steer the terminal nor
// disguise what it says: escape sequences, control characters, bidirectional
// overrides and invisible characters are left out.
package printable

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Return says what a carriage return does that no line feed follows.
type Return int

// What a lone carriage return does.
const (
	DropReturn  Return = iota // nothing
	BreakLine                 // it ends the line
	RewriteLine               // what follows it replaces the line, as on a terminal
)

// Options say what becomes of characters that are harmless but have no place on
// every screen. The zero value keeps tabs and drops carriage returns.
type Options struct {
	Tab    string // what stands for a tab; empty: the tab itself
	Stops  int    // instead of Tab: blanks up to the next of the stops, which are this many cells apart
	Return Return
}

// Text returns the text without what is harmful. The result is valid UTF-8, and
// doing it again changes nothing.
func Text(text string, o Options) string {
	if harmless(text, o) {
		return text
	}
	w := writer{Options: o}
	w.out = make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		i += w.next(text[i:])
	}
	return string(w.out)
}

// Line returns the text harmless and on one line, with single blanks.
func Line(text string) string {
	return strings.Join(strings.Fields(Text(text, Options{Return: BreakLine})), " ")
}

// Split keeps back the beginning of an escape sequence at the end of text that
// goes on, so that one which is cut in two is still seen as one.
func Split(text string) (show, hold string) {
	i := strings.LastIndexByte(text, '\x1b')
	if i < 0 || len(text)-i > maxHeld || escape(text[i:]) < len(text)-i {
		return text, ""
	}
	return text[:i], text[i:]
}

// maxHeld bounds how much text waits for the end of an escape sequence.
const maxHeld = 256

// writer copies what may be shown.
type writer struct {
	Options
	out   []byte
	anew  bool   // what comes next begins the line again
	at    int    // where of out the column was counted last
	col   int    // the column there
	looks *looks // nil: nobody asks for them
}

// next takes a character or an escape sequence and returns its length.
func (w *writer) next(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == '\x1b':
		size = escape(text)
		w.control(text[:size])
	case r == '\t' && w.Stops > 0:
		w.toStop()
	case r == '\t' && w.Tab != "":
		w.put(w.Tab)
	case r == '\r' && strings.HasPrefix(text, "\r\n"):
	case r == '\r':
		w.carriageReturn()
	case r == '\u2028' || r == '\u2029':
		w.put("\n")
	case r == '\b' && w.Return == RewriteLine:
		w.back()
	case Harmful(r):
	case r == utf8.RuneError:
		w.put(string(utf8.RuneError))
	default:
		w.put(text[:size])
	}
	return size
}

func (w *writer) put(s string) {
	if w.anew {
		w.anew = false
		if s != "\n" {
			w.erase()
		}
	}
	if w.looks != nil {
		w.looks.wrote(len(w.out))
	}
	w.out = append(w.out, s...)
}

// toStop writes blanks up to the next stop.
func (w *writer) toStop() {
	if w.anew {
		w.anew = false
		w.erase()
	}
	since := w.out[w.at:]
	if i := bytes.LastIndexByte(since, '\n'); i >= 0 {
		since, w.col = since[i+1:], 0
	}
	w.col += ansi.StringWidth(string(since))
	n := w.Stops - w.col%w.Stops
	w.put(strings.Repeat(" ", n))
	w.at, w.col = len(w.out), w.col+n
}

func (w *writer) carriageReturn() {
	switch w.Return {
	case BreakLine:
		w.put("\n")
	case RewriteLine:
		w.anew = true
	}
}

// control does what an escape sequence says of the line it stands in, and of how text looks.
func (w *writer) control(seq string) {
	if w.looks != nil {
		if params, ok := selects(seq); ok {
			w.looks.now.set(params)
			return
		}
	}
	if w.Return != RewriteLine {
		return
	}
	switch seq {
	case "\x1b[G", "\x1b[0G", "\x1b[1G":
		w.anew = true
	case "\x1b[2K":
		w.anew = false
		w.erase()
	case "\x1b[K", "\x1b[0K":
		if w.anew {
			w.anew = false
			w.erase()
		}
	}
}

// erase takes back what was written of the line.
func (w *writer) erase() { w.cut(bytes.LastIndexByte(w.out, '\n') + 1) }

func (w *writer) cut(at int) {
	w.out = w.out[:at]
	if at < w.at {
		w.at, w.col = bytes.LastIndexByte(w.out, '\n')+1, 0
	}
	if w.looks != nil {
		w.looks.cut(at)
	}
}

// back takes back a character of the line.
func (w *writer) back() {
	r, size := utf8.DecodeLastRune(w.out)
	if size > 0 && r != '\n' {
		w.cut(len(w.out) - size)
	}
}

func harmless(text string, o Options) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < 0x20 && c != '\n' || c == 0x7f {
			return !strings.ContainsFunc(text[i:], func(r rune) bool {
				return r == utf8.RuneError || r == '\t' && (o.Tab != "" || o.Stops > 0) || r == '\u2028' || r == '\u2029' || Harmful(r)
			})
		}
	}
	return true
}

// Harmful reports characters that steer a terminal, disguise text or hide in it.
// Line breaks, tabs and the joiners that scripts and emoji need are none.
func Harmful(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	}
	return unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r >= 0xe0000 && r <= 0xe0fff
}

// escape returns the length of the escape sequence that s begins with: CSI up to
// its final byte, string sequences (OSC, DCS, APC, PM, SOS) up to their end. A
// sequence that is not complete ends where it can no longer be one.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == '\a':
				return i + 1
			case s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\x1b' || s[i] == '\n':
				return i
			}
		}
		return len(s)
	case '(', ')', '*', '+', '#', '%', ' ':
		if len(s) > 2 && s[2] >= 0x20 && s[2] < 0x7f {
			return 3
		}
		return 2
	}
	if s[1] < 0x20 || s[1] >= 0x7f {
		return 1
	}
	return 2
}
