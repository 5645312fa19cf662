package codec

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"lathe"
)

// Generators of everything that is stored.

// str is any UTF-8 text, now and then one that leaves the row.
func str() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.String().Draw(t, "text")
		if rapid.IntRange(0, 15).Draw(t, "large") == 0 {
			s = strings.Repeat(s+"x", Spill/(len(s)+1)+2)
		}
		return s
	})
}

func when(t *rapid.T) time.Time { return At(rapid.Int64Range(0, 4e12).Draw(t, "ms")) }

func span(t *rapid.T) lathe.Span { return lathe.Span{Start: when(t), End: when(t)} }

func rawJSON(t *rapid.T) json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{
		nil, json.RawMessage(`{}`), json.RawMessage(`{"b":1,"a":[1.50,"<&>",null]}`), json.RawMessage("{ \"spaced\" : 1e3}\n"),
		json.RawMessage(`{"cut": "of`), json.RawMessage(``), json.RawMessage(`{"x":"` + strings.Repeat("y", Spill) + `"}`),
	}).Draw(t, "json")
}

func meta(t *rapid.T) lathe.Meta {
	if rapid.Bool().Draw(t, "no meta") {
		return nil
	}
	return lathe.Meta{"anthropic": json.RawMessage(`{"signature":"a+/="}`)}
}

func metadataMap(t *rapid.T) map[string]any {
	switch rapid.IntRange(0, 3).Draw(t, "metadata") {
	case 0:
		return nil
	case 1:
		return map[string]any{}
	}
	return map[string]any{
		"output": str().Draw(t, "output"), "n": 1.5, "ok": true, "none": nil,
		"nested": map[string]any{"list": []any{"a", 2.0}, "before": str().Draw(t, "before")},
	}
}

func tokensOf(t *rapid.T) lathe.Tokens {
	n := rapid.Int64Range(0, 1e9)
	return lathe.Tokens{
		Input: n.Draw(t, "in"), Output: n.Draw(t, "out"), Reasoning: n.Draw(t, "thought"),
		CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write"),
	}
}

func modelRef(t *rapid.T) lathe.ModelRef {
	return lathe.ModelRef{
		Provider: rapid.String().Draw(t, "provider"), Model: rapid.String().Draw(t, "model"),
		Variant: rapid.SampledFrom([]string{"", "high"}).Draw(t, "variant"),
	}
}

func fileOf(t *rapid.T) lathe.File {
	f := lathe.File{MIME: "text/plain", Filename: rapid.String().Draw(t, "name"), URL: str().Draw(t, "url")}
	if rapid.Bool().Draw(t, "source") {
		f.Source = &lathe.FileSource{
			Kind: "symbol", Path: "/a", Text: lathe.SourceText{Value: "@a", Start: 1, End: 3}, Range: rawJSON(t),
			Name: "f", SymbolKind: 12, Client: "c", URI: "u",
		}
	}
	return f
}

func failureOf(t *rapid.T) lathe.Failure {
	msg := rapid.String().Draw(t, "message")
	return []lathe.Failure{
		nil, &lathe.AuthFailure{Provider: "p", Message: msg},
		&lathe.APIFailure{Message: msg, Status: 429, Retryable: true, Headers: map[string]string{"a": "b"}, Body: msg, Metadata: map[string]string{"url": "x"}},
		&lathe.AbortedFailure{Message: msg}, &lathe.OverflowFailure{Message: msg, Body: "b"}, &lathe.OutputLengthFailure{},
		&lathe.FilterFailure{Message: msg}, &lathe.StructuredFailure{Message: msg, Retries: 2},
		&lathe.LimitFailure{Limit: "steps", Message: msg}, &lathe.UnknownFailure{Message: msg},
	}[rapid.IntRange(0, 9).Draw(t, "failure")]
}

