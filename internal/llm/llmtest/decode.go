package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// strings or a list of parts, as several protocols have it.
type contentJSON []partJSON

type partJSON struct {
	Type string `json:"type"`
	Text string `json:"text"`

	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   contentJSON     `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	Redacted  string          `json:"data"`
	Title     string          `json:"title"`
	Source    *struct {
		Type string `json:"type"`
		MIME string `json:"media_type"`
		Data []byte `json:"data"`
		URL  string `json:"url"`
	} `json:"source"`

	ImageURL json.RawMessage `json:"image_url"`
	FileName string          `json:"filename"`
	FileData string          `json:"file_data"`
	FileURL  string          `json:"file_url"`
	File     *struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
	Audio *struct {
		Data   []byte `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// UnmarshalJSON takes a string for a single text part.
func (c *contentJSON) UnmarshalJSON(data []byte) error {
	*c = nil
	if bytes.HasPrefix(data, []byte(`"`)) {
		var s string
		err := json.Unmarshal(data, &s)
		*c = contentJSON{{Type: "text", Text: s}}
		return err
	}
	return json.Unmarshal(data, (*[]partJSON)(c))
}

func (c contentJSON) text() string {
	var b strings.Builder
	for _, p := range c {
		b.WriteString(p.Text)
	}
	return b.String()
}

// media returns the media of a part in whichever form a protocol has it.
func (p *partJSON) media() llm.Media {
	switch {
	case p.Source != nil:
		return llm.Media{MIME: p.Source.MIME, Name: p.Title, Data: p.Source.Data, URL: p.Source.URL}
	case len(p.ImageURL) > 0:
		var s string
		if json.Unmarshal(p.ImageURL, &s) != nil {
			var o struct{ URL string }
			_ = json.Unmarshal(p.ImageURL, &o)
			s = o.URL
		}
		return dataURL(s)
	case p.File != nil:
		m := dataURL(p.File.Data)
		m.Name = p.File.Name
		return m
	case p.Audio != nil:
		return llm.Media{MIME: "audio/" + p.Audio.Format, Data: p.Audio.Data}
	}
	m := dataURL(or(p.FileData, p.FileURL))
	m.Name = p.FileName
	return m
}

func meta(protocol, field, value string) map[string]json.RawMessage {
	if value == "" {
		return nil
	}
	return adapter.Meta(protocol, map[string]string{field: value})
}

type toolJSON struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Parameters  json.RawMessage `json:"parameters"`
	Function    *toolJSON       `json:"function"`
}

