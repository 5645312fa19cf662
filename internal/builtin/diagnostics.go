package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxDiagnostics      = 20 // errors told of one file
	maxDiagnosedFiles   = 5  // other files told of
	severityError       = 1
	diagnosticsThisFile = "\n\nLSP errors detected in this file, please fix:\n"
	diagnosticsOthers   = "\n\nLSP errors detected in other files:\n"
)

// Diagnostic is something a language server says about a file. Lines and
// characters count from 0, severity 1 is an error.
type Diagnostic struct {
	Line, Character       int
	EndLine, EndCharacter int
	Severity              int
	Message               string
	Source                string
}

// wire is the form that clients know.
func (d Diagnostic) wire() map[string]any {
	at := func(line, character int) map[string]any {
		return map[string]any{"line": line, "character": character}
	}
	out := map[string]any{
		"range":    map[string]any{"start": at(d.Line, d.Character), "end": at(d.EndLine, d.EndCharacter)},
		"severity": d.Severity,
		"message":  d.Message,
	}
	if d.Source != "" {
		out["source"] = d.Source
	}
	return out
}

// diagnose asks what is wrong with the files now.
func (e *Env) diagnose(ctx context.Context, paths ...string) map[string][]Diagnostic {
	if e.Diagnostics == nil {
		return nil
	}
	return e.Diagnostics(ctx, paths)
}

func diagnosticsMeta(all map[string][]Diagnostic) map[string]any {
	out := make(map[string]any, len(all))
	for path, list := range all {
		items := make([]any, len(list))
		for i, d := range list {
			items[i] = d.wire()
		}
		out[path] = items
	}
	return out
}

// errorBlock lists the errors of a file, or is empty.
func errorBlock(path string, list []Diagnostic) string {
	var lines []string
	more := 0
	for _, d := range list {
		switch {
		case d.Severity != severityError:
		case len(lines) == maxDiagnostics:
			more++
		default:
			lines = append(lines, fmt.Sprintf("ERROR [%d:%d] %s", d.Line+1, d.Character+1, d.Message))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", more))
	}
	return fmt.Sprintf("<diagnostics file=%q>\n%s\n</diagnostics>", path, strings.Join(lines, "\n"))
}

// otherErrors lists the errors of up to five files besides the given one.
func otherErrors(path string, all map[string][]Diagnostic) string {
	var blocks []string
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if other == path || len(blocks) == maxDiagnosedFiles {
			continue
		}
		if block := errorBlock(other, all[other]); block != "" {
			blocks = append(blocks, block)
		}
	}
	return strings.Join(blocks, "\n")
}

// withErrors appends what a language server found to an output.
func withErrors(output, heading, errors string) string {
	if errors == "" {
		return output
	}
	return output + heading + errors
}
