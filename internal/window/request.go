package window

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"lathe/internal/api"
	"lathe/internal/compact"
	"lathe/internal/llm"
)

// Request presents a request to people. It has no headers, which may hold secrets, and
// names files without their contents.
func Request(req *llm.Request) *api.Request {
	out := &api.Request{
		Model: req.Model, System: req.System, Choice: string(req.Choice), MaxTokens: req.MaxTokens,
		Temperature: req.Temperature, TopP: req.TopP, TopK: req.TopK, Options: req.Options, Messages: []api.RequestMessage{},
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, api.RequestTool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	for _, m := range req.Messages {
		said := api.RequestMessage{Role: string(m.Role), Content: []api.RequestContent{}}
		for _, c := range m.Content {
			said.Content = append(said.Content, content(c))
		}
		out.Messages = append(out.Messages, said)
	}
	return out
}

func content(c llm.Content) api.RequestContent {
	switch c := c.(type) {
	case llm.Text:
		return api.RequestContent{Type: "text", Text: c.Text}
	case llm.Reasoning:
		return api.RequestContent{Type: "reasoning", Text: c.Text, Meta: names(c.Meta)}
	case llm.Media:
		out := api.RequestContent{Type: "file", MIME: c.MIME, Name: c.Name, Size: len(c.Data), URL: c.URL}
		if len(c.Data) > 0 {
			sum := sha256.Sum256(c.Data)
			out.SHA256 = hex.EncodeToString(sum[:])
		}
		return out
	case llm.ToolUse:
		return api.RequestContent{Type: "call", ID: c.ID, Name: c.Name, Input: c.Input, Meta: names(c.Meta)}
	case llm.ToolResult:
		out := api.RequestContent{Type: "result", ID: c.ID, Name: c.Name, Text: c.Output, Failed: c.Failed}
		for _, m := range c.Media {
			out.Files = append(out.Files, content(m))
		}
		return out
	}
	return api.RequestContent{Type: "unknown"}
}

func names(meta map[string]json.RawMessage) []string {
	if len(meta) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(meta))
}

// Changed compares a request with the one before it.
func Changed(before, now *llm.Request) *api.Change {
	c := &api.Change{System: !slices.Equal(before.System, now.System), Tools: !reflect.DeepEqual(before.Tools, now.Tools)}
	for c.Kept < min(len(before.Messages), len(now.Messages)) && reflect.DeepEqual(before.Messages[c.Kept], now.Messages[c.Kept]) {
		c.Kept++
	}
	c.Gone, c.Added = len(before.Messages)-c.Kept, len(now.Messages)-c.Kept
	_, c.Differs = compact.Shared(compact.Prints(before, nil), compact.Prints(now, nil))
	c.Settings = before.Model != now.Model || before.Choice != now.Choice || before.MaxTokens != now.MaxTokens ||
		!reflect.DeepEqual([]any{before.Temperature, before.TopP, before.TopK, before.Options}, []any{now.Temperature, now.TopP, now.TopK, now.Options})
	return c
}

// Added removes from a request what the one before it had as well.
func Added(req *api.Request, c *api.Change) *api.Request {
	if c == nil {
		return req
	}
	out := *req
	out.Messages = req.Messages[c.Kept:]
	if !c.System {
		out.System = nil
	}
	if !c.Tools {
		out.Tools = nil
	}
	return &out
}
