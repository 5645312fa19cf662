package lsp

import (
	"context"
	"encoding/json"
)

// TypeScript's language server sends diagnostics a good while after a change, but hands
// requests to the server of TypeScript itself, which answers at once.

type tsPlace struct {
	Line   int `json:"line"`   // from 1
	Offset int `json:"offset"` // UTF-16 units, from 1
}

type tsDiagnostic struct {
	Start    tsPlace `json:"start"`
	End      tsPlace `json:"end"`
	Text     string  `json:"text"`
	Code     int     `json:"code"`
	Category string  `json:"category"`
}

// askTypescript asks for the syntactic and the semantic diagnostics of a file.
func (c *client) askTypescript(ctx context.Context, path string) (func() bool, error) {
	var list diagnosticList
	for _, command := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
		var result struct {
			Body []tsDiagnostic `json:"body"`
		}
		err := c.call(ctx, "workspace/executeCommand", map[string]any{
			"command": "typescript.tsserverRequest", "arguments": []any{command, map[string]string{"file": uriOf(path)}},
		}, &result)
		if err != nil {
			return nil, err
		}
		for _, d := range result.Body {
			if len(list) < maxKept {
				list = append(list, d.diagnostic())
			}
		}
	}
	return func() bool { return c.replace(path, list) }, nil
}

func (d tsDiagnostic) diagnostic() wireDiagnostic {
	severity := Hint
	switch d.Category {
	case "error":
		severity = Error
	case "warning":
		severity = Warning
	}
	at := func(p tsPlace) Position { return Position{p.Line - 1, p.Offset - 1} }
	code, _ := json.Marshal(d.Code) // a number
	return wireDiagnostic{Range: Range{at(d.Start), at(d.End)}, Severity: int(severity), Code: code, Source: "typescript", Message: text(d.Text)}
}

// replace stores an answer, replacing what the server last sent. The caller holds mu.
func (c *client) replace(path string, list diagnosticList) (changed bool) {
	at := c.of(path)
	if at == nil {
		return false
	}
	before := at.pushed
	at.pushed = diagnosticsOf(c.docs.open[path], list, c.enc)
	at.pulls++
	return len(before) != len(at.pushed)
}