func (r *Request) addTools(tools []toolJSON) {
	for _, t := range tools {
		if t.Function != nil {
			t = *t.Function
		}
		if len(t.Schema) == 0 {
			t.Schema = t.Parameters
		}
		r.Tools = append(r.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
}

func decodeAnthropic(r *Request) error {
	var in struct {
		Model     string      `json:"model"`
		Stream    bool        `json:"stream"`
		MaxTokens *int        `json:"max_tokens"`
		System    contentJSON `json:"system"`
		Tools     []toolJSON  `json:"tools"`
		Thinking  struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
		Messages []struct {
			Role    string      `json:"role"`
			Content contentJSON `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return fmt.Errorf("body is not a request: %w", err)
	}
	r.Model, r.Stream, r.thinking = in.Model, in.Stream, in.Thinking.Budget
	if in.MaxTokens == nil {
		return fmt.Errorf("max_tokens: Field required")
	}
	r.MaxTokens = *in.MaxTokens
	r.addTools(in.Tools)
	for _, p := range in.System {
		r.System = append(r.System, p.Text)
	}
	for i, m := range in.Messages {
		out := llm.Message{Role: llm.Role(m.Role)}
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("messages.%d.role: unknown role %q", i, m.Role)
		}
		for j := range m.Content {
			c, err := m.Content[j].anthropic()
			if err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			out.Content = append(out.Content, c)
		}
		r.Messages = append(r.Messages, out)
	}
	return nil
}

func (p *partJSON) anthropic() (llm.Content, error) {
	switch p.Type {
	case "text":
		if strings.TrimSpace(p.Text) == "" {
			return nil, fmt.Errorf("text content blocks must contain non-whitespace text")
		}
		return llm.Text{Text: p.Text}, nil
	case "image", "document":
		return p.media(), nil
	case "thinking":
		if p.Thinking == nil || p.Signature == "" {
			return nil, fmt.Errorf("thinking.signature: Field required")
		}
		return llm.Reasoning{Text: *p.Thinking, Meta: meta("anthropic", "signature", p.Signature)}, nil
	case "redacted_thinking":
		return llm.Reasoning{Meta: meta("anthropic", "redactedData", p.Redacted)}, nil
	case "tool_use":
		return llm.ToolUse{ID: p.ID, Name: p.Name, Input: p.Input}, nil
	case "tool_result":
		r := llm.ToolResult{ID: p.ToolUseID, Failed: p.IsError}
		for i := range p.Content {
			if c := &p.Content[i]; c.Type == "text" {
				r.Output += c.Text
			} else {
				r.Media = append(r.Media, c.media())
			}
		}
		return r, nil
	}
	return nil, fmt.Errorf("unknown type %q", p.Type)
}

func decodeChat(r *Request) error {
	var in struct {
		Model     string     `json:"model"`
		Stream    bool       `json:"stream"`
		MaxTokens int        `json:"max_tokens"`
		Limit     int        `json:"max_completion_tokens"`
		Tools     []toolJSON `json:"tools"`
		Messages  []chatJSON `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return fmt.Errorf("body is not a request: %w", err)
	}
	r.Model, r.Stream, r.MaxTokens = in.Model, in.Stream, max(in.MaxTokens, in.Limit)
	r.addTools(in.Tools)
	for i := range in.Messages {
		if err := in.Messages[i].add(r); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return nil
}

type chatJSON struct {
	Role      string          `json:"role"`
	Content   contentJSON     `json:"content"`
	Thought   string          `json:"reasoning_content"`
	Reasoning string          `json:"reasoning"`
	Details   json.RawMessage `json:"reasoning_details"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m *chatJSON) add(r *Request) error {
	out := llm.Message{Role: llm.Role(m.Role)}
	switch m.Role {
	case "system", "developer":
		for _, p := range m.Content {
			r.System = append(r.System, p.Text)
		}
		return nil
	case "tool":
		result := llm.ToolResult{ID: m.CallID, Output: m.Content.text()}
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleTool {
			r.Messages[n-1].Content = append(r.Messages[n-1].Content, result)
			return nil
		}
		out.Content = append(out.Content, result)
	case "user", "assistant":
		if thought := or(m.Thought, m.Reasoning); thought != "" || len(m.Details) > 0 {
			t := llm.Reasoning{Text: thought}
			if len(m.Details) > 0 {
				t.Meta = map[string]json.RawMessage{"openaichat": m.Details}
			}
			out.Content = append(out.Content, t)
		}
		for i := range m.Content {
			if p := &m.Content[i]; p.Type == "text" && (p.Text != "" || m.Role == "user") {
				out.Content = append(out.Content, llm.Text{Text: p.Text})
			} else if p.Type != "text" {
				out.Content = append(out.Content, p.media())
			}
		}
		for _, c := range m.Calls {
			if c.Type != "function" || c.Function.Arguments == nil {
				return fmt.Errorf("tool_calls: type and arguments are required")
			}
			out.Content = append(out.Content, llm.ToolUse{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(*c.Function.Arguments)})
		}
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	r.Messages = append(r.Messages, out)
	return nil
}

func decodeResponses(r *Request) error {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		MaxTokens    int             `json:"max_output_tokens"`
		Instructions string          `json:"instructions"`
		Tools        []toolJSON      `json:"tools"`
		Input        []responsesJSON `json:"input"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return fmt.Errorf("body is not a request: %w", err)
	}
	r.Model, r.Stream, r.MaxTokens = in.Model, in.Stream, in.MaxTokens
	r.addTools(in.Tools)
	if in.Instructions != "" {
		r.System = append(r.System, in.Instructions)
	}
	for i := range in.Input {
		if err := in.Input[i].add(r); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return nil
}

type responsesJSON struct {
	Type      string      `json:"type"`
	ID        string      `json:"id"`
	Role      string      `json:"role"`
	Content   contentJSON `json:"content"`
	CallID    string      `json:"call_id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Output    contentJSON `json:"output"`
	Summary   contentJSON `json:"summary"`
	Encrypted string      `json:"encrypted_content"`
}

func (it *responsesJSON) add(r *Request) error {
	if it.ID != "" {
		return fmt.Errorf("item %q not found: items are not persisted when store is false", it.ID)
	}
	switch {
	case it.Type == "reasoning":
		r.join(llm.RoleAssistant, llm.Reasoning{Text: it.Summary.text(), Meta: meta("openai", "reasoningEncryptedContent", it.Encrypted)})
	case it.Type == "function_call":
		r.join(llm.RoleAssistant, llm.ToolUse{ID: it.CallID, Name: it.Name, Input: json.RawMessage(it.Arguments)})
	case it.Type == "function_call_output":
		result := llm.ToolResult{ID: it.CallID}
		for i := range it.Output {
			if p := &it.Output[i]; p.Type == "input_text" || p.Type == "text" {
				result.Output += p.Text
			} else {
				result.Media = append(result.Media, p.media())
			}
		}
		r.join(llm.RoleTool, result)
	case it.Role == "system", it.Role == "developer":
		r.System = append(r.System, it.Content.text())
	case it.Role == "assistant":
		r.join(llm.RoleAssistant, llm.Text{Text: it.Content.text()})
	case it.Role == "user":
		m := llm.Message{Role: llm.RoleUser}
		for i := range it.Content {
			if p := &it.Content[i]; p.Type == "input_text" || p.Type == "text" {
				m.Content = append(m.Content, llm.Text{Text: p.Text})
			} else {
				m.Content = append(m.Content, p.media())
			}
		}
		r.Messages = append(r.Messages, m)
	default:
		return fmt.Errorf("unknown item of type %q and role %q", it.Type, it.Role)
	}
	return nil
}

// join appends to the last message if it is of the role.
func (r *Request) join(role llm.Role, c llm.Content) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, c)
		return
	}
	r.Messages = append(r.Messages, llm.Message{Role: role, Content: []llm.Content{c}})
}

type googlePart struct {
	Text      string      `json:"text"`
	Thought   bool        `json:"thought"`
	Signature string      `json:"thoughtSignature"`
	Inline    *googleData `json:"inlineData"`
	File      *struct {
		MIME string `json:"mimeType"`
		URI  string `json:"fileUri"`
	} `json:"fileData"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
		Parts    []googlePart      `json:"parts"`
	} `json:"functionResponse"`
}

type googleData struct {
	MIME string `json:"mimeType"`
	Data string `json:"data"`
}

func decodeGoogle(r *Request) error {
	var in struct {
		System struct {
			Parts []googlePart `json:"parts"`
		} `json:"systemInstruction"`
		Config struct {
			MaxTokens int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
		Tools []struct {
			Functions []toolJSON `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []googlePart `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return fmt.Errorf("body is not a request: %w", err)
	}
	_, model, _ := strings.Cut(r.Path, "models/")
	r.Model, _, _ = strings.Cut(model, ":")
	r.Stream, r.MaxTokens = true, in.Config.MaxTokens
	for _, t := range in.Tools {
		r.addTools(t.Functions)
	}
	for _, p := range in.System.Parts {
		r.System = append(r.System, p.Text)
	}
	ids := googleIDs{}
	for i, c := range in.Contents {
		m := llm.Message{Role: map[string]llm.Role{"user": llm.RoleUser, "model": llm.RoleAssistant}[c.Role]}
		if m.Role == "" {
			return fmt.Errorf("contents[%d]: unknown role %q", i, c.Role)
		}
		for _, p := range c.Parts {
			content := ids.content(p)
			if _, ok := content.(llm.ToolResult); ok {
				m.Role = llm.RoleTool
			}
			m.Content = append(m.Content, content)
		}
		r.Messages = append(r.Messages, m)
	}
	return ids.check()
}

// googleIDs numbers calls and results, which the protocol pairs by order. The
// identifiers that it gives to some calls have to come back with their results.
type googleIDs struct {
	calls, results int
	called, told   []string
}

func (g *googleIDs) check() error {
	for i, id := range g.told {
		if i < len(g.called) && id != g.called[i] {
			return fmt.Errorf("functionResponse %d has the id %q, and its call %q", i, id, g.called[i])
		}
	}
	return nil
}

func (g *googleIDs) content(p googlePart) llm.Content {
	switch {
	case p.Call != nil:
		g.calls++
		g.called = append(g.called, p.Call.ID)
		return llm.ToolUse{ID: fmt.Sprintf("%d", g.calls), Name: p.Call.Name, Input: p.Call.Args, Meta: meta("google", "thoughtSignature", p.Signature)}
	case p.Response != nil:
		g.results++
		g.told = append(g.told, p.Response.ID)
		r := llm.ToolResult{ID: fmt.Sprintf("%d", g.results), Name: p.Response.Name, Output: p.Response.Response["output"]}
		if failed, ok := p.Response.Response["error"]; ok {
			r.Output, r.Failed = failed, true
		}
		for _, part := range p.Response.Parts {
			if m, ok := g.content(part).(llm.Media); ok {
				r.Media = append(r.Media, m)
			}
		}
		return r
	case p.Inline != nil:
		raw, _ := base64.StdEncoding.DecodeString(p.Inline.Data)
		return llm.Media{MIME: p.Inline.MIME, Data: raw}
	case p.File != nil:
		return llm.Media{MIME: p.File.MIME, URL: p.File.URI}
	case p.Thought:
		return llm.Reasoning{Text: p.Text, Meta: meta("google", "thoughtSignature", p.Signature)}
	}
	return llm.Text{Text: p.Text}
}
