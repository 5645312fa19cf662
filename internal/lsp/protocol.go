package lsp

import (
	"bytes"
	"encoding/json"
)

// The types of the protocol that lathe needs, as they are on the wire.

type (
	folder struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	docID struct {
		URI     string `json:"uri"`
		Version *int   `json:"version,omitempty"`
	}
	docItem struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
	}
	contentChange struct {
		Range *Range `json:"range,omitempty"`
		Text  string `json:"text"`
	}
	fileEvent struct {
		URI  string `json:"uri"`
		Type int    `json:"type"` // 1 created, 2 changed, 3 deleted
	}
	placeParams struct {
		TextDocument docID    `json:"textDocument"`
		Position     Position `json:"position"`
	}
	docParams struct {
		TextDocument docID `json:"textDocument"`
	}

	wireDiagnostic struct {
		Range    Range           `json:"range"`
		Severity int             `json:"severity,omitempty"`
		Code     json.RawMessage `json:"code,omitempty"`
		Source   string          `json:"source,omitempty"`
		Message  text            `json:"message"`
		Data     json.RawMessage `json:"data,omitempty"`
	}
	published struct {
		URI         string         `json:"uri"`
		Version     *int           `json:"version"`
		Diagnostics diagnosticList `json:"diagnostics"`
	}
	pulled struct {
		Kind     string            `json:"kind"` // full or unchanged
		ResultID string            `json:"resultId"`
		Items    diagnosticList    `json:"items"`
		Related  map[string]pulled `json:"relatedDocuments"`
	}

	// capabilities are what a server says it can do. A capability is false, true or an object.
	capabilities struct {
		PositionEncoding encoding         `json:"positionEncoding"`
		Sync             syncKind         `json:"textDocumentSync"`
		Hover            able             `json:"hoverProvider"`
		Definition       able             `json:"definitionProvider"`
		References       able             `json:"referencesProvider"`
		Implementation   able             `json:"implementationProvider"`
		DocumentSymbol   able             `json:"documentSymbolProvider"`
		WorkspaceSymbol  able             `json:"workspaceSymbolProvider"`
		CallHierarchy    able             `json:"callHierarchyProvider"`
		Rename           able             `json:"renameProvider"`
		CodeAction       resolving        `json:"codeActionProvider"`
		Diagnostic       *diagnosticAbout `json:"diagnosticProvider"`
		Workspace        struct {
			Folders struct {
				Supported bool `json:"supported"`
				Changes   able `json:"changeNotifications"` // true, or an id
			} `json:"workspaceFolders"`
		} `json:"workspace"`
	}
	diagnosticAbout struct {
		Identifier string `json:"identifier,omitempty"`
		InterFile  bool   `json:"interFileDependencies"`
		Workspace  bool   `json:"workspaceDiagnostics"`
	}
	registration struct {
		ID      string          `json:"id"`
		Method  string          `json:"method"`
		Options json.RawMessage `json:"registerOptions"`
	}
)

// able is whether a server has an ability: true, or an object or word that describes it.
type able bool

// UnmarshalJSON reads either form.
func (a *able) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*a = able(len(data) > 0 && data[0] != 'f' && data[0] != 'n')
	return nil
}

// resolving is an ability whose results may be completed by a further request.
type resolving struct{ Can, Resolve bool }

// UnmarshalJSON reads either form.
func (r *resolving) UnmarshalJSON(data []byte) error {
	var can able
	_ = can.UnmarshalJSON(data)
	r.Can = bool(can)
	var options struct {
		Resolve bool `json:"resolveProvider"`
	}
	if json.Unmarshal(data, &options) == nil {
		r.Resolve = options.Resolve
	}
	return nil
}

// syncKind is how a server wants to be told of changes.
type syncKind struct {
	Incremental bool
	Save        bool
	SaveText    bool
}

