package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how a text's characters are stored.
type Encoding uint8

// Encodings. Bytes is text in an unknown 8-bit encoding: its Content is not
// valid UTF-8, and what an edit does not touch is kept byte for byte.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
	Bytes
)

// EOL is how a text's lines end.
type EOL uint8

// Line ends. Mixed means that some lines end in LF and some in CRLF. A text
// without a line end is LF.
const (
	LF EOL = iota
	CRLF
	Mixed
)

// Text is the content of a text file in the form that tools work on, with what
// is needed to write it back as it was.
type Text struct {
	Content  string // lines end in "\n", no byte order mark
	BOM      bool
	EOL      EOL
	Encoding Encoding

	was string // Content with the line ends of the file, if they are mixed
}

// ErrEncoding means that data with a UTF-16 byte order mark is not UTF-16.
var ErrEncoding = errors.New("not valid UTF-16")

const (
	bom8    = "\xef\xbb\xbf"
	bom16LE = "\xff\xfe"
	bom16BE = "\xfe\xff"
)

// Decode splits data into content and style. Encode(Decode(data)) is data.
func Decode(data []byte) (Text, error) {
	var t Text
	raw := ""
	switch {
	case bytes.HasPrefix(data, []byte(bom16LE)):
		t.BOM, t.Encoding = true, UTF16LE
	case bytes.HasPrefix(data, []byte(bom16BE)):
		t.BOM, t.Encoding = true, UTF16BE
	case bytes.HasPrefix(data, []byte(bom8)):
		t.BOM, raw = true, string(data[len(bom8):])
	default:
		raw = string(data)
	}
	if t.Encoding != UTF8 {
		var err error
		if raw, err = decode16(data[2:], t.order()); err != nil {
			return Text{}, err
		}
	} else if !utf8.ValidString(raw) {
		t.Encoding = Bytes
	}
	crlf := strings.Count(raw, "\r\n")
	t.Content = raw
	if crlf > 0 {
		t.EOL = CRLF
		t.Content = strings.ReplaceAll(raw, "\r\n", "\n")
		if crlf != strings.Count(raw, "\n") {
			t.EOL, t.was = Mixed, raw
		}
	}
	return t, nil
}

// With returns the text with new content in the same style. "\r\n" in content
// means a line end like any other.
func (t Text) With(content string) Text {
	t.Content = strings.ReplaceAll(content, "\r\n", "\n")
	return t
}

// Encode returns the bytes to write. In a text with mixed line ends, the lines
// before and after the changed ones keep theirs, and the changed lines get the
// end that is more frequent in the file.
func Encode(t Text) []byte {
	s := t.Content
	switch t.EOL {
	case CRLF:
		s = strings.ReplaceAll(s, "\n", "\r\n")
	case Mixed:
		s = remix(t.was, s)
	}
	switch {
	case t.Encoding == UTF16LE || t.Encoding == UTF16BE:
		return encode16(s, t.order(), t.BOM)
	case t.BOM:
		return []byte(bom8 + s)
	}
	return []byte(s)
}

func (t Text) order() binary.AppendByteOrder {
	if t.Encoding == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func decode16(data []byte, order binary.AppendByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", ErrEncoding
	}
	read := order.(binary.ByteOrder).Uint16
	var out strings.Builder
	out.Grow(len(data) / 2)
	for i := 0; i < len(data); i += 2 {
		r := rune(read(data[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(data) {
				return "", ErrEncoding
			}
			i += 2
			if r = utf16.DecodeRune(r, rune(read(data[i:]))); r == utf8.RuneError {
				return "", ErrEncoding
			}
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}

func encode16(s string, order binary.AppendByteOrder, bom bool) []byte {
	out := make([]byte, 0, 2*len(s)+2)
	if bom {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, r := range s {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			out = order.AppendUint16(order.AppendUint16(out, uint16(r1)), uint16(r2))
		} else {
			out = order.AppendUint16(out, uint16(r))
		}
	}
	return out
}

// remix gives content the line ends of was, which has mixed ones.
func remix(was, content string) string {
	old, lines := strings.SplitAfter(was, "\n"), strings.SplitAfter(content, "\n")
	same := func(o, n string) bool { return o == n || strings.HasSuffix(o, "\r\n") && o[:len(o)-2]+"\n" == n }
	head := 0
	for head < len(old) && head < len(lines) && same(old[head], lines[head]) {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(lines)-head && same(old[len(old)-1-tail], lines[len(lines)-1-tail]) {
		tail++
	}
	end := "\n"
	if 2*strings.Count(was, "\r\n") > strings.Count(was, "\n") {
		end = "\r\n"
	}
	var out strings.Builder
	for _, l := range old[:head] {
		out.WriteString(l)
	}
	for _, l := range lines[head : len(lines)-tail] {
		if text, ok := strings.CutSuffix(l, "\n"); ok {
			l = text + end
		}
		out.WriteString(l)
	}
	for _, l := range old[len(old)-tail:] {
		out.WriteString(l)
	}
	return out.String()
}

// IsBinary reports whether a file is not text, by its name's extension or the
// first 4,096 bytes of head: a NUL byte, or more than 30 % control characters.
// UTF-16 with a byte order mark is text.
func IsBinary(name string, head []byte) bool {
	if binaryExt[strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))] {
		return true
	}
	head = head[:min(len(head), 4096)]
	if bytes.HasPrefix(head, []byte(bom16LE)) || bytes.HasPrefix(head, []byte(bom16BE)) {
		t, err := Decode(head[:len(head)&^1])
		// The end of head may cut a pair in two.
		if err != nil && len(head) > 4 {
			t, err = Decode(head[:len(head)&^1-2])
		}
		return err != nil || strings.IndexByte(t.Content, 0) >= 0
	}
	control := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < 9 || c >= 14 && c <= 31 {
			control++
		}
	}
	return control*10 > len(head)*3
}

var binaryExt = map[string]bool{
	"zip": true, "tar": true, "gz": true, "exe": true, "dll": true, "so": true, "class": true,
	"jar": true, "war": true, "7z": true, "doc": true, "docx": true, "xls": true, "xlsx": true,
	"ppt": true, "pptx": true, "odt": true, "ods": true, "odp": true, "bin": true, "dat": true,
	"obj": true, "o": true, "a": true, "lib": true, "wasm": true, "pyc": true, "pyo": true,
}

// MediaType returns the media type that the first bytes of a file prove: PNG,
// JPEG, GIF, BMP, WebP or PDF. It is empty for everything else.
func MediaType(head []byte) string {
	has := func(at int, s string) bool { return len(head) >= at+len(s) && string(head[at:at+len(s)]) == s }
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "BM") && has(6, "\x00\x00\x00\x00") && has(15, "\x00\x00\x00"): // "BM" alone starts many texts
		return "image/bmp"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "image/webp"
	case has(0, "%PDF-"):
		return "application/pdf"
	}
	return ""
}
