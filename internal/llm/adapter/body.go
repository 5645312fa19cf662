package adapter

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"lathe/internal/llm"
)

// Finding out what a body contains. Requests ask for no compression, but some
// gateways compress anyway, and not all of them say so.

// blanks may stand before a body's first character.
const blanks = " \t\r\n\xef\xbb\xbf"

// decompress returns the body as it was before the encoding that its header names.
func decompress(encoding string, r io.Reader) (io.Reader, error) {
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		return gunzip(r)
	}
	return nil, &llm.Error{Kind: llm.KindProtocol, RetryAfter: -1, Message: fmt.Sprintf(
		"the provider answered with a body compressed as %q, which was not asked for; check the gateway or proxy in front of it", encoding)}
}

func gunzip(r io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, cutError(err)
	}
	return &bounded{r: z, left: maxAnswer}, nil
}

// bounded ends a body that unpacks to more than an answer can be.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &llm.Error{Kind: llm.KindProtocol, RetryAfter: -1, Message: fmt.Sprintf("the provider's answer is larger than %d MiB", maxAnswer>>20)}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// readError reads the body of an error, as much as is kept of it.
func readError(r io.Reader) []byte {
	data, _ := io.ReadAll(io.LimitReader(r, maxBody))
	if !bytes.HasPrefix(data, gzipMark) {
		return data
	}
	z, err := gunzip(bytes.NewReader(data))
	if err != nil {
		return data
	}
	data, _ = io.ReadAll(io.LimitReader(z, maxBody))
	return data
}

var gzipMark = []byte{0x1f, 0x8b}

// begin returns the first bytes of a body, from which its kind can be recognised,
// and the whole body. A body that is compressed without saying so is unpacked.
func begin(r io.Reader) (head []byte, rest io.Reader, err error) {
	if head, err = firstBytes(r); err != nil || !bytes.HasPrefix(head, gzipMark) {
		return head, r, err
	}
	if r, err = gunzip(io.MultiReader(bytes.NewReader(head), r)); err != nil {
		return nil, nil, err
	}
	head, err = firstBytes(r)
	return head, r, err
}

// eventFields are the fields of server-sent events; a comment has an empty name.
var eventFields = []string{"data", "event", "id", "retry", ""}

// firstBytes reads until the kind of a body can be recognised: past white space,
// and past the name of the first field if it may be one.
func firstBytes(r io.Reader) ([]byte, error) {
	var head []byte
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		head = append(head, buf[:n]...)
		if begun := bytes.TrimLeft(head, blanks); len(begun) > 0 && (err != nil || !mayBecomeField(begun)) {
			return head, nil
		}
		if err != nil {
			return nil, err
		}
		if len(head) > maxBody {
			return nil, &llm.Error{Kind: llm.KindProtocol, Retryable: true, RetryAfter: -1, Message: "the provider answered with nothing but white space"}
		}
	}
}

// mayBecomeField reports whether what came is the beginning of a field's name.
func mayBecomeField(begun []byte) bool {
	for _, name := range eventFields {
		if len(begun) < len(name)+1 && strings.HasPrefix(name, string(begun)) {
			return true
		}
	}
	return false
}

// beginsWithField reports whether the first line of a body is one of a stream of
// events, or of one that was cut off.
func beginsWithField(head []byte) bool {
	begun := bytes.TrimLeft(head, blanks)
	if mayBecomeField(begun) {
		return true
	}
	line, _, _ := bytes.Cut(begun, []byte("\n"))
	name, _, _ := bytes.Cut(bytes.TrimRight(line, "\r"), []byte(":"))
	return slices.Contains(eventFields, string(name))
}

func claimsEvents(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/event-stream")
}