// UnmarshalJSON reads the number or the object.
func (s *syncKind) UnmarshalJSON(data []byte) error {
	const incremental = 2
	var kind int
	if json.Unmarshal(data, &kind) == nil {
		s.Incremental = kind == incremental
		return nil
	}
	var options struct {
		Change int             `json:"change"`
		Save   json.RawMessage `json:"save"`
	}
	if json.Unmarshal(data, &options) != nil {
		return nil
	}
	s.Incremental = options.Change == incremental
	var save able
	_ = save.UnmarshalJSON(options.Save)
	s.Save = bool(save)
	var with struct {
		Text bool `json:"includeText"`
	}
	if json.Unmarshal(options.Save, &with) == nil {
		s.SaveText = with.Text
	}
	return nil
}

// text is a string, or a marked-up text, of which only the value is used.
type text string

// UnmarshalJSON reads either form.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = text(s)
		return nil
	}
	var marked struct {
		Value string `json:"value"`
	}
	err := json.Unmarshal(data, &marked)
	*t = text(marked.Value)
	return err
}

const (
	maxKept    = 500     // diagnostics of one file that are kept
	maxDecoded = 200_000 // diagnostics that are read to find the errors among them
)

// diagnosticList keeps at most maxKept diagnostics, errors first, however many there are.
type diagnosticList []wireDiagnostic

// UnmarshalJSON reads them one by one. Those that make no sense are left out.
func (l *diagnosticList) UnmarshalJSON(data []byte) error {
	*l = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return err
	}
	var rest diagnosticList
	for n := 0; n < maxDecoded && len(*l) < maxKept && dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		var d wireDiagnostic
		switch {
		case json.Unmarshal(raw, &d) != nil:
		case d.Severity == int(Error):
			*l = append(*l, d)
		case len(rest) < maxKept:
			rest = append(rest, d)
		}
	}
	*l = append(*l, rest[:min(len(rest), maxKept-len(*l))]...)
	return nil
}

// clientCapabilities are what lathe says it can do.
func clientCapabilities() map[string]any {
	type m = map[string]any
	yes := m{"dynamicRegistration": true}
	links := m{"dynamicRegistration": true, "linkSupport": true}
	return m{
		"general": m{"positionEncodings": []encoding{utf16Units, utf8Units, utf32Units}},
		"window":  m{"workDoneProgress": true},
		"workspace": m{
			"applyEdit": true, "configuration": true, "workspaceFolders": true,
			"didChangeConfiguration": yes, "didChangeWatchedFiles": yes,
			"workspaceEdit": m{"documentChanges": true, "resourceOperations": []string{"create", "rename", "delete"}, "failureHandling": "abort"},
			"symbol":        yes, "executeCommand": yes,
			"diagnostics": m{"refreshSupport": true},
		},
		"textDocument": m{
			"synchronization":    m{"dynamicRegistration": true, "didSave": true},
			"publishDiagnostics": m{"versionSupport": true, "relatedInformation": true, "codeDescriptionSupport": true, "dataSupport": true},
			"diagnostic":         m{"dynamicRegistration": true, "relatedDocumentSupport": true},
			"hover":              m{"dynamicRegistration": true, "contentFormat": []string{"markdown", "plaintext"}},
			"definition":         links, "implementation": links, "references": yes, "callHierarchy": yes,
			"documentSymbol": m{"dynamicRegistration": true, "hierarchicalDocumentSymbolSupport": true},
			"rename":         m{"dynamicRegistration": true, "prepareSupport": true},
			"codeAction": m{
				"dynamicRegistration": true, "isPreferredSupport": true, "dataSupport": true, "disabledSupport": true,
				"resolveSupport":           m{"properties": []string{"edit", "command"}},
				"codeActionLiteralSupport": m{"codeActionKind": m{"valueSet": []string{"", "quickfix", "refactor", "source", "source.organizeImports", "source.fixAll"}}},
			},
		},
	}
}
