package google

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

func encode(req *llm.Request) ([]byte, error) {
	w := &adapter.Writer{}
	w.Grow(adapter.Size(req))
	w.Open('{')
	if err := writeParams(w, req); err != nil {
		return nil, err
	}
	writeTools(w, req)
	writeSystem(w, req.System)
	writeContents(w, req)
	w.Close('}')
	return w.Bytes(), nil
}

// generation are options that belong into generationConfig.
var generation = []string{
	"thinkingConfig", "responseModalities", "mediaResolution", "audioTimestamp", "imageConfig",
	"seed", "stopSequences", "presencePenalty", "frequencyPenalty", "responseMimeType", "responseSchema",
}

// dropped are options of other protocols.
var dropped = []string{"structuredOutputs", "threshold", "includeUsage", "setCacheKey"}

func writeParams(w *adapter.Writer, req *llm.Request) error {
	o := adapter.TakeOptions(req)
	for _, name := range dropped {
		o.Take(name)
	}
	config := adapter.Options{}
	if given, ok := o["generationConfig"].(map[string]any); ok {
		for k, v := range given {
			config[k] = v
		}
	}
	for _, name := range generation {
		if v, ok := o.Take(name); ok {
			config[name] = v
		}
	}
	if req.MaxTokens > 0 {
		config["maxOutputTokens"] = req.MaxTokens
	}
	if req.Temperature != nil {
		config["temperature"] = *req.Temperature
	}
	if req.TopP != nil {
		config["topP"] = *req.TopP
	}
	if req.TopK != nil {
		config["topK"] = *req.TopK
	}
	upperLevel(config)
	if len(config) > 0 {
		o["generationConfig"] = map[string]any(config)
	}
	if len(req.Tools) > 0 && req.Choice != "" {
		mode := map[llm.Choice]string{llm.ChoiceNone: "NONE", llm.ChoiceRequired: "ANY"}[req.Choice]
		if mode == "" {
			mode = "AUTO"
		}
		o["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": mode}}
	}
	return w.Fields(o)
}

// upperLevel spells a thinking level as the protocol's enum does; configurations
// have it in lower case.
func upperLevel(config adapter.Options) {
	thinking, _ := config["thinkingConfig"].(map[string]any)
	level, ok := thinking["thinkingLevel"].(string)
	if !ok {
		return
	}
	thinking = maps.Clone(thinking)
	thinking["thinkingLevel"] = strings.ToUpper(level)
	config["thinkingConfig"] = thinking
}

