package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/lsp"
	"lathe/internal/tool"
)

// said is what language servers say, and what they were told.
type said struct {
	report        lsp.Report
	before, after []lsp.File
	dropped       int
}

func (s *said) Before(files ...lsp.File) Change { s.before = files; return s }
func (s *said) Read(f lsp.File)                 { s.before = []lsp.File{f} }
func (s *said) Drop()                           { s.dropped++ }
func (s *said) After(_ context.Context, files ...lsp.File) lsp.Report {
	s.after = files
	return s.report
}

func wrong(line int, message string) lsp.Found {
	return lsp.Found{Diagnostic: lsp.Diagnostic{Range: lsp.Range{Start: lsp.Position{Line: line}}, Severity: lsp.Error, Message: message}}
}

func TestDiagnosticsAndFormat(t *testing.T) {
	servers := &said{}
	r := newRig(t, func(e *Env) {
		e.Format = func(_ context.Context, paths []string) {
			data, err := os.ReadFile(paths[0])
			if err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(paths[0], []byte(strings.ToUpper(string(data))), 0o644); err != nil {
				t.Error(err)
			}
		}
		e.Languages = servers
	})
	own := r.path("a")
	servers.report = lsp.Report{
		New:     map[string][]lsp.Found{"/other": {wrong(0, "also bad")}},
		Fixed:   map[string][]lsp.Found{own: {wrong(0, "was bad")}},
		All:     map[string][]lsp.Diagnostic{own: {{Severity: lsp.Warning, Message: "only a warning"}}},
		Older:   2,
		Waiting: []string{"slowls"},
	}
	for i := range 22 {
		f := wrong(i, "bad")
		if i == 0 {
			f.Line = "abc()"
		}
		servers.report.New[own] = append(servers.report.New[own], f)
	}
	res := r.ok("write", m{"filePath": "a", "content": "abc\n"})
	want := "Wrote file successfully.\nThe formatter then changed line 1." +
		"\n\nLSP errors detected in this file, please fix:\n<diagnostics file=\"" + own + "\">\nERROR [1:1] bad\n    > abc()\n" +
		strings.Join(badLines(2, 20), "\n") + "\n... and 2 more\n</diagnostics>" +
		"\n\nLSP errors detected in other files:\n<diagnostics file=\"/other\">\nERROR [1:1] also bad\n</diagnostics>" +
		"\n\nLSP errors that this change fixed:\na: was bad" +
		"\n\n2 errors that were there before are not listed." +
		"\n\nNo answer from slowls yet; what it finds is told with a later edit."
	if d := cmp.Diff(want, res.Output); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]lsp.File{{Path: own, Missing: true}}, servers.before); d != "" {
		t.Errorf("told before (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]lsp.File{{Path: own, Text: "ABC\n"}}, servers.after); d != "" {
		t.Errorf("told after (-want +got):\n%s", d)
	}
	warning := map[string]any{"message": "only a warning", "severity": 2, "range": map[string]any{
		"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 0, "character": 0},
	}}
	if d := cmp.Diff(map[string]any{own: []any{warning}}, res.Metadata["diagnostics"]); d != "" {
		t.Errorf("metadata (-want +got):\n%s", d)
	}
	servers.report = lsp.Report{}
	res = r.ok("edit", m{"filePath": "a", "oldString": "ABC", "newString": "def"}) // the formatted file is seen
	if diff := res.Metadata["diff"].(string); !strings.Contains(diff, "-ABC\n+DEF\n") {
		t.Errorf("the diff is not that of the formatted file:\n%s", diff)
	}
}

func badLines(from, to int) (out []string) {
	for line := from; line <= to; line++ {
		out = append(out, fmt.Sprintf("ERROR [%d:1] bad", line))
	}
	return out
}

// A patch is one change for language servers and formatters, however many files it has.
func TestPatchIsOneChange(t *testing.T) {
	servers := &said{}
	var formatted [][]string
	r := newRig(t, func(e *Env) {
		e.Format = func(_ context.Context, paths []string) { formatted = append(formatted, paths) }
		e.Languages, e.Patch = servers, true
	})
	r.put("a", "one\n")
	r.put("b", "two\n")
	r.put("c", "three\n")
	servers.report.New = map[string][]lsp.Found{r.path("a"): {wrong(0, "bad")}, r.path("e"): {wrong(2, "moved")}}
	res := r.ok("apply_patch", m{"patchText": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+ONE\n*** Delete File: b\n*** Update File: c\n*** Move to: e\n@@\n-three\n+3\n*** Add File: d\n+four\n*** End Patch"})
	for _, want := range []string{
		"\n\nLSP errors detected in a, please fix:\n<diagnostics file=\"" + r.path("a") + "\">\nERROR [1:1] bad\n</diagnostics>",
		"\n\nLSP errors detected in e, please fix:\n<diagnostics file=\"" + r.path("e") + "\">\nERROR [3:1] moved\n</diagnostics>",
	} {
		if !strings.Contains(res.Output, want) {
			t.Errorf("no %q in\n%s", want, res.Output)
		}
	}
	path := r.path
	if d := cmp.Diff([][]string{{path("a"), path("e"), path("d")}}, formatted); d != "" {
		t.Errorf("formatted (-want +got):\n%s", d)
	}
	before := []lsp.File{{Path: path("a"), Text: "one\n"}, {Path: path("b"), Text: "two\n"}, {Path: path("c"), Text: "three\n"}, {Path: path("e"), Missing: true}, {Path: path("d"), Missing: true}}
	if d := cmp.Diff(before, servers.before); d != "" {
		t.Errorf("told before (-want +got):\n%s", d)
	}
	after := []lsp.File{{Path: path("a"), Text: "ONE\n"}, {Path: path("b"), Missing: true}, {Path: path("c"), Missing: true}, {Path: path("e"), Text: "3\n"}, {Path: path("d"), Text: "four\n"}}
	if d := cmp.Diff(after, servers.after); d != "" {
		t.Errorf("told after (-want +got):\n%s", d)
	}
}

// A change that is not made is dropped, so that nobody waits for what it breaks.
func TestRefusedChangeIsDropped(t *testing.T) {
	servers := &said{}
	r := newRig(t, func(e *Env) { e.Languages = servers })
	r.put("a", "one\n")
	r.deny = func(tool.Request) error { return errors.New("no") }
	if _, err := r.run("edit", m{"filePath": "a", "oldString": "one", "newString": "two"}); err == nil || servers.dropped != 1 || servers.after != nil {
		t.Errorf("%v, dropped %d times, after %v", err, servers.dropped, servers.after)
	}
}
