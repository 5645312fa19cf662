package openaichat

import (
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// encoder writes the messages of one request.
type encoder struct {
	w     *adapter.Writer
	req   *llm.Request
	ids   *adapter.CallIDs
	media []llm.Media // of the results just written, still to be sent
	after bool        // the message before is a tool result
}

// markedMessages is how many messages at the end carry a cache breakpoint.
const markedMessages = 2

func (e *encoder) messages() {
	e.system()
	for i, m := range e.req.Messages {
		mark := e.req.CacheMarks && i >= len(e.req.Messages)-markedMessages
		switch m.Role {
		case llm.RoleAssistant:
			e.flushMedia()
			e.assistant(m.Content, mark)
		default:
			e.user(m.Content, mark)
		}
	}
	e.flushMedia()
}

// system sends one message for all blocks: many chat templates take no second.
func (e *encoder) system() {
	var blocks []string
	for _, s := range e.req.System {
		if s != "" {
			blocks = append(blocks, s)
		}
	}
	if len(blocks) == 0 {
		return
	}
	e.w.Open('{')
	e.w.Str("role", "system")
	if !e.req.CacheMarks {
		e.w.Str("content", strings.Join(blocks, "\n\n"))
		e.w.Close('}')
		return
	}
	e.w.OpenKey("content", '[')
	for i, s := range blocks {
		e.text(s, i < 2)
	}
	e.w.Close(']')
	e.w.Close('}')
}

func (e *encoder) text(s string, mark bool) {
	e.w.Open('{')
	e.w.Str("type", "text")
	e.w.Str("text", s)
	if mark {
		e.w.OpenKey("cache_control", '{')
		e.w.Str("type", "ephemeral")
		e.w.Close('}')
	}
	e.w.Close('}')
}

// content writes the content member: a plain string, which every vendor takes,
// unless media or breakpoints need parts. With breakpoints in the request every
// text is sent as a part, so that a mark that moves on changes nothing else.
func (e *encoder) content(texts []string, separator string, media []llm.Media, mark bool) {
	if len(media) == 0 && (!e.req.CacheMarks || len(texts) == 0) {
		e.w.Str("content", strings.Join(texts, separator))
		return
	}
	e.w.OpenKey("content", '[')
	for i, t := range texts {
		e.text(t, mark && t != "" && len(media) == 0 && i == len(texts)-1)
	}
	for _, m := range media {
		e.part(m)
	}
	e.w.Close(']')
}

// user writes what a user message holds, and the results of a tool message.
func (e *encoder) user(content []llm.Content, mark bool) {
	var texts []string
	var media []llm.Media
	last := lastResult(content)
	for i, c := range content {
		switch c := c.(type) {
		case llm.ToolResult:
			e.result(c, mark && i == last)
		case llm.Text:
			if c.Text != "" {
				texts = append(texts, c.Text)
			}
		case llm.Media:
			media = append(media, c)
		}
	}
	if len(texts)+len(media) == 0 {
		return
	}
	e.flushMedia()
	e.done()
	e.userMessage(texts, media, mark)
}

func lastResult(content []llm.Content) int {
	last := -1
	for i, c := range content {
		if _, ok := c.(llm.ToolResult); ok {
			last = i
		}
	}
	return last
}

func (e *encoder) userMessage(texts []string, media []llm.Media, mark bool) {
	e.w.Open('{')
	e.w.Str("role", "user")
	e.content(texts, "\n\n", media, mark)
	e.w.Close('}')
	e.after = false
}

// done puts an answer between a result and a user message for models that
// refuse the one after the other.
func (e *encoder) done() {
	if e.after && isMistral(e.req.Model) {
		e.w.Open('{')
		e.w.Str("role", "assistant")
		e.w.Str("content", "Done.")
		e.w.Close('}')
	}
	e.after = false
}

func (e *encoder) result(r llm.ToolResult, mark bool) {
	e.w.Open('{')
	e.w.Str("role", "tool")
	e.w.Str("tool_call_id", e.ids.Result(r.ID))
	e.content([]string{r.Output}, "", nil, mark)
	e.w.Close('}')
	e.media = append(e.media, r.Media...)
	e.after = true
}

// flushMedia sends the media of results in a user message, since results are
// text alone. It waits until all results of a step are written.
func (e *encoder) flushMedia() {
	if len(e.media) == 0 {
		return
	}
	media := e.media
	e.media = nil
	e.done()
	e.userMessage([]string{adapter.AttachedMedia}, media, false)
}

// part sends images, PDF files and two kinds of sound; text files become text.
func (e *encoder) part(m llm.Media) {
	kind := ""
	switch {
	case len(m.Data) == 0 && m.URL == "":
	case adapter.IsImage(m):
		kind = "image_url"
	case m.MIME == "application/pdf" && len(m.Data) > 0:
		kind = "file"
	case (m.MIME == "audio/wav" || m.MIME == "audio/mpeg" || m.MIME == "audio/mp3") && len(m.Data) > 0:
		kind = "input_audio"
	case strings.HasPrefix(m.MIME, "text/") && len(m.Data) > 0:
		e.text(string(m.Data), false)
		return
	}
	if kind == "" {
		e.text(adapter.Unsendable(m), false)
		return
	}
	e.w.Open('{')
	e.w.Str("type", kind)
	e.w.OpenKey(kind, '{')
	e.source(kind, m)
	e.w.Close('}')
	e.w.Close('}')
}

func (e *encoder) source(kind string, m llm.Media) {
	switch {
	case kind == "file":
		e.w.WriteFile(m)
	case kind == "input_audio":
		e.w.Data("data", "", m.Data)
		format := "mp3"
		if m.MIME == "audio/wav" {
			format = "wav"
		}
		e.w.Str("format", format)
	case len(m.Data) > 0:
		e.w.Data("url", m.MIME, m.Data)
	default:
		e.w.Str("url", m.URL)
	}
}

// assistant writes an answer: its text, its reasoning in the field that the
// vendor wants it in, and its calls.
func (e *encoder) assistant(content []llm.Content, mark bool) {
	var texts, thoughts []string
	var details []detail
	var calls []llm.ToolUse
	for _, c := range content {
		switch c := c.(type) {
		case llm.Text:
			if c.Text != "" {
				texts = append(texts, c.Text)
			}
		case llm.Reasoning:
			var m meta
			if adapter.OwnMeta(e.req, name, c.Origin, c.Meta, &m) {
				details = append(details, m.Details...)
			}
			if !e.req.ReasoningOptional || c.Origin == e.req.Origin {
				thoughts = append(thoughts, c.Text)
			}
		case llm.ToolUse:
			calls = append(calls, c)
		}
	}
	if len(texts)+len(calls) == 0 {
		return
	}
	e.w.Open('{')
	e.w.Str("role", "assistant")
	e.content(texts, "\n", nil, mark && len(calls) == 0)
	e.reasoning(thoughts, details)
	e.calls(calls)
	e.w.Close('}')
	e.after = false
}

// reasoning sends details back to the vendor that made them, else the text; a
// vendor that wants the text wants the field in every message, even if empty.
func (e *encoder) reasoning(thoughts []string, details []detail) {
	field := e.req.ReasoningField
	switch {
	case len(details) > 0 && (field == "" || field == "reasoning_details"):
		// Encoding plain strings cannot fail.
		_ = e.w.Any("reasoning_details", details)
	case field != "" && field != "reasoning_details":
		if text := strings.Join(thoughts, ""); text != "" || !e.req.ReasoningOptional {
			e.w.Str(field, text)
		}
	}
}

func (e *encoder) calls(calls []llm.ToolUse) {
	if len(calls) == 0 {
		return
	}
	e.w.OpenKey("tool_calls", '[')
	for _, c := range calls {
		var m meta
		e.w.Open('{')
		e.w.Str("id", e.ids.Call(c.ID))
		e.w.Str("type", "function")
		e.w.OpenKey("function", '{')
		e.w.Str("name", c.Name)
		e.w.Str("arguments", string(adapter.Object(c.Input)))
		e.w.Close('}')
		if adapter.OwnMeta(e.req, name, c.Origin, c.Meta, &m) && len(m.Extra) > 0 {
			e.w.Raw("extra_content", m.Extra)
		}
		e.w.Close('}')
	}
	e.w.Close(']')
}
