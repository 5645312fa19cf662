package wire

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/rope"
)

// grown is a text in a store of its own, as a writer's that still grows.
type grown string

func (g grown) Slice(from, to int) string { return string(g[from:to]) }

// hard are texts whose JSON depends on where they are cut.
func hard() []string {
	return []string{
		"", "x", strings.Repeat("abcd ", longText), strings.Repeat("<&>\"\\\n\r\t\b\f\x00\u2028\u2029", outputPiece/8),
		strings.Repeat("漢字かな", outputPiece/5), "a" + strings.Repeat("漢", outputPiece), "ab" + strings.Repeat("𠮷", outputPiece),
		strings.Repeat("\xff\xe4\xb8", outputPiece/2), strings.Repeat("漢", longText) + "\xe4\xb8", strings.Repeat("x", outputPiece) + "\xe4",
	}
}

// What is written of a value with long texts is, byte for byte, its JSON.
func TestOutputIsTheJSON(t *testing.T) {
	for _, s := range hard() {
		for _, v := range long(s) {
			want, err := Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Marshal(v); err != nil || !bytes.Equal(want, again) {
				t.Errorf("%T was changed, %v", v, err)
			}
			if got := out.Bytes(); !bytes.Equal(want, got) {
				t.Errorf("%T with %d bytes: %d bytes in place of %d", v, len(s), len(got), len(want))
			}
			if _, ok := out.Whole(); ok == (len(s) >= longText) {
				t.Errorf("%T with %d bytes: in one piece %v", v, len(s), ok)
			}
		}
	}
}

// long are values that hold a text.
func long(s string) []any {
	parts := []lathe.Part{
		{ID: "prt_1", Body: &lathe.Text{Text: s}}, {ID: "prt_2", Body: &lathe.Reasoning{Text: s}}, {ID: "prt_3", Body: &lathe.File{URL: s}},
		{ID: "prt_4", Body: &lathe.ToolCall{State: &lathe.ToolPending{Raw: s}}},
		{ID: "prt_5", Body: &lathe.ToolCall{State: &lathe.ToolRunning{Metadata: map[string]any{"output": s, "a": 1}}}},
		{ID: "prt_6", Body: &lathe.ToolCall{State: &lathe.ToolFailed{Error: s, Metadata: map[string]any{"z": s, "b": s}}}},
		{ID: "prt_7", Body: &lathe.ToolCall{State: &lathe.ToolDone{
			Output: s, Metadata: map[string]any{"diff": s, "filediff": map[string]any{"before": s, "after": s + "b"}}, Attachments: []lathe.File{{URL: s}},
		}}},
	}
	diff := []lathe.FileDiff{{File: "a", Before: s, After: s + "x", Patch: s}}
	m := lathe.Message{ID: "msg_1", Info: &lathe.User{System: s, Summary: &lathe.UserSummary{Diffs: diff}}, Parts: parts}
	all := []any{
		EncodeMessage(m), EncodeMessages([]lathe.Message{{Info: &lathe.User{}}, m}), EncodeOwnMessage(m), EncodeOwnHistory(api.History{Messages: []lathe.Message{m}}),
		EncodeOwnOutcome(api.Outcome{Last: &m}), EncodeDiffs(diff), sessionDiff{"ses_1", encodeDiffs(diff)}, partDelta{Delta: s},
		ownEvent{Properties: partDelta{Delta: s}},
	}
	for _, p := range parts {
		all = append(all, EncodePart(p), streamed{"evt_1", "message.part.updated", partUpdated18{partUpdated: partUpdated{EncodePart(p), s}, Time: 1}})
	}
	return all
}

// A text that stands in several places at its writer's is told as one that is whole.
func TestStreamedTextIsTheJSON(t *testing.T) {
	for _, s := range hard() {
		text := append(TextOf(s), Span{Of: grown("??" + s), From: 2, To: 2 + len(s), Growing: true})
		p := lathe.Part{ID: "prt_1", SessionID: "ses_1", MessageID: "msg_1", Body: &lathe.Text{Time: lathe.Span{Start: time.UnixMilli(5)}}}
		delta := text.Cut(len(s)-1, len(s)+1)
		out, ok := EncodeStreamPart(p, text, delta, "evt_1")
		p.Body = &lathe.Text{Text: s + s, Time: lathe.Span{Start: time.UnixMilli(5)}}
		want, err := Marshal(streamed{"evt_1", "message.part.updated", partUpdated18{SessionID: "ses_1", partUpdated: partUpdated{EncodePart(p), delta.String()}}})
		if err != nil || !ok {
			t.Fatal(err, ok)
		}
		if !bytes.Equal(want, out.Bytes()) {
			t.Errorf("the part with %d bytes is not its JSON", len(s))
		}
		global, err := EncodeGlobalIn("/d", "p", out)
		if diff := cmp.Diff(`{"directory":"/d","project":"p","payload":`+string(want)+"}", string(global.Bytes())); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%.300s", err, diff)
		}
		if n := out.Held(); len(s) > longText && n > len(s)+8<<10 {
			t.Errorf("an output of %d bytes holds %d", out.Size(), n)
		}
	}
}

// An answer with a long text takes little beside it.
func TestOutputTakesLittle(t *testing.T) {
	s := strings.Repeat("abcd ", 4<<20)
	m := EncodeMessage(lathe.Message{Info: &lathe.Assistant{}, Parts: []lathe.Part{{ID: "prt_1", Body: &lathe.Text{Text: s}}}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes for a text of %d", n, len(s))
	}
}

// A text that its writer keeps in pieces is sent without copies of them, wherever
// characters lie across two.
func TestOutputCopiesNoPieces(t *testing.T) {
	var text rope.Text
	text.Append("ab")
	for range 100_000 {
		text.Append(strings.Repeat("𠮷漢é", 20))
	}
	size := text.Len()
	out, ok := EncodeStreamPart(lathe.Part{ID: "prt_1", Body: &lathe.Text{}}, Text{{Of: &text, To: size, Growing: true}}, nil, "evt_1")
	if !ok {
		t.Fatal("no part")
	}
	want, err := Marshal(partDelta{Delta: text.String()})
	if err != nil {
		t.Fatal(err)
	}
	_, quoted, _ := bytes.Cut(want, []byte(`"delta":`))
	quoted, _, _ = bytes.Cut(quoted[1:], []byte(`"`))
	var written bytes.Buffer
	written.Grow(2 * size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := out.WriteTo(&written); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if !bytes.Contains(written.Bytes(), quoted) {
		t.Error("the text is not its JSON")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(size)/10 {
		t.Errorf("%d bytes for a text of %d", n, size)
	}
}

// Whatever a text holds, cutting it changes no byte.
func FuzzOutput(f *testing.F) {
	for _, s := range hard() {
		f.Add(s[:min(len(s), 100)], 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		s = strings.Repeat(s, max(n%9, 1)*outputPiece/(len(s)+1))
		want, err := Marshal(partDelta{Delta: s})
		out, err2 := Encode(partDelta{Delta: s})
		if err != nil || err2 != nil || !bytes.Equal(want, out.Bytes()) {
			t.Errorf("%q: %v, %v", s[:min(len(s), 50)], err, err2)
		}
	})
}