func stateOf(t *rapid.T) lathe.ToolState {
	switch rapid.IntRange(0, 3).Draw(t, "state") {
	case 0:
		return &lathe.ToolPending{Raw: str().Draw(t, "raw")}
	case 1:
		return &lathe.ToolRunning{Input: rawJSON(t), Title: "t", Metadata: metadataMap(t), Start: when(t)}
	case 2:
		st := &lathe.ToolDone{
			Input: rawJSON(t), Output: str().Draw(t, "output"), Title: "t", Metadata: metadataMap(t),
			Time: span(t), Compacted: when(t), Shown: rapid.IntRange(0, 9).Draw(t, "shown"),
		}
		if m := st.Metadata; m != nil && rapid.Bool().Draw(t, "same") {
			m["output"] = st.Output
		}
		for range rapid.IntRange(0, 2).Draw(t, "attachments") {
			st.Attachments = append(st.Attachments, fileOf(t))
		}
		return st
	}
	return &lathe.ToolFailed{
		Input: rawJSON(t), Error: str().Draw(t, "error"), Metadata: metadataMap(t), Time: span(t),
		Interrupted: rapid.Bool().Draw(t, "interrupted"),
	}
}

func bodies(t *rapid.T) []lathe.PartBody {
	file := fileOf(t)
	return []lathe.PartBody{
		&lathe.Text{Text: str().Draw(t, "text"), Synthetic: true, Ignored: rapid.Bool().Draw(t, "ignored"), Time: span(t), Meta: meta(t)},
		&lathe.Reasoning{Text: str().Draw(t, "thought"), Time: span(t), Meta: meta(t)},
		&file,
		&lathe.ToolCall{CallID: "c", Tool: "bash", State: stateOf(t), Meta: meta(t)},
		&lathe.StepStart{Snapshot: "s"},
		&lathe.StepFinish{Reason: lathe.FinishStop, Snapshot: "s", Cost: 3, Tokens: tokensOf(t)},
		&lathe.SnapshotMark{Snapshot: "s"},
		&lathe.Patch{Hash: "h", Files: []string{"/a", "/b"}, Shared: []string{"/b"}},
		&lathe.AgentMention{Name: "plan", Source: &lathe.SourceText{Value: "@plan", End: 5}},
		&lathe.AgentMention{Name: "plan"},
		&lathe.Retry{Attempt: 2, Error: failureOf(t), Created: when(t)},
		&lathe.CompactionMark{Auto: true, Overflow: true, TailStart: "msg_1"},
		&lathe.Subtask{Prompt: str().Draw(t, "prompt"), Description: "d", Agent: "a", Model: modelRef(t), Command: "c"},
	}
}

// same takes nil and empty for equal where the stored form cannot tell.
var same = cmp.Options{cmpopts.EquateEmpty()}

func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, body := range bodies(t) {
			var e Encoder
			kind, data, err := e.Part(body)
			if err != nil {
				t.Fatal(err)
			}
			d := Decoder{Load: func(r Ref) (string, error) { return e.Blobs[r.Hash], nil }}
			got, err := d.Part(kind, data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(body, got, same); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", kind, diff)
			}
		}
		for _, info := range []lathe.MessageInfo{
			&lathe.User{
				Agent: "build", Model: modelRef(t), System: str().Draw(t, "system"), Tools: map[string]bool{"bash": false}, Steers: true, By: str().Draw(t, "by"),
				Summary: &lathe.UserSummary{Title: "t", Body: "b", Diffs: []lathe.FileDiff{{File: "f", Before: str().Draw(t, "before"), Additions: 1}}},
			},
			&lathe.Assistant{
				ParentID: "msg_1", Agent: "build", Model: modelRef(t), Cwd: "/c", Root: "/r", Completed: when(t),
				Finish: lathe.FinishLength, Summary: true, Cost: 7, Tokens: tokensOf(t), Error: failureOf(t),
			},
		} {
			var e Encoder
			role, data, err := e.Info(info)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decoder{Load: func(r Ref) (string, error) { return e.Blobs[r.Hash], nil }}.Info(role, data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(info, got, same); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", role, diff)
			}
		}
	})
}

