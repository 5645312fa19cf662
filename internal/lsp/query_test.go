package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAsk(t *testing.T) {
	d := newDesk(t, "bytes")
	f := d.file("a.fake", "é name\n")
	ask := func(op Operation) string {
		t.Helper()
		found, err := d.servers.Ask(t.Context(), op, f, Position{0, 2}, "q")
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := ask(Hover); !strings.Contains(got, "about {0 3}") { // in the server's units
		t.Errorf("hover: %s", got)
	}
	if got := ask(Definition); !strings.Contains(got, uriOf(f.Path)) {
		t.Errorf("definition: %s", got)
	}
	if got := ask(WorkspaceSymbol); strings.Count(got, "sym") != 8 || strings.Contains(got, `"sym1"`) {
		t.Errorf("symbols: %s", got)
	}
	if got := ask(References); got != "null" { // it has no such ability
		t.Errorf("references: %s", got)
	}
	if _, err := d.servers.Ask(t.Context(), Hover, d.file("a.txt", ""), Position{}, ""); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	broken := newDesk(t, "exit")
	if _, err := broken.servers.Ask(t.Context(), Hover, f, Position{}, ""); err == nil || errors.Is(err, ErrNoServer) {
		_, err = broken.servers.Ask(t.Context(), Hover, broken.file("a.fake", ""), Position{}, "")
		if err == nil || !strings.Contains(err.Error(), "cannot find its library") {
			t.Error(err)
		}
	}
}

func TestSymbolAt(t *testing.T) {
	d := newDesk(t, "push")
	f := d.file("a.fake", "class Outer\ninner\n\n\n\n")
	for line, want := range map[int]string{0: "{{0 0} {4 0}} true", 1: "{{1 0} {2 1}} true", 3: "{{0 0} {0 0}} false"} {
		r, ok := d.servers.SymbolAt(t.Context(), f, line)
		if got := fmt.Sprint(r, ok); got != want {
			t.Errorf("line %d: %s", line, got)
		}
	}
}

func TestRename(t *testing.T) {
	d := newDesk(t, "bytes")
	a, b := d.file("a.fake", "é old\r\nx\r\n"), d.file("b.fake", "old\n")
	d.expect("b is open", d.servers.Before(b).After(t.Context(), b))
	edits, err := d.servers.Rename(t.Context(), a, Position{0, 2}, "new\nname")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range edits {
		text := map[string]string{a.Path: a.Text, b.Path: b.Text}[e.Path]
		after, err := e.Apply(text)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(e.Path)] = after
	}
	if diff := cmp.Diff(map[string]string{"a.fake": "é new\r\nname\r\nx\r\n", "b.fake": "new\nname\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A server that still reads the project would rename in a part of it: it is waited for.
func TestRenameWaitsForTheProject(t *testing.T) {
	d := newDesk(t, "reading")
	edits, err := d.servers.Rename(t.Context(), d.file("a.fake", "old\n"), Position{}, "new")
	if err != nil || len(edits) != 1 {
		t.Errorf("%+v, %v", edits, err)
	}
}

// Work that does not end is waited for once, whatever else is told of it.
func TestWorksAreWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w works
		for _, raw := range []string{`{"token":1,"value":{"kind":"end"}}`, `{"token":1,"value":{"kind":"begin"}}`, `{"token":"1","value":{"kind":"begin"}}`, `{"token":1,"value":{"kind":"end"}}`, `no`} {
			w.note([]byte(raw))
		}
		for _, want := range []time.Duration{callLimit, 0} {
			ctx, cancel := context.WithTimeout(t.Context(), callLimit)
			begin := time.Now()
			w.wait(ctx)
			cancel()
			if got := time.Since(begin); got != want {
				t.Errorf("waited %v, want %v", got, want)
			}
		}
		for i := range 3 * maxWorks {
			w.note(fmt.Appendf(nil, `{"token":%d,"value":{"kind":"begin"}}`, i))
		}
		if len(w.names) != maxWorks {
			t.Errorf("%d are known", len(w.names))
		}
	})
}

func TestEditsOfOneFile(t *testing.T) {
	at := func(a, b, c, d int) Range { return Range{Position{a, b}, Position{c, d}} }
	tests := []struct {
		edits []textEdit
		want  string
	}{
		{[]textEdit{{at(1, 0, 1, 1), "B"}, {at(0, 0, 0, 1), "A"}}, "A\nB\nc"},
		{[]textEdit{{at(0, 1, 0, 1), "1"}, {at(0, 1, 0, 1), "2"}}, "a12\nb\nc"}, // in their order
		{[]textEdit{{at(0, 0, 99, 0), "x"}}, "x"},
		{[]textEdit{{at(0, 0, 0, 1), "x"}, {at(0, 0, 1, 0), "y"}}, "ranges of the edit overlap"},
		{[]textEdit{{at(1, 0, 0, 0), "x"}}, "a range of the edit ends before it begins"},
	}
	for _, tt := range tests {
		got, err := Edit{texts: tt.edits, enc: utf16Units}.Apply("a\nb\nc")
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.edits, got, tt.want)
		}
	}
}

func TestWorkspaceEdits(t *testing.T) {
	tests := map[string]string{
		`{"changes":{"file:///b":[],"file:///a":[{"newText":"x"}]}}`:                                                                          "[{/a  false false 1} {/b  false false 0}]",
		`{"documentChanges":[{"kind":"create","uri":"file:///n"},{"textDocument":{"uri":"file:///n"},"edits":[{"newText":"x"}]}]}`:            "[{/n  true false 1}]",
		`{"documentChanges":[{"kind":"rename","oldUri":"file:///o","newUri":"file:///p"},{"textDocument":{"uri":"file:///p"},"edits":[{}]}]}`: "[{/o /p false false 1}]",
		`{"documentChanges":[{"kind":"delete","uri":"file:///d"}]}`:                                                                           "[{/d  false true 0}]",
		`{"changes":{"https://x/a":[]}}`: `the edit names something that is not a file: "https://x/a"`,
	}
	for in, want := range tests {
		var w workspaceEdit
		if err := json.Unmarshal([]byte(in), &w); err != nil {
			t.Fatal(err)
		}
		edits, err := w.edits(utf16Units)
		var list []string
		for _, e := range edits {
			list = append(list, fmt.Sprintf("{%s %s %v %v %d}", e.Path, e.To, e.Create, e.Remove, len(e.texts)))
		}
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzEdits(f *testing.F) {
	f.Add([]byte(`{"changes":{"file:///b":[{"range":{"start":{"line":-1,"character":9},"end":{"line":3}},"newText":"é"}]}}`), "a\r\nb😀")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		var w workspaceEdit
		if json.Unmarshal(data, &w) != nil {
			return
		}
		edits, _ := w.edits(utf8Units)
		for _, e := range edits {
			_, _ = e.Apply(text)
		}
	})
}