func writeTools(w *adapter.Writer, req *llm.Request) {
	if len(req.Tools) == 0 {
		return
	}
	w.OpenKey("tools", '[')
	w.Open('{')
	w.OpenKey("functionDeclarations", '[')
	for _, t := range req.Tools {
		w.Open('{')
		w.Str("name", t.Name)
		w.Str("description", t.Description)
		if schema := adapter.Object(t.Schema); takesArguments(schema) {
			w.Raw("parameters", schema)
		}
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	w.Close(']')
}

// takesArguments reports whether a schema has properties; the protocol refuses
// an object without any.
func takesArguments(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && len(s.Properties) > 0
}

func writeSystem(w *adapter.Writer, system []string) {
	open := false
	for _, text := range system {
		if text == "" {
			continue
		}
		if !open {
			w.OpenKey("systemInstruction", '{')
			w.OpenKey("parts", '[')
			open = true
		}
		writeText(w, text)
	}
	if open {
		w.Close(']')
		w.Close('}')
	}
}

func writeText(w *adapter.Writer, text string) {
	w.Open('{')
	w.Str("text", text)
	w.Close('}')
}

// turn is a content as the protocol has it: all results of a step belong
// together, and media that a result cannot hold follow them.
type turn struct {
	role  string
	parts []llm.Content
	media []llm.Media
}

// merge joins messages of one role, and drops what cannot be sent.
func merge(req *llm.Request) []turn {
	var out []turn
	for _, m := range req.Messages {
		if adapter.OnlyReasoning(m) { // an answer that said nothing
			continue
		}
		role := "user"
		if m.Role == llm.RoleAssistant {
			role = "model"
		}
		for _, c := range m.Content {
			if !sendable(req, c) {
				continue
			}
			if n := len(out); n == 0 || out[n-1].role != role || endsResults(out[n-1], c) {
				out = append(out, turn{role: role})
			}
			last := &out[len(out)-1]
			last.parts = append(last.parts, c)
			if r, ok := c.(llm.ToolResult); ok && !isGemini3(req.Model) {
				last.media = append(last.media, r.Media...)
			}
		}
	}
	return out
}

func sendable(req *llm.Request, c llm.Content) bool {
	switch c := c.(type) {
	case llm.Text:
		return c.Text != ""
	case llm.Reasoning:
		return c.Origin == req.Origin && c.Text != ""
	}
	return true
}

// endsResults keeps results apart from what the user says next.
func endsResults(t turn, c llm.Content) bool {
	_, was := t.parts[0].(llm.ToolResult)
	_, is := c.(llm.ToolResult)
	return t.role == "user" && was != is
}

func writeContents(w *adapter.Writer, req *llm.Request) {
	calls := make(map[string]sentCall) // by identifier
	w.OpenKey("contents", '[')
	for _, t := range merge(req) {
		w.Open('{')
		w.Str("role", t.role)
		w.OpenKey("parts", '[')
		signed := false
		for _, c := range t.parts {
			switch c := c.(type) {
			case llm.ToolUse:
				calls[c.ID] = sentCall{name: c.Name, id: writeCall(w, req, c, &signed)}
			case llm.ToolResult:
				call := calls[c.ID]
				c.Name = cmp.Or(c.Name, call.name)
				writeResult(w, req, c, call.id)
			default:
				writePart(w, req, c)
			}
		}
		w.Close(']')
		w.Close('}')
		writeAttached(w, t.media)
	}
	w.Close(']')
}

// sentCall is a call that was written: its name and the service's own identifier,
// or "" where it gave none.
type sentCall struct{ name, id string }

func writePart(w *adapter.Writer, req *llm.Request, c llm.Content) {
	switch c := c.(type) {
	case llm.Text:
		writeText(w, c.Text)
	case llm.Media:
		writeMedia(w, c)
	case llm.Reasoning:
		var m meta
		adapter.OwnMeta(req, name, c.Origin, c.Meta, &m)
		w.Open('{')
		w.Str("text", c.Text)
		w.Bool("thought", true)
		if m.Signature != "" {
			w.Str("thoughtSignature", m.Signature)
		}
		w.Close('}')
	}
}

// noSignature is what the vendor documents for calls that another model made.
const noSignature = "skip_thought_signature_validator"

// writeCall sends a call with its signature, and with its identifier if the
// service gave it one, which it returns. Of parallel calls only the first has a
// signature, and newer models refuse a step without any.
func writeCall(w *adapter.Writer, req *llm.Request, c llm.ToolUse, signed *bool) (id string) {
	var m meta
	adapter.OwnMeta(req, name, c.Origin, c.Meta, &m)
	if m.Signature == "" && !*signed && isGemini3(req.Model) {
		m.Signature = noSignature
	}
	*signed = true
	w.Open('{')
	w.OpenKey("functionCall", '{')
	writeID(w, m.ID)
	w.Str("name", c.Name)
	w.Raw("args", adapter.Object(c.Input))
	w.Close('}')
	if m.Signature != "" {
		w.Str("thoughtSignature", m.Signature)
	}
	w.Close('}')
	return m.ID
}

func writeID(w *adapter.Writer, id string) {
	if id != "" {
		w.Str("id", id)
	}
}

func writeResult(w *adapter.Writer, req *llm.Request, r llm.ToolResult, id string) {
	w.Open('{')
	w.OpenKey("functionResponse", '{')
	writeID(w, id)
	w.Str("name", r.Name)
	w.OpenKey("response", '{')
	field := "output"
	if r.Failed {
		field = "error"
	}
	w.Str(field, r.Output)
	w.Close('}')
	if len(r.Media) > 0 && isGemini3(req.Model) {
		w.OpenKey("parts", '[')
		for _, m := range r.Media {
			writeMedia(w, m)
		}
		w.Close(']')
	}
	w.Close('}')
	w.Close('}')
}

// writeAttached sends media that came with results in a content of its own.
func writeAttached(w *adapter.Writer, media []llm.Media) {
	if len(media) == 0 {
		return
	}
	w.Open('{')
	w.Str("role", "user")
	w.OpenKey("parts", '[')
	writeText(w, adapter.AttachedMedia)
	for _, m := range media {
		writeMedia(w, m)
	}
	w.Close(']')
	w.Close('}')
}

func writeMedia(w *adapter.Writer, m llm.Media) {
	switch {
	case len(m.Data) == 0 && m.URL == "", m.MIME == "":
		writeText(w, adapter.Unsendable(m))
	case strings.HasPrefix(m.MIME, "text/") && len(m.Data) > 0:
		writeText(w, string(m.Data))
	case len(m.Data) > 0:
		w.Open('{')
		w.OpenKey("inlineData", '{')
		w.Str("mimeType", m.MIME)
		w.Data("data", "", m.Data)
		w.Close('}')
		w.Close('}')
	default:
		w.Open('{')
		w.OpenKey("fileData", '{')
		w.Str("mimeType", m.MIME)
		w.Str("fileUri", m.URL)
		w.Close('}')
		w.Close('}')
	}
}
