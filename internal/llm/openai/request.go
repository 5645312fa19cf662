package openai

import (
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

func encode(req *llm.Request) ([]byte, error) {
	w := &adapter.Writer{}
	w.Grow(adapter.Size(req))
	w.Open('{')
	w.Str("model", req.Model)
	w.Bool("stream", true)
	o := adapter.TakeOptions(req)
	role := o.TakeString("systemMessageMode")
	if err := writeParams(w, req, o); err != nil {
		return nil, err
	}
	writeTools(w, req)
	w.OpenKey("input", '[')
	writeSystem(w, req, role)
	writeInput(w, req)
	w.Close(']')
	w.Close('}')
	return w.Bytes(), nil
}

// names of options that only differ in spelling, and that only this protocol has.
var names = map[string]string{
	"promptCacheRetention": "prompt_cache_retention",
	"previousResponseId":   "previous_response_id",
	"maxToolCalls":         "max_tool_calls",
}

// dropped are options that mean nothing to this protocol.
var dropped = []string{"strictJsonSchema", "forceReasoning", "setCacheKey", "includeUsage", "logprobs"}

func writeParams(w *adapter.Writer, req *llm.Request, o adapter.Options) error {
	for _, name := range dropped {
		o.Take(name)
	}
	o.RenameOpenAI(names)
	for _, move := range []struct{ from, object, field string }{
		{"reasoningEffort", "reasoning", "effort"},
		{"reasoningSummary", "reasoning", "summary"},
		{"textVerbosity", "text", "verbosity"},
	} {
		if v, ok := o.Take(move.from); ok {
			o.Put(move.object, move.field, v)
		}
	}
	o.Default("store", false)
	if reasons(req.Model) && o["store"] == false {
		o.Default("include", []string{"reasoning.encrypted_content"})
	}
	if req.CacheKey != "" {
		o.Default("prompt_cache_key", req.CacheKey)
	}
	if req.MaxTokens > 0 {
		o.Default("max_output_tokens", req.MaxTokens)
	}
	o.FillOpenAI(req)
	return w.Fields(o)
}

// writeTools turns strict schemas off, which the protocol has on by default and
// which most tools' schemas do not satisfy.
func writeTools(w *adapter.Writer, req *llm.Request) {
	if len(req.Tools) == 0 {
		return
	}
	w.OpenKey("tools", '[')
	for _, t := range req.Tools {
		w.Open('{')
		w.Str("type", "function")
		w.Str("name", t.Name)
		w.Str("description", t.Description)
		w.Raw("parameters", adapter.Schema(t.Schema))
		w.Bool("strict", false)
		w.Close('}')
	}
	w.Close(']')
}

func writeSystem(w *adapter.Writer, req *llm.Request, role string) {
	switch {
	case role == "remove":
		return
	case role == "system", role == "developer":
	case reasons(req.Model):
		role = "developer"
	default:
		role = "system"
	}
	for _, text := range req.System {
		if text == "" {
			continue
		}
		w.Open('{')
		w.Str("role", role)
		w.Str("content", text)
		w.Close('}')
	}
}

func writeInput(w *adapter.Writer, req *llm.Request) {
	ids := adapter.NewCallIDs(shortID)
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			writeAssistant(w, req, ids, m.Content)
			continue
		}
		writeUser(w, ids, m.Content)
	}
}

func shortID(id string) string { return adapter.ShortID(adapter.SafeID(id)) }

func writeUser(w *adapter.Writer, ids *adapter.CallIDs, content []llm.Content) {
	open := false
	for _, c := range content {
		if r, ok := c.(llm.ToolResult); ok {
			closeMessage(w, &open)
			writeResult(w, ids.Result(r.ID), r)
			continue
		}
		if t, ok := c.(llm.Text); ok && t.Text == "" {
			continue
		}
		if !open {
			w.Open('{')
			w.Str("role", "user")
			w.OpenKey("content", '[')
			open = true
		}
		switch c := c.(type) {
		case llm.Text:
			w.WriteText("input_text", c.Text)
		case llm.Media:
			writeMedia(w, c)
		}
	}
	closeMessage(w, &open)
}

