package builtin

import (
	"slices"
	"strings"
)

// eolText is a text with CRLF line ends turned into LF for matching. It
// remembers each of them, so that what an edit does not touch stays the same.
type eolText struct {
	lf   string
	crlf []int // offsets in lf of the line ends that were CRLF, ascending
}

func newEOLText(raw string) eolText {
	if !strings.Contains(raw, "\r\n") {
		return eolText{lf: raw}
	}
	var t eolText
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.Index(raw, "\r\n")
		if i < 0 {
			break
		}
		b.WriteString(raw[:i])
		t.crlf = append(t.crlf, b.Len())
		b.WriteByte('\n')
		raw = raw[i+2:]
	}
	b.WriteString(raw)
	t.lf = b.String()
	return t
}

// raw returns the stretch of the original text.
func (t eolText) raw(start, end int) string {
	i, _ := slices.BinarySearch(t.crlf, start)
	var b strings.Builder
	for ; i < len(t.crlf) && t.crlf[i] < end; i++ {
		b.WriteString(t.lf[start:t.crlf[i]])
		b.WriteByte('\r')
		start = t.crlf[i]
	}
	b.WriteString(t.lf[start:end])
	return b.String()
}

// isCRLF reports which line end a text put at the span should have: that of the
// first line end in the span, else of the one before it, else of the one after.
func (t eolText) isCRLF(sp span) bool {
	if len(t.crlf) == 0 {
		return false
	}
	at := strings.IndexByte(t.lf[sp.start:sp.end], '\n')
	if at >= 0 {
		at += sp.start
	} else if at = strings.LastIndexByte(t.lf[:sp.start], '\n'); at < 0 {
		if at = strings.IndexByte(t.lf[sp.end:], '\n'); at >= 0 {
			at += sp.end
		}
	}
	_, found := slices.BinarySearch(t.crlf, at)
	return found
}

// replace puts texts, which have LF line ends, in place of the spans, one for each.
// Spans are ascending and do not overlap.
func (t eolText) replace(spans []span, texts []string) string {
	var b strings.Builder
	at := 0
	for i, sp := range spans {
		text := texts[i]
		b.WriteString(t.raw(at, sp.start))
		if t.isCRLF(sp) {
			b.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
		} else {
			b.WriteString(text)
		}
		at = sp.end
	}
	b.WriteString(t.raw(at, len(t.lf)))
	return b.String()
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
