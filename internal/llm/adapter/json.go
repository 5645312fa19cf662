package adapter

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"lathe/internal/llm"
)

// Writer writes one JSON document in call order, so that a body's growing part
// can come last. It adds the commas; the caller writes brackets and keys. The
// zero value is ready.
type Writer struct{ buf []byte }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.buf = slices.Grow(w.buf, n) }

// Bytes returns what was written so far; the writer keeps owning it.
func (w *Writer) Bytes() []byte { return w.buf }

// comma separates the next value or key from the one before it.
func (w *Writer) comma() {
	if n := len(w.buf); n > 0 {
		switch w.buf[n-1] {
		case '{', '[', ':':
		default:
			w.buf = append(w.buf, ',')
		}
	}
}

// Open begins an object or array with its bracket.
func (w *Writer) Open(bracket byte) {
	w.comma()
	w.buf = append(w.buf, bracket)
}

// Close ends an object or array with its bracket.
func (w *Writer) Close(bracket byte) { w.buf = append(w.buf, bracket) }

// Key begins a member of an object.
func (w *Writer) Key(name string) {
	w.comma()
	w.buf = append(appendString(w.buf, name), ':')
}

// OpenKey begins a member that is an object or array.
func (w *Writer) OpenKey(name string, bracket byte) {
	w.Key(name)
	w.buf = append(w.buf, bracket)
}

// String writes a string value. Invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) {
	w.comma()
	w.buf = appendString(w.buf, s)
}

// Str writes a member that is a string.
func (w *Writer) Str(name, s string) {
	w.Key(name)
	w.buf = appendString(w.buf, s)
}

// Int writes a member that is a whole number.
func (w *Writer) Int(name string, n int) {
	w.Key(name)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// Bool writes a member that is true or false.
func (w *Writer) Bool(name string, v bool) {
	w.Key(name)
	w.buf = strconv.AppendBool(w.buf, v)
}

// Raw writes a member that is JSON already. What is not valid JSON becomes null.
func (w *Writer) Raw(name string, raw []byte) {
	w.Key(name)
	w.RawValue(raw)
}

// RawValue writes a value that is JSON already. What is not valid JSON becomes null.
func (w *Writer) RawValue(raw []byte) {
	w.comma()
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		raw = []byte("null")
	}
	w.buf = append(w.buf, raw...)
}

// Any writes a member from a Go value; map keys are sorted.
func (w *Writer) Any(name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return &llm.Error{Kind: llm.KindInvalid, Message: "option " + strconv.Quote(name) + " cannot be sent: " + err.Error(), RetryAfter: -1, Cause: err}
	}
	w.Raw(name, b.Bytes())
	return nil
}

// Fields writes the members of a map, sorted by name.
func (w *Writer) Fields(fields map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := w.Any(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// Data writes a member that is a data URL, or with an empty MIME type plain base64.
func (w *Writer) Data(name, mime string, data []byte) {
	w.Key(name)
	w.buf = append(w.buf, '"')
	if mime != "" {
		quoted := appendString(nil, "data:"+mime+";base64,")
		w.buf = append(w.buf, quoted[1:len(quoted)-1]...)
	}
	w.buf = base64.StdEncoding.AppendEncode(w.buf, data)
	w.buf = append(w.buf, '"')
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Object returns raw if it is a JSON object, else "{}".
func Object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// Decode reads one wire document into v. Members of an unexpected type are left
// out; a document that is not JSON is a retryable error of [KindProtocol].
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok || err == nil {
		return nil
	}
	return &llm.Error{
		Kind: llm.KindProtocol, Retryable: true, RetryAfter: -1, Body: clip(string(data)), Cause: err,
		Message: "the provider sent broken JSON (" + err.Error() + ")",
	}
}

// Count is a number of tokens as providers report it: whatever is not a
// number from 0 to 2^53 is 0.
type Count int64

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(data []byte) error {
	*c = 0
	if f, err := strconv.ParseFloat(string(data), 64); err == nil && f > 0 && f <= 1<<53 {
		*c = Count(f)
	}
	return nil
}

// Schema returns a tool's schema as it is sent: as given, or one that takes no
// arguments if there is none.
func Schema(raw json.RawMessage) json.RawMessage {
	raw = Object(raw)
	if string(raw) == "{}" {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return raw
}