func closeMessage(w *adapter.Writer, open *bool) {
	if *open {
		w.Close(']')
		w.Close('}')
	}
	*open = false
}

// writeMedia sends images and PDF files; text files are sent as text.
func writeMedia(w *adapter.Writer, m llm.Media) {
	switch {
	case len(m.Data) == 0 && m.URL == "":
	case adapter.IsImage(m):
		w.Open('{')
		w.Str("type", "input_image")
		w.Str("detail", "auto")
		if len(m.Data) > 0 {
			w.Data("image_url", m.MIME, m.Data)
		} else {
			w.Str("image_url", m.URL)
		}
		w.Close('}')
		return
	case m.MIME == "application/pdf":
		w.Open('{')
		w.Str("type", "input_file")
		if len(m.Data) > 0 {
			w.WriteFile(m)
		} else {
			w.Str("file_url", m.URL)
		}
		w.Close('}')
		return
	case strings.HasPrefix(m.MIME, "text/") && m.URL == "":
		w.WriteText("input_text", string(m.Data))
		return
	}
	w.WriteText("input_text", adapter.Unsendable(m))
}

func writeResult(w *adapter.Writer, id string, r llm.ToolResult) {
	w.Open('{')
	w.Str("type", "function_call_output")
	w.Str("call_id", id)
	if len(r.Media) == 0 {
		w.Str("output", r.Output)
		w.Close('}')
		return
	}
	w.OpenKey("output", '[')
	if r.Output != "" {
		w.WriteText("input_text", r.Output)
	}
	for _, m := range r.Media {
		writeMedia(w, m)
	}
	w.Close(']')
	w.Close('}')
}

// writeAssistant sends the items of an answer in their order. Reasoning is an
// item that another has to follow, so what would end the answer is left out.
func writeAssistant(w *adapter.Writer, req *llm.Request, ids *adapter.CallIDs, content []llm.Content) {
	for i := 0; i < len(content); i++ {
		switch c := content[i].(type) {
		case llm.Text:
			if c.Text == "" {
				continue
			}
			w.Open('{')
			w.Str("role", "assistant")
			w.Str("content", c.Text) // as parts it would need the identifiers of a stored answer
			w.Close('}')
		case llm.ToolUse:
			w.Open('{')
			w.Str("type", "function_call")
			w.Str("call_id", ids.Call(c.ID))
			w.Str("name", c.Name)
			w.Str("arguments", string(adapter.Object(c.Input)))
			w.Close('}')
		case llm.Reasoning:
			n, m, texts := reasoningItem(req, content[i:])
			if m.Encrypted != "" && followed(content[i+n:]) {
				writeReasoning(w, m, texts)
			}
			i += n - 1
		}
	}
}

func followed(rest []llm.Content) bool {
	for _, c := range rest {
		switch c := c.(type) {
		case llm.ToolUse:
			return true
		case llm.Text:
			if c.Text != "" {
				return true
			}
		}
	}
	return false
}

// reasoningItem joins the blocks at the start of content that are summaries of
// one item, and returns how many those are.
func reasoningItem(req *llm.Request, content []llm.Content) (n int, m meta, texts []string) {
	for n < len(content) {
		r, ok := content[n].(llm.Reasoning)
		if !ok {
			break
		}
		var next meta
		adapter.OwnMeta(req, name, r.Origin, r.Meta, &next)
		if n > 0 && (next.ItemID == "" || next.ItemID != m.ItemID) {
			break
		}
		m.ItemID = next.ItemID
		if next.Encrypted != "" {
			m.Encrypted = next.Encrypted
		}
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
		n++
	}
	return n, m, texts
}

func writeReasoning(w *adapter.Writer, m meta, texts []string) {
	w.Open('{')
	w.Str("type", "reasoning")
	w.OpenKey("summary", '[')
	for _, text := range texts {
		w.WriteText("summary_text", text)
	}
	w.Close(']')
	w.Str("encrypted_content", m.Encrypted)
	w.Close('}')
}
