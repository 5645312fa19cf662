package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func reading(data string) *stream {
	return newStream(io.NopCloser(strings.NewReader(data)), nowhere{io.Discard})
}

func TestStreamReads(t *testing.T) {
	const one = "Content-Length: 7\r\n\r\n{\"a\":1}"
	tests := map[string]struct {
		data string
		want []string
	}{
		"one after the other":         {one + one, []string{`{"a":1}`, `{"a":1}`}},
		"other fields, other case":    {"content-type: x\r\ncontent-length:7\r\n\r\n{\"a\":1}", []string{`{"a":1}`}},
		"line feeds alone":            {"Content-Length: 7\n\n{\"a\":1}", []string{`{"a":1}`}},
		"prints before and between":   {"starting: up\n\n" + one + "\nready\n" + one, []string{`{"a":1}`, `{"a":1}`}},
		"no JSON":                     {"Content-Length: 3\r\n\r\nabc" + one, []string{`{"a":1}`}},
		"prints right after a body":   {one + "log Content-Length: 7\r\n\r\n" + one, []string{`{"a":1}`, `{"a":1}`}},
		"a length that is no number":  {"Content-Length: x\r\n\r\n" + one, []string{`{"a":1}`}},
		"a negative length":           {"Content-Length: -5\r\n\r\n" + one, []string{`{"a":1}`}},
		"cut off":                     {"Content-Length: 700\r\n\r\n{", nil},
		"an absurd length":            {"Content-Length: 99999999999\r\n\r\n{", nil},
		"a line without end":          {strings.Repeat("x", 3<<20), nil},
		"nothing":                     {"", nil},
		"a hundred messages of waste": {strings.Repeat("Content-Length: 1\r\n\r\nx", maxBad) + one, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := reading(tt.data)
			defer s.Close()
			var got []string
			for {
				var v json.RawMessage
				if s.ReadObject(&v) != nil {
					break
				}
				got = append(got, string(v))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzStream holds that nothing a server prints makes reading panic, go on for ever or
// take more than its bounds.
func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 7\r\n\r\n{\"a\":1}"))
	f.Add([]byte("Content-Length: 99\r\nContent-Length: 2\r\n\r\n{}Content-Length: 5\n\nxx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := reading(string(data))
		defer s.Close()
		for range len(data) + 1 {
			var v json.RawMessage
			if s.ReadObject(&v) != nil {
				return
			}
		}
		t.Error("it reads for ever")
	})
}

// FuzzDiagnostics holds that whatever is published is survived.
func FuzzDiagnostics(f *testing.F) {
	f.Add([]byte(`{"uri":"file:///a","version":1,"diagnostics":[{"range":{"start":{"line":-1,"character":99999}},"severity":9,"message":{"value":"x"},"code":{"value":3}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p published
		if json.Unmarshal(data, &p) != nil {
			return
		}
		if len(p.Diagnostics) > maxKept {
			t.Error("too many are kept")
		}
		for _, d := range diagnosticsOf(&document{text: "a\n😀b\r\nc"}, p.Diagnostics, utf8Units) {
			if d.Range.Start.Line < 0 || d.Range.Start.Character < 0 || d.Severity < Error || d.Severity > Hint {
				t.Errorf("%+v", d)
			}
		}
	})
}

// held is a pipe that nobody reads.
type held struct{ closed chan struct{} }

func (h held) Write(p []byte) (int, error) { <-h.closed; return 0, io.ErrClosedPipe }
func (h held) Close() error                { close(h.closed); return nil }

// A server that reads nothing holds nobody up, and is given up in the end.
func TestWritingDoesNotWait(t *testing.T) {
	s := newStream(io.NopCloser(strings.NewReader("")), held{make(chan struct{})})
	text := string(bytes.Repeat([]byte("x"), 8<<20))
	var err error
	for range 20 {
		if err = s.WriteObject(text); err != nil {
			break
		}
	}
	if !errors.Is(err, errUnread) {
		t.Error(err)
	}
	s.Close()
}

func TestDiagnosticListKeepsErrors(t *testing.T) {
	var many []map[string]any
	for range 3 * maxKept {
		many = append(many, map[string]any{"severity": 2, "message": "w"})
	}
	many = append(many, map[string]any{"severity": 1, "message": "e"}, map[string]any{"severity": "no"})
	data, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	var list diagnosticList
	if err := json.Unmarshal(data, &list); err != nil || len(list) != maxKept || list[0].Message != "e" {
		t.Errorf("%d, first %q, %v", len(list), list[0].Message, err)
	}
}
