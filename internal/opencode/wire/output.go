package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"lathe"
)

const (
	// longText is the length from which a text is escaped while it is written, in
	// place of being built into the JSON around it.
	longText = 16 << 10
	// outputPiece is how much of a long text is escaped and written at a time.
	outputPiece = 32 << 10
)

// Output is JSON, or a frame with JSON in it, that is ready to be written. Long
// texts in it are not copied: they are escaped piece by piece on their way out, so
// that an answer takes little memory besides its texts, however many clients it
// goes to. It does not change and may be written by several goroutines at once.
type Output struct {
	head []byte
	rest []outputText
}

// outputText is a long text within a JSON string, and what follows it.
type outputText struct {
	text Text
	then []byte
}

// Raw returns bytes that are written as they are. They must not change while the
// output is used.
func Raw(b []byte) Output { return Output{head: b} }

// Encode is [Marshal] for what may hold long texts.
func Encode(v any) (Output, error) {
	var c cutter
	v = c.value(v)
	return c.encode(v)
}

// Whole returns all bytes if the output has no long text.
func (o Output) Whole() ([]byte, bool) { return o.head, len(o.rest) == 0 }

// Wrap returns the output between two others' bytes, which are copied.
func (o Output) Wrap(before, after []byte) Output {
	head := make([]byte, 0, len(before)+len(o.head)+len(after))
	head = append(append(head, before...), o.head...)
	if len(o.rest) == 0 {
		return Output{head: append(head, after...)}
	}
	rest := append([]outputText(nil), o.rest...)
	last := &rest[len(rest)-1]
	last.then = append(append(make([]byte, 0, len(last.then)+len(after)), last.then...), after...)
	return Output{head, rest}
}

// Size estimates how many bytes are written: escapes are not counted.
func (o Output) Size() int {
	n := len(o.head)
	for _, r := range o.rest {
		n += r.text.Len() + len(r.then)
	}
	return n
}

// Held returns how many bytes the output keeps in memory that are not kept
// elsewhere anyway: texts that still grow are their writer's.
func (o Output) Held() int {
	n := len(o.head)
	for _, r := range o.rest {
		n += r.text.held() + len(r.then)
	}
	return n
}

// Bytes returns what is written, in one piece.
func (o Output) Bytes() []byte {
	if raw, ok := o.Whole(); ok {
		return raw
	}
	var b bytes.Buffer
	_, _ = o.WriteTo(&b) // a buffer takes everything
	return b.Bytes()
}

// WriteTo writes everything.
func (o Output) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(o.head)
	sum := int64(n)
	if len(o.rest) == 0 || err != nil {
		return sum, err
	}
	esc := newEscaper()
	for _, r := range o.rest {
		more, err := esc.write(w, r.text)
		if sum += more; err != nil {
			return sum, err
		}
		n, err := w.Write(r.then)
		if sum += int64(n); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// escaper writes texts as the inside of JSON strings.
type escaper struct {
	buf bytes.Buffer
	enc *json.Encoder
}

func newEscaper() *escaper {
	e := &escaper{}
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}

func (e *escaper) write(w io.Writer, t Text) (sum int64, err error) {
	for at, size := 0, t.Len(); at < size; {
		s := t.piece(at, min(at+outputPiece, size))
		if at+len(s) < size {
			if len(s) < utf8.UTFMax { // a character may lie across two pieces
				s = t.Slice(at, min(at+2*utf8.UTFMax, size))
			}
			s = s[:wholeRunes(s)]
		}
		if s == "" {
			return sum, fmt.Errorf("a text of %d bytes ends after %d", size, at)
		}
		at += len(s)
		e.buf.Reset()
		if err := e.enc.Encode(s); err != nil {
			return sum, err
		}
		quoted := e.buf.Bytes()
		n, err := w.Write(quoted[1 : len(quoted)-2]) // without quotes and the newline
		if sum += int64(n); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// wholeRunes returns how much of a text can be taken so that no character is cut.
// Bytes that are no part of a character are taken.
func wholeRunes(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if i := len(s) - n; utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) && i > 0 {
				return i
			}
			break
		}
	}
	return len(s)
}

// Text is a text in pieces, which stay where they are.
type Text []Span

// Span is what stands between two offsets of a text. Growing is set for one that
// its writer keeps.
type Span struct {
	Of       Slicer
	From, To int
	Growing  bool
}

// Slicer is the part of [lathe.Streamed] that writing needs.
type Slicer interface{ Slice(from, to int) string }

var _ Slicer = lathe.Streamed(nil)

// Piecer is a [Slicer] that tells how much it can return without a copy: a beginning
// of the slice, which is empty only if the slice is.
type Piecer interface{ Piece(from, to int) string }

// TextOf returns a text that is at hand.
func TextOf(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Of: whole(s), To: len(s)}}
}

type whole string

// Slice returns the bytes from one offset up to another.
func (s whole) Slice(from, to int) string { return string(s[from:to]) }

// Len returns the length in bytes.
func (t Text) Len() int {
	n := 0
	for _, s := range t {
		n += s.To - s.From
	}
	return n
}

func (t Text) held() int {
	n := 0
	for _, s := range t {
		if !s.Growing {
			n += s.To - s.From
		}
	}
	return n
}

// Slice returns the bytes from one offset up to another.
func (t Text) Slice(from, to int) string {
	out := ""
	for _, p := range t.Cut(from, to) {
		if s := p.Of.Slice(p.From, p.To); out == "" {
			out = s
		} else {
			out += s
		}
	}
	return out
}

// piece returns what can be had without a copy of the bytes from one offset up to
// another. It is not empty if there are any.
func (t Text) piece(from, to int) string {
	cut := t.Cut(from, to)
	if len(cut) == 0 {
		return ""
	}
	p := cut[0]
	if of, ok := p.Of.(Piecer); ok {
		return of.Piece(p.From, p.To)
	}
	return p.Of.Slice(p.From, p.To)
}

// Cut is [Text.Slice] without a copy.
func (t Text) Cut(from, to int) Text {
	var out Text
	for _, s := range t {
		size := s.To - s.From
		lo, hi := min(max(from, 0), size), min(max(to, 0), size)
		if lo < hi {
			s.From, s.To = s.From+lo, s.From+hi
			out = append(out, s)
		}
		from, to = from-size, to-size
	}
	return out
}

// String returns the text in one piece.
func (t Text) String() string { return t.Slice(0, t.Len()) }
