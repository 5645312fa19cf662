package printable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a JSON document with every character that [Harmful] names, in its
// strings, as a \u escape: it means the same, nothing is lost, and it does nothing
// to a terminal that shows it. The document must be valid.
func JSON(doc []byte) []byte {
	first := bytes.IndexFunc(doc, hidden)
	if first < 0 {
		return doc
	}
	out := append(make([]byte, 0, len(doc)+64), doc[:first]...)
	for rest := doc[first:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case !hidden(r):
			out = append(out, rest[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return out
}

// hidden reports what has to be escaped in a document. Below DEL valid JSON has
// escaped it already, or it is blank between values.
func hidden(r rune) bool { return r >= 0x7f && Harmful(r) }

// IndentJSON returns JSON on lines of its own; what is no JSON it returns as it is.
func IndentJSON(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
