package anthropic

import (
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// defaultMaxTokens is sent when the request has no limit: the protocol demands
// one, and every model takes this.
const defaultMaxTokens = 4096

func encode(req *llm.Request) ([]byte, error) {
	w := &adapter.Writer{}
	w.Grow(adapter.Size(req))
	w.Open('{')
	w.Str("model", req.Model)
	w.Bool("stream", true)
	if err := writeParams(w, req); err != nil {
		return nil, err
	}
	writeTools(w, req.Tools)
	writeSystem(w, req)
	writeMessages(w, req)
	w.Close('}')
	return w.Bytes(), nil
}

// dropped are options that only steer this adapter or mean nothing to it.
var dropped = []string{"toolStreaming", "sendReasoning", "cacheControl", "structuredOutputMode"}

func writeParams(w *adapter.Writer, req *llm.Request) error {
	o := adapter.TakeOptions(req)
	for _, name := range dropped {
		o.Take(name)
	}
	serial := o.TakeBool("disableParallelToolUse", false)
	if !o.TakeBool("parallelToolCalls", true) {
		serial = true
	}
	thinking, budget := takeThinking(o)
	for _, name := range []string{"metadata", "container", "contextManagement", "mcpServers"} {
		if v, ok := o.Take(name); ok {
			o[snakeNames[name]] = adapter.SnakeKeys(v)
		}
	}
	o.Rename(map[string]string{"serviceTier": "service_tier", "stopSequences": "stop_sequences"})
	if effort, ok := o.Take("effort"); ok {
		o.Put("output_config", "effort", effort)
	}

	limit := req.MaxTokens
	if limit <= 0 {
		limit = defaultMaxTokens
	}
	w.Int("max_tokens", limit+budget)
	if !thinking { // the protocol takes no sampling parameters beside thinking
		if err := writeSampling(w, req); err != nil {
			return err
		}
	}
	if err := w.Fields(o); err != nil {
		return err
	}
	writeChoice(w, req, thinking, serial)
	return nil
}

var snakeNames = map[string]string{
	"metadata": "metadata", "container": "container",
	"contextManagement": "context_management", "mcpServers": "mcp_servers",
}

// takeThinking puts the thinking option into the protocol's form and returns
// whether the model thinks and how many tokens that adds to the output limit.
func takeThinking(o adapter.Options) (thinking bool, budget int) {
	v, ok := o["thinking"].(map[string]any)
	if !ok {
		return false, 0
	}
	v, _ = adapter.SnakeKeys(v).(map[string]any)
	o["thinking"] = v
	if v["type"] == "enabled" {
		budget, _ = adapter.Number(v["budget_tokens"])
	}
	return v["type"] != "disabled", max(0, budget)
}

func writeSampling(w *adapter.Writer, req *llm.Request) error {
	if req.Temperature != nil {
		if err := w.Any("temperature", *req.Temperature); err != nil {
			return err
		}
	}
	if req.TopP != nil {
		if err := w.Any("top_p", *req.TopP); err != nil {
			return err
		}
	}
	if req.TopK != nil {
		w.Int("top_k", *req.TopK)
	}
	return nil
}

// writeChoice leaves the choice out when there is nothing to choose from.
// Thinking does not go with a forced call.
func writeChoice(w *adapter.Writer, req *llm.Request, thinking, serial bool) {
	choice := req.Choice
	if len(req.Tools) == 0 || choice == "" && !serial {
		return
	}
	word := "auto"
	switch {
	case choice == llm.ChoiceNone:
		word = "none"
	case choice == llm.ChoiceRequired && !thinking:
		word = "any"
	}
	w.OpenKey("tool_choice", '{')
	w.Str("type", word)
	if serial && word != "none" {
		w.Bool("disable_parallel_tool_use", true)
	}
	w.Close('}')
}

func writeTools(w *adapter.Writer, tools []llm.Tool) {
	if len(tools) == 0 {
		return
	}
	w.OpenKey("tools", '[')
	for _, t := range tools {
		w.Open('{')
		w.Str("name", t.Name)
		w.Str("description", t.Description)
		w.Raw("input_schema", adapter.Schema(t.Schema))
		w.Close('}')
	}
	w.Close(']')
}

// markedSystem and markedMessages are how many blocks carry a cache breakpoint;
// the protocol allows four in all.
const (
	markedSystem   = 2
	markedMessages = 2
)

func writeSystem(w *adapter.Writer, req *llm.Request) {
	open := false
	n := 0
	for _, text := range req.System {
		if blank(text) {
			continue
		}
		if !open {
			w.OpenKey("system", '[')
			open = true
		}
		writeText(w, text, req.CacheMarks && n < markedSystem)
		n++
	}
	if open {
		w.Close(']')
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func writeText(w *adapter.Writer, text string, mark bool) {
	w.Open('{')
	w.Str("type", "text")
	w.Str("text", text)
	closeBlock(w, mark)
}

func closeBlock(w *adapter.Writer, mark bool) {
	if mark {
		w.OpenKey("cache_control", '{')
		w.Str("type", "ephemeral")
		w.Close('}')
	}
	w.Close('}')
}

// message is a message as the protocol has it: roles alternate, and results
// belong to the user.
type message struct {
	role    llm.Role
	content []llm.Content
}

// merge drops what the protocol refuses and joins messages of one role.
func merge(req *llm.Request) []message {
	var out []message
	for _, m := range req.Messages {
		if adapter.OnlyReasoning(m) { // a message may not end in reasoning
			continue
		}
		role := m.Role
		if role != llm.RoleAssistant {
			role = llm.RoleUser
		}
		for _, c := range m.Content {
			if !sendable(req, c) {
				continue
			}
			if len(out) == 0 || out[len(out)-1].role != role {
				out = append(out, message{role: role})
			}
			last := &out[len(out)-1]
			last.content = append(last.content, c)
		}
	}
	trimPrefill(out)
	return out
}

func sendable(req *llm.Request, c llm.Content) bool {
	switch c := c.(type) {
	case llm.Text:
		return !blank(c.Text)
	case llm.Reasoning:
		var m meta
		return adapter.OwnMeta(req, name, c.Origin, c.Meta, &m) && (m.Signature != "" || m.Redacted != "")
	}
	return true
}

// trimPrefill cuts the white space that may not end a final assistant message.
func trimPrefill(out []message) {
	if len(out) == 0 || out[len(out)-1].role != llm.RoleAssistant {
		return
	}
	content := out[len(out)-1].content
	if t, ok := content[len(content)-1].(llm.Text); ok {
		content[len(content)-1] = llm.Text{Text: strings.TrimRight(t.Text, " \t\r\n")}
	}
}

func writeMessages(w *adapter.Writer, req *llm.Request) {
	ids := adapter.NewCallIDs(adapter.SafeID)
	messages := merge(req)
	w.OpenKey("messages", '[')
	for i, m := range messages {
		mark := -1
		if req.CacheMarks && i >= len(messages)-markedMessages {
			mark = markable(m.content)
		}
		w.Open('{')
		w.Str("role", string(m.role))
		w.OpenKey("content", '[')
		for j, c := range m.content {
			writeContent(w, req, ids, c, j == mark)
		}
		w.Close(']')
		w.Close('}')
	}
	w.Close(']')
}

// markable returns the last block that can carry a breakpoint; reasoning cannot.
func markable(content []llm.Content) int {
	for i := len(content) - 1; i >= 0; i-- {
		if _, ok := content[i].(llm.Reasoning); !ok {
			return i
		}
	}
	return -1
}

func writeContent(w *adapter.Writer, req *llm.Request, ids *adapter.CallIDs, c llm.Content, mark bool) {
	switch c := c.(type) {
	case llm.Text:
		writeText(w, c.Text, mark)
	case llm.Media:
		writeMedia(w, c, mark)
	case llm.Reasoning:
		writeReasoning(w, req, c)
	case llm.ToolUse:
		w.Open('{')
		w.Str("type", "tool_use")
		w.Str("id", ids.Call(c.ID))
		w.Str("name", c.Name)
		w.Raw("input", adapter.Object(c.Input))
		closeBlock(w, mark)
	case llm.ToolResult:
		writeResult(w, ids.Result(c.ID), c, mark)
	}
}

func writeReasoning(w *adapter.Writer, req *llm.Request, c llm.Reasoning) {
	var m meta
	adapter.OwnMeta(req, name, c.Origin, c.Meta, &m)
	w.Open('{')
	if m.Redacted != "" {
		w.Str("type", "redacted_thinking")
		w.Str("data", m.Redacted)
	} else {
		w.Str("type", "thinking")
		w.Str("thinking", c.Text)
		w.Str("signature", m.Signature)
	}
	w.Close('}')
}

func writeResult(w *adapter.Writer, id string, c llm.ToolResult, mark bool) {
	w.Open('{')
	w.Str("type", "tool_result")
	w.Str("tool_use_id", id)
	output := c.Output
	if output == "" && c.Failed { // an error without content is refused
		output = "(no output)"
	}
	if len(c.Media) == 0 {
		w.Str("content", output)
	} else {
		w.OpenKey("content", '[')
		if !blank(output) {
			writeText(w, output, false)
		}
		for _, m := range c.Media {
			writeMedia(w, m, false)
		}
		w.Close(']')
	}
	if c.Failed {
		w.Bool("is_error", true)
	}
	closeBlock(w, mark)
}

// writeMedia sends what the protocol carries: four kinds of images, PDF and
// plain text.
func writeMedia(w *adapter.Writer, m llm.Media, mark bool) {
	kind := ""
	switch {
	case len(m.Data) == 0 && m.URL == "":
	case m.MIME == "image/png", m.MIME == "image/jpeg", m.MIME == "image/gif", m.MIME == "image/webp":
		kind = "image"
	case m.MIME == "application/pdf":
		kind = "document"
	case strings.HasPrefix(m.MIME, "text/") && m.URL == "" && !blank(string(m.Data)):
		writeText(w, string(m.Data), mark)
		return
	}
	if kind == "" {
		writeText(w, adapter.Unsendable(m), mark)
		return
	}
	w.Open('{')
	w.Str("type", kind)
	w.OpenKey("source", '{')
	if len(m.Data) == 0 {
		w.Str("type", "url")
		w.Str("url", m.URL)
	} else {
		w.Str("type", "base64")
		w.Str("media_type", m.MIME)
		w.Data("data", "", m.Data)
	}
	w.Close('}')
	if kind == "document" && m.Name != "" {
		w.Str("title", m.Name)
	}
	closeBlock(w, mark)
}
