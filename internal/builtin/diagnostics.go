package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe/internal/lsp"
	"lathe/internal/workspace"
)

const (
	maxDiagnostics      = 20 // errors reported for one file
	maxDiagnosedFiles   = 5  // other files reported
	maxFixed            = 5  // fixed errors reported
	diagnosticsThisFile = "\n\nLSP errors detected in this file, please fix:\n"
	diagnosticsOthers   = "\n\nLSP errors detected in other files:\n"
)

// Languages are the language servers of a directory.
type Languages interface {
	// Before tells them about files that are going to be changed, in their current
	// state, and does not wait. The change ends with After or Drop.
	Before(files ...lsp.File) Change
	// Read tells them about a file that was read. It does not wait.
	Read(f lsp.File)
}

// Change is a change to files, as language servers see it.
type Change interface {
	// After returns their diagnostics for the files as they are now.
	After(ctx context.Context, files ...lsp.File) lsp.Report
	// Drop ends a change that was not made. After that, or after After, it does nothing.
	Drop()
}

// noChange is the change when there are no language servers.
type noChange struct{}

func (noChange) After(context.Context, ...lsp.File) lsp.Report { return lsp.Report{} }
func (noChange) Drop()                                         {}

// watch tells language servers of changes that are about to be made.
func (e *Env) watch(files ...fileState) Change {
	if e.Languages == nil {
		return noChange{}
	}
	list := make([]lsp.File, len(files))
	for n, f := range files {
		list[n] = f.language()
	}
	return e.Languages.Before(list...)
}

// language is the file as a language server is told it.
func (s fileState) language() lsp.File {
	return lsp.File{Path: s.path, Text: LanguageText(s.data), Missing: !s.exists}
}

// LanguageText is a text as language servers read it: UTF-8 without a mark, with its line ends.
func LanguageText(data []byte) string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if utf8.ValidString(text) {
		return text
	}
	if t, err := workspace.Decode(data); err == nil {
		text = t.Content
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// wireDiagnostic is the form that clients know.
func wireDiagnostic(d lsp.Diagnostic) map[string]any {
	at := func(p lsp.Position) map[string]any {
		return map[string]any{"line": p.Line, "character": p.Character}
	}
	out := map[string]any{
		"range":    map[string]any{"start": at(d.Range.Start), "end": at(d.Range.End)},
		"severity": int(d.Severity),
		"message":  d.Message,
	}
	if d.Source != "" {
		out["source"] = d.Source
	}
	if d.Code != "" {
		out["code"] = d.Code
	}
	return out
}

// maxMeta is how many diagnostics of one file clients are sent.
const maxMeta = 200

func diagnosticsMeta(all map[string][]lsp.Diagnostic) map[string]any {
	out := make(map[string]any, len(all))
	for path, list := range all {
		items := make([]any, 0, min(len(list), maxMeta))
		for _, d := range list[:min(len(list), maxMeta)] {
			items = append(items, wireDiagnostic(d))
		}
		out[path] = items
	}
	return out
}

// errorBlock lists the errors of a file, each with its line, or is empty.
func errorBlock(path string, list []lsp.Found) string {
	var lines []string
	for n, f := range list {
		if n == maxDiagnostics {
			lines = append(lines, fmt.Sprintf("... and %d more", len(list)-n))
			break
		}
		lines = append(lines, fmt.Sprintf("ERROR [%d:%d] %s", f.Range.Start.Line+1, f.Range.Start.Character+1, f.Message))
		if f.Line != "" {
			lines = append(lines, "    > "+f.Line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("<diagnostics file=%q>\n%s\n</diagnostics>", path, strings.Join(lines, "\n"))
}

// withReport appends what language servers say of a change of one file.
func (e *Env) withReport(output, path string, r lsp.Report) string {
	output = withErrors(output, diagnosticsThisFile, errorBlock(path, r.New[path]))
	return e.withRest(output, r, path)
}

// withRest appends diagnostics of other files, fixed errors, and how much is not shown.
func (e *Env) withRest(output string, r lsp.Report, own ...string) string {
	output = withErrors(output, diagnosticsOthers, otherErrors(r, own))
	output = withErrors(output, "\n\nLSP errors that this change fixed:\n", e.fixed(r))
	if r.Older == 1 {
		output += "\n\n1 error that was there before is not listed."
	} else if r.Older > 1 {
		output += fmt.Sprintf("\n\n%d errors that were there before are not listed.", r.Older)
	}
	if len(r.Waiting) > 0 {
		output += fmt.Sprintf("\n\nNo answer from %s yet; what it finds is told with a later edit.", strings.Join(r.Waiting, " and "))
	}
	return output
}

// LateReport says what language servers found only after a change had been reported, or
// is empty.
func LateReport(r lsp.Report) string {
	text := otherErrors(r, nil)
	if text == "" {
		return ""
	}
	return "Language servers have now found errors that earlier changes brought:\n" + text
}

// otherErrors lists the errors of up to five files besides the changed ones.
func otherErrors(r lsp.Report, own []string) string {
	var blocks []string
	more := 0
	for _, path := range slices.Sorted(maps.Keys(r.New)) {
		switch {
		case slices.Contains(own, path) || len(r.New[path]) == 0:
		case len(blocks) == maxDiagnosedFiles:
			more++
		default:
			blocks = append(blocks, errorBlock(path, r.New[path]))
		}
	}
	if more > 0 {
		blocks = append(blocks, fmt.Sprintf("... and %d more files", more))
	}
	return strings.Join(blocks, "\n")
}

// fixed lists errors that no longer exist.
func (e *Env) fixed(r lsp.Report) string {
	var lines []string
	more := 0
	for _, path := range slices.Sorted(maps.Keys(r.Fixed)) {
		for _, f := range r.Fixed[path] {
			if len(lines) == maxFixed {
				more++
				continue
			}
			lines = append(lines, fmt.Sprintf("%s: %s", e.Root.Name(path), f.Message))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// withErrors appends what a language server found to an output.
func withErrors(output, heading, errors string) string {
	if errors == "" {
		return output
	}
	return output + heading + errors
}
