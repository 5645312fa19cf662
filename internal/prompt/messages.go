package prompt

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/printable"
)

// Texts that replace something in what the model sees. OpenCode's clients and
// models know them.
const (
	clearedOutput   = "[Old tool result content cleared]"
	interruptedCall = "[Tool execution was interrupted]"
	compactionAsk   = "What did we do so far?"
	userToolText    = "The following tool was executed by the user"
	steerText       = "The user sent the following message while you were working:\n%s\nPlease take it into account and go on with your work."
)

// Messages converts history to what the model sees; see [View]. History is in
// order and starts at the compaction boundary. The same history always gives the
// same messages, and more history only appends.
func Messages(history []lathe.Message) []llm.Message {
	history = View(history)
	out := make([]llm.Message, 0, len(history)*2)
	for i := range history {
		m := &history[i]
		switch info := m.Info.(type) {
		case *lathe.User:
			if c := userContent(m, info); len(c) > 0 {
				out = append(out, llm.Message{Role: llm.RoleUser, Content: c})
			}
		case *lathe.Assistant:
			out = appendAssistant(out, m, info)
		}
	}
	return out
}

func userContent(m *lathe.Message, info *lathe.User) []llm.Content {
	var out []llm.Content
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if b.Ignored || b.Text == "" {
				continue
			}
			out = append(out, llm.Text{Text: steered(b, info.Steers)})
		case *lathe.File:
			if media, ok := fileMedia(*b); ok {
				out = append(out, media)
			}
		case *lathe.CompactionMark:
			out = append(out, llm.Text{Text: compactionAsk})
		case *lathe.Subtask:
			out = append(out, llm.Text{Text: userToolText})
		}
	}
	return out
}

// steered wraps what the user typed while a turn was running, so that the model
// goes on instead of starting over. Whether it is wrapped never changes later.
func steered(t *lathe.Text, steers bool) string {
	if !steers || t.Synthetic || strings.TrimSpace(t.Text) == "" {
		return t.Text
	}
	return Reminder(strings.Replace(steerText, "%s", t.Text, 1))
}

// fileMedia returns an attachment that the model gets as it is. Text files and
// directories were expanded to text parts when the prompt was made.
func fileMedia(f lathe.File) (llm.Media, bool) {
	if f.MIME == "text/plain" || f.MIME == "application/x-directory" {
		return llm.Media{}, false
	}
	if data, ok := DataURL(f.URL); ok {
		return llm.Media{MIME: f.MIME, Name: f.Filename, Data: data}, true
	}
	if strings.HasPrefix(f.URL, "http://") || strings.HasPrefix(f.URL, "https://") {
		return llm.Media{MIME: f.MIME, Name: f.Filename, URL: f.URL}, true
	}
	return llm.Media{}, false
}

// DataURL returns the content of a "data:" URL, base64 or percent-encoded, and
// whether it is one.
func DataURL(raw string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(raw, "data:")
	if !ok {
		return nil, false
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, false
	}
	if !strings.HasSuffix(head, ";base64") {
		text, err := url.PathUnescape(body)
		return []byte(text), err == nil
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		data, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(body, "="))
	}
	return data, err == nil
}

// appendAssistant adds an assistant message and the results of its calls. A
// failed answer is left out completely unless a tool ran in it: what a tool did
// stays done, so the model has to know about it.
func appendAssistant(out []llm.Message, m *lathe.Message, info *lathe.Assistant) []llm.Message {
	if info.Error != nil && !worthKeeping(m, info) {
		return out
	}
	origin := info.Model.String()
	var said, results []llm.Content
	flush := func() {
		if len(said) > 0 {
			out = append(out, llm.Message{Role: llm.RoleAssistant, Content: said})
		}
		if len(results) > 0 {
			out = append(out, llm.Message{Role: llm.RoleTool, Content: results})
		}
		said, results = nil, nil
	}
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			flush()
		case *lathe.Text:
			if !b.Ignored && b.Text != "" {
				said = append(said, llm.Text{Text: b.Text})
			}
		case *lathe.Reasoning:
			if info.Error == nil && (b.Text != "" || len(b.Meta) > 0) {
				said = append(said, llm.Reasoning{Text: b.Text, Meta: b.Meta, Origin: origin})
			}
		case *lathe.ToolCall:
			use, result := toolPair(b, origin)
			said, results = append(said, use), append(results, result)
		}
	}
	flush()
	return out
}

// worthKeeping reports whether a failed answer contains something that the
// model must see: a tool that ran, or words before an abort.
func worthKeeping(m *lathe.Message, info *lathe.Assistant) bool {
	_, aborted := info.Error.(*lathe.AbortedFailure)
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.ToolCall:
			return true
		case *lathe.Text:
			if aborted && b.Text != "" {
				return true
			}
		}
	}
	return false
}

func toolPair(c *lathe.ToolCall, origin string) (llm.ToolUse, llm.ToolResult) {
	use := llm.ToolUse{ID: c.CallID, Name: c.Tool, Meta: c.Meta, Origin: origin, Input: json.RawMessage("{}")}
	res := llm.ToolResult{ID: c.CallID, Name: c.Tool}
	switch s := c.State.(type) {
	case *lathe.ToolPending:
		res.Output, res.Failed = interruptedCall, true
	case *lathe.ToolRunning:
		use.Input = object(s.Input)
		res.Output, res.Failed = interruptedCall, true
	case *lathe.ToolFailed:
		use.Input = object(s.Input)
		res.Output, res.Failed = failedOutput(s), true
	case *lathe.ToolDone:
		use.Input = object(s.Input)
		fillResult(&res, c.Tool, s)
	}
	return use, res
}

func fillResult(res *llm.ToolResult, tool string, s *lathe.ToolDone) {
	if !s.Compacted.IsZero() {
		res.Output = clearedOutput
		return
	}
	res.Output = Shown(tool, s)
	for _, f := range s.Attachments {
		if media, ok := fileMedia(f); ok {
			res.Media = append(res.Media, media)
		}
	}
}

// failedOutput is what the model is told about a failed call. An interrupted
// one shows what it had printed until then.
func failedOutput(s *lathe.ToolFailed) string {
	if out, ok := s.Metadata["output"].(string); s.Interrupted && ok && out != "" {
		return printable.Plain(out) + "\n\n" + s.Error
	}
	if s.Error == "" {
		return interruptedCall
	}
	return s.Error
}

// object returns input if it is a JSON object, which is all that providers take.
func object(input json.RawMessage) json.RawMessage {
	trimmed := strings.TrimSpace(string(input))
	if !strings.HasPrefix(trimmed, "{") || !json.Valid(input) {
		return json.RawMessage("{}")
	}
	return input
}