// A generator that forgets a field would let the codec forget it too.
func TestEveryFieldIsStored(t *testing.T) {
	missing := map[string]bool{}
	for _, v := range []any{
		lathe.Text{}, lathe.Reasoning{}, lathe.File{}, lathe.FileSource{}, lathe.ToolCall{}, lathe.ToolPending{},
		lathe.ToolRunning{}, lathe.ToolDone{}, lathe.ToolFailed{}, lathe.StepStart{}, lathe.StepFinish{},
		lathe.SnapshotMark{}, lathe.Patch{}, lathe.AgentMention{}, lathe.Retry{}, lathe.CompactionMark{},
		lathe.Subtask{}, lathe.User{}, lathe.Assistant{}, lathe.Session{}, lathe.FileDiff{},
	} {
		missing[fmt.Sprintf("%T has %d fields", v, reflect.TypeOf(v).NumField())] = true
	}
	want := map[string]bool{}
	for name, n := range map[string]int{
		"Text": 5, "Reasoning": 3, "File": 4, "FileSource": 8, "ToolCall": 4, "ToolPending": 1, "ToolRunning": 4,
		"ToolDone": 8, "ToolFailed": 5, "StepStart": 1, "StepFinish": 4, "SnapshotMark": 1, "Patch": 3,
		"AgentMention": 2, "Retry": 3, "CompactionMark": 3, "Subtask": 5, "User": 7, "Assistant": 11, "Session": 20,
		"FileDiff": 7,
	} {
		want[fmt.Sprintf("lathe.%s has %d fields", name, n)] = true
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("a type changed: store its new field and adjust the number (-want +got):\n%s", diff)
	}
}

func TestPack(t *testing.T) {
	var p Packer
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.SliceOf(rapid.Byte()).Draw(t, "doc")
		if rapid.Bool().Draw(t, "large") {
			doc = []byte(strings.Repeat(string(doc)+"x", packFrom))
		}
		if rapid.Bool().Draw(t, "looks packed") {
			doc = append([]byte{packMark}, doc...)
		}
		stored, ok := p.Pack(doc).([]byte)
		if !ok {
			stored = doc
		}
		got, err := Unpack(stored)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(doc) {
			t.Fatalf("%d bytes came back as %d", len(doc), len(got))
		}
	})
}

func TestUnknownFailure(t *testing.T) {
	if f := decodeFailure(&failureDoc{Kind: "new", Message: "m"}); !cmp.Equal(f, lathe.Failure(&lathe.UnknownFailure{Message: "m"})) {
		t.Errorf("unknown failure: %v", f)
	}
}

// lost reads no blob, as a store does whose files are gone.
func lost(r Ref) (string, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	return "", fs.ErrNotExist
}

func FuzzDecodePart(f *testing.F) {
	for _, body := range []lathe.PartBody{
		&lathe.Text{Text: "x", Meta: lathe.Meta{"a": json.RawMessage("1")}},
		&lathe.ToolCall{State: &lathe.ToolDone{Input: json.RawMessage(`{"a":1}`), Metadata: map[string]any{"a": 1}, Attachments: []lathe.File{{URL: "u"}}}},
		&lathe.Retry{Error: &lathe.APIFailure{Status: 1}},
	} {
		var e Encoder
		kind, data, err := e.Part(body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, data)
	}
	f.Add(KindTool, []byte(`{"state":{"kind":"done","blob":{"hash":"../..","size":-1}}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		data, err := Unpack(data)
		if err != nil {
			return
		}
		d := Decoder{Load: lost}
		body, err := d.Part(kind, data)
		if err != nil || body == nil {
			return
		}
		var e Encoder
		kind2, again, err := e.Part(body)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if len(e.Blobs) > 0 {
			return
		}
		body2, err := d.Part(kind2, again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(body, body2, same); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}
