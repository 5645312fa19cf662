package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func collect(r io.Reader, max int) (evs []Event, err error) {
	for ev, e := range Read(r, max) {
		if e != nil {
			return evs, e
		}
		ev.Data = append([]byte{}, ev.Data...)
		evs = append(evs, ev)
	}
	return evs, nil
}

func message(data string) Event { return Event{Type: "message", Data: []byte(data)} }

func TestRead(t *testing.T) {
	tests := []struct {
		name, in string
		want     []Event
	}{
		{"empty", "", nil},
		{"plain", "data: a\n\n", []Event{message("a")}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []Event{message("a"), message("b")}},
		{"cr", "data: a\r\rdata: b\r\r", []Event{message("a"), message("b")}},
		{"mixed ends", "data: a\rdata: b\r\n\ndata: c\n\r", []Event{message("a\nb"), message("c")}},
		{"mark", "\xef\xbb\xbfdata: a\n\n", []Event{message("a")}},
		{"mark only at the start", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []Event{message("a")}},
		{"comments", ": ping\n\n:\ndata: a\n: x\n\n", []Event{message("a")}},
		{"several lines", "data: a\ndata:\ndata:b\n\n", []Event{message("a\n\nb")}},
		{"one space only", "data:  a\n\n", []Event{message(" a")}},
		{"no colon", "data\n\n", []Event{message("")}},
		{"type", "event: x\ndata: a\n\ndata: b\n\n", []Event{{Type: "x", Data: []byte("a")}, message("b")}},
		{"type without data", "event: x\n\ndata: b\n\n", []Event{message("b")}},
		{"id and retry stay", "id: 7\nretry: 20\ndata: a\n\nid: b\x00d\nretry: -3\ndata: b\n\n", []Event{
			{Type: "message", Data: []byte("a"), ID: "7", Retry: 20 * time.Millisecond},
			{Type: "message", Data: []byte("b"), ID: "7", Retry: 20 * time.Millisecond}}},
		{"unknown field", "foo: 1\ndata: a\n\n", []Event{message("a")}},
		{"cut", "data: a\n\ndata: b\n", []Event{message("a")}},
		{"invalid utf-8", "data: \xff\xfe\n\n", []Event{message("\xff\xfe")}},
		{"nul", "data: a\x00b\n\n", []Event{message("a\x00b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)),
				iotest.DataErrReader(strings.NewReader(tt.in))} {
				got, err := collect(r, 0)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestReadLimits(t *testing.T) {
	for name, in := range map[string]string{
		"long line":  "data: " + strings.Repeat("x", 2000) + "\n\n",
		"many lines": strings.Repeat("data: xxxxxxxxx\n", 200) + "\n",
		"endless":    strings.Repeat("x", 1<<20),
	} {
		if _, err := collect(strings.NewReader(in), 1000); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: error %v, want ErrTooLarge", name, err)
		}
	}
	long := strings.Repeat("y", 5<<20)
	got, err := collect(strings.NewReader("data: "+long+"\n\ndata: z\n\n"), 0)
	if err != nil || len(got) != 2 || string(got[0].Data) != long || string(got[1].Data) != "z" {
		t.Errorf("5 MiB event: %d events, error %v", len(got), err)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	got, err := collect(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 0)
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %d events and error %v, want 1 and %v", len(got), err, broken)
	}
}

func TestReadStops(t *testing.T) {
	for ev := range Read(strings.NewReader("data: a\n\ndata: b\n\n"), 0) {
		if string(ev.Data) != "a" {
			t.Fatalf("event %q after break", ev.Data)
		}
		break
	}
}

// What is written as events is read back, however the bytes are split.
func TestReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[^\r\n]{0,20}`)
		var in strings.Builder
		var want []Event
		for range rapid.IntRange(0, 10).Draw(t, "events") {
			end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
			data := rapid.SliceOfN(line, 1, 4).Draw(t, "data")
			for _, d := range data {
				in.WriteString("data: " + d + end)
			}
			in.WriteString(end)
			want = append(want, message(strings.Join(data, "\n")))
		}
		r := &splitter{data: []byte(in.String()), n: rapid.IntRange(1, 7).Draw(t, "split")}
		got, err := collect(r, 0)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("error %v, events (-want +got):\n%s", err, diff)
		}
	})
}

type splitter struct {
	data []byte
	n    int
}

func (s *splitter) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data[:min(s.n, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("data: a\n\n"), 3)
	f.Add([]byte("\xef\xbb\xbfevent: x\r\ndata: a\rdata\n\r\n"), 1)
	f.Add([]byte(":c\nid: 1\nretry: 99999999999999\ndata:\n\n"), 2)
	f.Fuzz(func(t *testing.T, in []byte, split int) {
		whole, err := collect(bytes.NewReader(in), 64)
		parts, err2 := collect(&splitter{data: in, n: max(1, split%16)}, 64)
		if diff := cmp.Diff(whole, parts); diff != "" && err == nil && err2 == nil {
			t.Errorf("split changes events (-whole +split):\n%s", diff)
		}
		for _, ev := range whole {
			if len(ev.Data) > 64 || bytes.ContainsRune(ev.Data, '\r') {
				t.Errorf("impossible data %q", ev.Data)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var in bytes.Buffer
	for i := range 20000 {
		fmt.Fprintf(&in, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word %d\"}}\n\n", i)
	}
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range Read(bytes.NewReader(in.Bytes()), 0) {
			n++
		}
		if n != 20000 {
			b.Fatal(n)
		}
	}
}
