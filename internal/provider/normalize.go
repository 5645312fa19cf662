package provider

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/catalog"
	"lathe/internal/llm"
)

var (
	claudeIDs  = []match{{ids: []string{"claude"}}, {protocols: []Protocol{ProtocolAnthropic}}}
	mistralIDs = []match{{providers: []string{"mistral"}}, {npms: []string{npmMistral}}, {ids: []string{"mistral", "devstral", "codestral", "pixtral", "mixtral"}}}
	deepseeks  = []match{{ids: []string{"deepseek"}, protocols: []Protocol{ProtocolOpenAIChat}}}
)

// Normalize returns the messages as the model accepts them: files of a kind it
// cannot read become text that says so, tool-call ids take the form the vendor
// checks, empty pieces go. The argument is not changed. Normalising a longer
// conversation with the same beginning gives the same beginning.
func (m *Model) Normalize(messages []llm.Message) []llm.Message {
	mistral := holdsAny(mistralIDs, m)
	rename := func(id string) string { return id }
	switch {
	case mistral:
		rename = mistralID
	case holdsAny(claudeIDs, m):
		rename = claudeID
	}
	deepseek := m.Caps.Interleaved != "" && holdsAny(deepseeks, m)
	out := make([]llm.Message, 0, len(messages))
	for _, msg := range messages {
		msg = m.normalizeMessage(msg, rename)
		if len(msg.Content) == 0 {
			continue
		}
		if deepseek && msg.Role == llm.RoleAssistant && !slices.ContainsFunc(msg.Content, isReasoning) {
			msg.Content = append([]llm.Content{llm.Reasoning{Origin: m.Ref.String()}}, msg.Content...)
		}
		if n := len(out); mistral && n > 0 && msg.Role == llm.RoleUser && out[n-1].Role == llm.RoleTool {
			out = append(out, llm.Message{Role: llm.RoleAssistant, Content: []llm.Content{llm.Text{Text: "Done."}}})
		}
		out = append(out, msg)
	}
	return out
}

func isReasoning(c llm.Content) bool {
	_, ok := c.(llm.Reasoning)
	return ok
}

func (m *Model) normalizeMessage(msg llm.Message, rename func(string) string) llm.Message {
	content := make([]llm.Content, 0, len(msg.Content))
	for _, c := range msg.Content {
		switch c := c.(type) {
		case llm.Text:
			if c.Text = strings.ToValidUTF8(c.Text, "\uFFFD"); strings.TrimSpace(c.Text) != "" {
				content = append(content, c)
			}
		case llm.Reasoning:
			if c.Text = strings.ToValidUTF8(c.Text, "\uFFFD"); c.Text != "" || len(c.Meta) > 0 {
				content = append(content, c)
			}
		case llm.Media:
			content = append(content, m.media(c))
		case llm.ToolUse:
			c.ID = rename(c.ID)
			content = append(content, c)
		case llm.ToolResult:
			c.ID = rename(c.ID)
			content = append(content, m.toolResult(c))
		}
	}
	msg.Content = content
	return msg
}

// toolResult replaces media that the model cannot read by text in the output.
func (m *Model) toolResult(r llm.ToolResult) llm.ToolResult {
	r.Output = strings.ToValidUTF8(r.Output, "\uFFFD")
	if len(r.Media) == 0 {
		return r
	}
	kept := make([]llm.Media, 0, len(r.Media))
	for _, media := range r.Media {
		if text, ok := m.media(media).(llm.Text); ok {
			r.Output = strings.TrimLeft(r.Output+"\n"+text.Text, "\n")
			continue
		}
		kept = append(kept, media)
	}
	if len(kept) == 0 && len(r.Media) > 0 { // what was read cannot be seen: the call did not go well
		if first, rest, _ := strings.Cut(r.Output, "\n"); strings.HasSuffix(first, " read successfully") {
			r.Output = rest
		}
	}
	r.Media = kept
	return r
}

// media returns the file unchanged, or text that says why it cannot be sent.
func (m *Model) media(f llm.Media) llm.Content {
	kind, name := modality(f.MIME)
	if kind == 0 { // the adapter knows what to do with other files
		return f
	}
	if kind == catalog.Image && len(f.Data) == 0 && f.URL == "" {
		return llm.Text{Text: "ERROR: Image file is empty or corrupted. Please provide a valid image."}
	}
	if m.Caps.Input.Has(kind) {
		return f
	}
	what := name
	if f.Name != "" {
		what = fmt.Sprintf("%q", f.Name)
	}
	return llm.Text{Text: fmt.Sprintf("ERROR: Cannot read %s (this model does not support %s input). Inform the user.", what, name)}
}

func modality(mime string) (catalog.Modality, string) {
	switch kind, _, _ := strings.Cut(strings.ToLower(mime), "/"); {
	case kind == "image":
		return catalog.Image, "image"
	case kind == "audio":
		return catalog.Audio, "audio"
	case kind == "video":
		return catalog.Video, "video"
	case strings.HasPrefix(strings.ToLower(mime), "application/pdf"):
		return catalog.PDF, "pdf"
	}
	return 0, ""
}

// claudeID replaces every character that the Messages protocol refuses.
func claudeID(id string) string {
	return strings.Map(func(r rune) rune {
		if isAlnum(r) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// mistralID returns nine letters and digits.
func mistralID(id string) string {
	id = strings.Map(func(r rune) rune {
		if isAlnum(r) {
			return r
		}
		return -1
	}, id)
	if len(id) > 9 {
		id = id[:9]
	}
	return id + strings.Repeat("0", 9-len(id))
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
