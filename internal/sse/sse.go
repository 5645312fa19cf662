// Package sse reads server-sent events as the WHATWG HTML standard describes
// them: lines end in LF, CR or CRLF, a byte order mark may come first, comments
// are skipped, and an event that the stream's end cuts off is dropped.
package sse

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"time"
)

// DefaultMax is the limit on one event when the caller names none.
const DefaultMax = 16 << 20

// ErrTooLarge means that one event is larger than the limit.
var ErrTooLarge = errors.New("server-sent event is larger than the limit")

// Event is one server-sent event. Data is valid until the next event is asked
// for, and is passed on as it came: it need not be valid UTF-8.
type Event struct {
	Type  string        // "message" when the stream named none
	Data  []byte        // data lines joined by LF
	ID    string        // last identifier that the stream gave
	Retry time.Duration // last reconnection time that the stream asked for
}

// Read yields the events of r. One event may take up to max bytes; zero means
// [DefaultMax]. An error of r, or [ErrTooLarge], is yielded once and ends the
// sequence; io.EOF just ends it.
func Read(r io.Reader, max int) iter.Seq2[Event, error] {
	if max <= 0 {
		max = DefaultMax
	}
	return func(yield func(Event, error) bool) {
		in := lines{r: r, max: max}
		ev := builder{max: max}
		for {
			line, err := in.next()
			if err == io.EOF {
				return
			}
			if err == nil {
				err = ev.line(line)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if len(line) == 0 && ev.ready() && !yield(ev.take(), nil) {
				return
			}
		}
	}
}

// builder collects the fields of the event being read.
type builder struct {
	max  int
	ev   Event
	typ  string // type of the event being read, kept to be reused
	set  bool   // typ was named for this event
	data []byte
	has  bool
}

func (b *builder) line(line []byte) error {
	if len(line) == 0 || line[0] == ':' {
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if len(b.data)+len(value)+1 > b.max {
			return ErrTooLarge
		}
		if b.has {
			b.data = append(b.data, '\n')
		}
		b.data = append(b.data, value...)
		b.has = true
	case "event":
		if b.typ != string(value) {
			b.typ = string(value)
		}
		b.set = len(value) > 0
	case "id":
		if b.ev.ID != string(value) && bytes.IndexByte(value, 0) < 0 {
			b.ev.ID = string(value)
		}
	case "retry":
		if ms, ok := digits(value); ok {
			b.ev.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}

// ready reports whether a blank line completes an event, and forgets the type
// of one that had no data.
func (b *builder) ready() bool {
	if !b.has {
		b.set = false
	}
	return b.has
}

func (b *builder) take() Event {
	ev := b.ev
	ev.Type = "message"
	if b.set {
		ev.Type = b.typ
	}
	ev.Data = b.data
	b.data, b.has, b.set = b.data[:0], false, false
	if cap(b.data) > 1<<20 { // do not keep the room of one huge event
		b.data = nil
	}
	return ev
}

func digits(s []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(s), 10, 40)
	return int64(n), err == nil && s[0] != '+'
}

// lines splits a reader into lines of at most max bytes.
type lines struct {
	r          io.Reader
	max        int
	buf        []byte
	start, end int  // unread bytes
	seen       int  // bytes after start known to hold no line end
	skipLF     bool // the last line ended in CR
	begun      bool // past the place of a byte order mark
	err        error
}

const firstBuffer = 4 << 10

// next returns the next complete line without its end, valid until the next call.
func (l *lines) next() ([]byte, error) {
	for {
		if line, ok := l.cut(); ok {
			return line, nil
		}
		if l.err != nil {
			return nil, l.err
		}
		if l.end-l.start > l.max {
			return nil, ErrTooLarge
		}
		l.fill()
	}
}

// cut takes one line out of the buffer if there is a whole one.
func (l *lines) cut() ([]byte, bool) {
	if l.skipLF && l.start < l.end {
		if l.buf[l.start] == '\n' {
			l.start++
		}
		l.skipLF = false
	}
	if !l.begun && !l.trimMark() {
		return nil, false
	}
	rest := l.buf[l.start+l.seen : l.end]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i+1]
	}
	i := bytes.IndexByte(rest, '\r')
	if i < 0 && (len(rest) == 0 || rest[len(rest)-1] != '\n') {
		l.seen += len(rest)
		return nil, false
	}
	if i < 0 {
		i = len(rest) - 1
	}
	line := l.buf[l.start : l.start+l.seen+i]
	l.skipLF = rest[i] == '\r'
	l.start += l.seen + i + 1
	l.seen = 0
	return line, true
}

// trimMark drops a byte order mark; false means that more bytes are needed to tell.
func (l *lines) trimMark() bool {
	mark := []byte("\xef\xbb\xbf")
	head := l.buf[l.start:l.end]
	if len(head) < len(mark) && l.err == nil && bytes.HasPrefix(mark, head) {
		return false
	}
	if bytes.HasPrefix(head, mark) {
		l.start += len(mark)
	}
	l.begun = true
	return true
}

// fill reads once, making room first: by moving what is unread to the front, or
// by growing.
func (l *lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		grown := make([]byte, max(firstBuffer, min(2*len(l.buf), l.max+firstBuffer)))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	n, err := l.r.Read(l.buf[l.end:])
	if n < 0 || n > len(l.buf)-l.end {
		n, err = 0, errors.New("reader returned an impossible count")
	}
	l.end += n
	l.err = err
}
