package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"lathe/internal/store/local"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type stubTool struct{ spec Spec }

func stub(name, description string) Tool {
	return stubTool{Spec{Name: name, Description: description, Schema: json.RawMessage(readSchema)}}
}

func (s stubTool) Spec() Spec                                 { return s.spec }
func (s stubTool) Run(context.Context, *Call) (Result, error) { return Result{}, nil }

func TestWindow(t *testing.T) {
	tests := []struct {
		name         string
		lines, bytes int
		text         string
		head, tail   string
		removed      string
	}{
		{"empty", 2, 10, "", "", "", ""},
		{"fits", 2, 10, "ab\ncd", "ab\ncd", "ab\ncd", ""},
		{"a final newline is no line", 2, 5, "ab\ncd\n", "ab\ncd\n", "ab\ncd\n", ""},
		{"too many lines", 2, 100, "a\nb\nc\n", "a\nb", "b\nc", "1 lines"},
		{"empty lines count", 2, 100, "\n\n\n\n", "\n", "\n", "2 lines"},
		{"too many bytes", 9, 5, "aa\nbb\ncc", "aa\nbb", "bb\ncc", "3 bytes"},
		{"one long line", 9, 4, "abcdef", "abcd", "cdef", "2 bytes"},
		{"between characters", 9, 4, "aéééz", "aé", "éz", "5 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &Limits{MaxLines: tt.lines, MaxBytes: tt.bytes}
			head, removed := l.Window(tt.text, false)
			tail, removed2 := l.Window(tt.text, true)
			got := []string{head, removed, tail, removed2}
			if diff := cmp.Diff([]string{tt.head, tt.removed, tt.tail, tt.removed}, got); diff != "" {
				if tt.name != "between characters" { // the ends differ in width
					t.Errorf("window (-want +got):\n%s", diff)
				}
			}
			if !utf8.ValidString(head) || !utf8.ValidString(tail) {
				t.Errorf("cut inside a character: %q %q", head, tail)
			}
		})
	}
}

func TestWindowProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Limits{MaxLines: rapid.IntRange(1, 6).Draw(t, "lines"), MaxBytes: rapid.IntRange(1, 30).Draw(t, "bytes")}
		text := rapid.StringMatching(`([a-zé]{0,7}\n?){0,12}`).Draw(t, "text")
		head, removed := l.Window(text, false)
		tail, _ := l.Window(text, true)
		if removed == "" {
			if head != text || tail != text {
				t.Fatalf("changed although nothing was removed: %q %q", head, tail)
			}
			return
		}
		body := strings.TrimSuffix(text, "\n")
		if !strings.HasPrefix(body, head) || !strings.HasSuffix(body, tail) {
			t.Fatalf("%q and %q are not the ends of %q", head, tail, body)
		}
		for _, s := range []string{head, tail} {
			if len(s) > l.MaxBytes || strings.Count(s, "\n") >= l.MaxLines || !utf8.ValidString(s) {
				t.Fatalf("%q is over the limits or cut inside a character", s)
			}
		}
	})
}

func TestApply(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", local.OutputsDir)
	l := &Limits{Outputs: local.Outputs{Dir: dir}, MaxLines: 2}
	short := l.Apply(Result{Output: "a"}, true)
	if diff := cmp.Diff(Result{Output: "a", Metadata: map[string]any{"truncated": false}}, short); diff != "" {
		t.Errorf("short (-want +got):\n%s", diff)
	}
	own := Result{Output: "a\nb\nc", Metadata: map[string]any{"truncated": false}}
	if diff := cmp.Diff(own, l.Apply(own, true)); diff != "" {
		t.Errorf("a tool that cuts by itself (-want +got):\n%s", diff)
	}
	for _, delegate := range []bool{true, false} {
		long := l.Apply(Result{Output: "a\nb\nc", Metadata: map[string]any{"x": 1}}, delegate)
		path, _ := long.Metadata["outputPath"].(string)
		data, err := os.ReadFile(path)
		if err != nil || string(data) != "a\nb\nc" {
			t.Fatalf("saved %q, %v", data, err)
		}
		if info, _ := os.Stat(path); info.Mode() != 0o600 || !strings.HasPrefix(info.Name(), "tool_") {
			t.Errorf("file %s has mode %v", info.Name(), info.Mode())
		}
		if !strings.HasPrefix(long.Output, "a\nb\n\n...1 lines truncated...\n\n") || !strings.Contains(long.Output, path) ||
			strings.Contains(long.Output, "task tool") != delegate {
			t.Errorf("output:\n%s", long.Output)
		}
	}
	if cut := l.Tail("a\nb\nc", false); !strings.HasPrefix(cut.Text, "...1 lines truncated...\n\n") || !strings.HasSuffix(cut.Text, "\n\nb\nc") {
		t.Errorf("tail:\n%s", cut.Text)
	}
}

func TestApplyWithoutSpace(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res := (&Limits{Outputs: local.Outputs{Dir: filepath.Join(blocked, "x")}, MaxLines: 1}).Apply(Result{Output: "a\nb"}, false)
	if res.Metadata["truncated"] != true || res.Metadata["outputPath"] != nil || !strings.Contains(res.Output, "could not be saved") {
		t.Errorf("result %+v", res)
	}
}

func TestSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write := func(s string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var s Seen
	base := time.Unix(1_700_000_000, 0)
	write("one", base)
	if err := s.Check("ses", path); err == nil || !strings.Contains(err.Error(), "not been read") {
		t.Errorf("unread: %v", err)
	}
	info, _ := os.Stat(path)
	s.Record("ses", path, info, []byte("one"))
	if err := s.Check("other", path); err == nil {
		t.Error("another session's read counts")
	}
	write("one", base.Add(time.Hour))
	if err := s.Check("ses", path); err != nil {
		t.Errorf("touched, same content: %v", err)
	}
	write("two", base) // same size and time, other content
	if err := s.Check("ses", path); err == nil || !strings.Contains(err.Error(), "changed after") {
		t.Errorf("changed: %v", err)
	}
	s.Record("ses", path, info, nil) // too large to hash
	if err := s.Check("ses", path); err != nil {
		t.Errorf("same time and size: %v", err)
	}
	write("two", base.Add(time.Second))
	if err := s.Check("ses", path); err == nil {
		t.Error("a later time passes without a hash")
	}
	s.Off = true
	if err := s.Check("nobody", path); err != nil {
		t.Errorf("switched off: %v", err)
	}
	s.Forget("ses")
	if s.Known("ses", path) {
		t.Error("known after Forget")
	}
}

func BenchmarkApplyShort(b *testing.B) {
	l := &Limits{}
	res := Result{Output: strings.Repeat(fmt.Sprintln("a line of output"), 100)}
	b.ReportAllocs()
	for b.Loop() {
		l.Apply(res, true)
	}
}
