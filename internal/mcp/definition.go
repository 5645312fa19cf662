package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"lathe/internal/printable"
)

// Limits on what a server may offer. Anything beyond them is left out or shortened,
// which is reported.
const (
	maxTools       = 2000
	maxEntries     = 2000      // resources, templates, prompts, each
	maxPages       = 200       // of one list
	maxDescription = 8 << 10   // bytes
	maxSchema      = 128 << 10 // bytes of one tool's schema
	maxDepth       = 24        // of a schema
	maxName        = 256       // bytes
	maxText        = 4 << 10   // bytes of instructions
	maxMessage     = 16 << 20  // bytes of one message
)

// Known is what a server had to offer when it was last asked.
type Known struct {
	Protocol     string     `json:"protocol"`
	Title        string     `json:"title,omitempty"` // what it calls itself, and its version
	Instructions string     `json:"instructions,omitempty"`
	Tools        []Tool     `json:"tools"`
	Resources    []Resource `json:"resources,omitempty"`
	Templates    []Template `json:"templates,omitempty"`
	Prompts      []Prompt   `json:"prompts,omitempty"`
	HasResources bool       `json:"hasResources,omitempty"`
	// Notes say what was left out or shortened.
	Notes []string `json:"notes,omitempty"`
	// Changed names tools whose definition is not the approved one.
	Changed []string `json:"changed,omitempty"`
	// Approved has the approved digests of tools that changed and of those that are
	// gone.
	Approved map[string]string `json:"approved,omitempty"`
}

// Tool is the definition of a server's tool.
type Tool struct {
	Name        string          `json:"name"` // as the server calls it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Hints       Hints           `json:"hints,omitzero"`
}

// Hints are what a server says about a tool. They are claims, and grant nothing.
type Hints struct {
	ReadOnly    bool  `json:"readOnly,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  bool  `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"openWorld,omitempty"`
}

// Resource is something that a server can be asked to read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
}

// Template describes resources whose addresses have a part to fill in.
type Template struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
}

// Prompt is a text that a server makes from arguments.
type Prompt struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Arguments   []string `json:"arguments,omitempty"`
}

// same reports whether two definitions are the same to someone who approved one.
func (t Tool) same(o Tool) bool {
	a, _ := json.Marshal(t) // they always encode
	b, _ := json.Marshal(o)
	return bytes.Equal(a, b)
}

// clean makes foreign text safe to show: one line of at most n bytes.
func clean(text string, n int) string { return shorten(printable.Line(text), n) }

// cleanText does the same but keeps line breaks.
func cleanText(text string, n int) string {
	return shorten(printable.Text(text, printable.Options{}), n)
}

func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[:n]
	for text != "" && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// bound returns a definition within the limits, and says what was changed for that.
func (t Tool) bound() (out Tool, note string) {
	t.Title, t.Description = clean(t.Title, maxName), cleanText(t.Description, maxDescription)
	schema, why := boundSchema(t.Schema)
	if t.Schema = schema; why != "" {
		note = fmt.Sprintf("the schema of %s is simplified: %s", clean(t.Name, 80), why)
	}
	return t, note
}

// anything is the schema of a tool that accepts any object.
var anything = json.RawMessage(`{"properties":{},"type":"object"}`)

// boundSchema returns a schema of an object, no larger or deeper than the limits. If
// that changed it, it says why.
func boundSchema(raw json.RawMessage) (json.RawMessage, string) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return anything, ""
	}
	if len(raw) > maxSchema {
		return anything, fmt.Sprintf("it has %d bytes, more than %d", len(raw), maxSchema)
	}
	if d := depth(raw); d > maxDepth {
		return anything, fmt.Sprintf("it is %d levels deep, more than %d", d, maxDepth)
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return anything, "it is not a JSON object"
	}
	root["type"] = "object"
	if _, ok := root["properties"].(map[string]any); !ok {
		root["properties"] = map[string]any{}
	}
	if _, said := root["additionalProperties"]; !said {
		root["additionalProperties"] = false
	}
	out, err := json.Marshal(root)
	if err != nil {
		return anything, err.Error()
	}
	return out, ""
}

// depth returns how deep a JSON text is nested, by counting brackets.
func depth(raw []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
