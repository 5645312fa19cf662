package adapter

import (
	"strings"

	"lathe/internal/llm"
)

// What the two protocols of OpenAI, Responses and Chat Completions, have in common.

// OpenAIURL is the public address of both.
const OpenAIURL = "https://api.openai.com/v1"

// NewOpenAI returns a model that sends to a path of the endpoint, with its key as
// bearer.
func NewOpenAI(e Endpoint, path string, encode func(*llm.Request) ([]byte, error), decoder func() Decoder) llm.Model {
	url := JoinURL(e.BaseURL, OpenAIURL, path)
	return NewModel(e, Protocol{
		Encode:  encode,
		URL:     func(*llm.Request) string { return url },
		Decoder: decoder,
		Header: func(*llm.Request) map[string]string {
			if e.Key == "" {
				return nil
			}
			return map[string]string{"Authorization": "Bearer " + e.Key}
		},
	})
}

// openAINames are options that only differ in spelling, in both protocols.
var openAINames = map[string]string{
	"promptCacheKey":    "prompt_cache_key",
	"parallelToolCalls": "parallel_tool_calls",
	"serviceTier":       "service_tier",
	"safetyIdentifier":  "safety_identifier",
	"topLogprobs":       "top_logprobs",
}

// RenameOpenAI spells options as the protocols do; names are those of one alone.
func (o Options) RenameOpenAI(names map[string]string) {
	o.Rename(openAINames)
	o.Rename(names)
}

// FillOpenAI sets what both protocols have, where no option set it: sampling, and
// the choice of tools if there are any.
func (o Options) FillOpenAI(req *llm.Request) {
	if req.Temperature != nil {
		o.Default("temperature", *req.Temperature)
	}
	if req.TopP != nil {
		o.Default("top_p", *req.TopP)
	}
	if len(req.Tools) == 0 {
		o.Take("parallel_tool_calls")
	} else if req.Choice != "" {
		o.Default("tool_choice", string(req.Choice))
	}
}

// OpenAIUsage is what both protocols count: input includes cached and written
// tokens, and output includes reasoning unless that is listed separately.
type OpenAIUsage struct {
	Input, Cached, Written, Output, Reasoning Count
	Beside                                    bool
}

// Tokens returns the usage with nothing counted twice.
func (u OpenAIUsage) Tokens() llm.Usage {
	cached := min(u.Cached, u.Input)
	written := min(u.Written, u.Input-cached)
	output, reasoning := u.Output, u.Reasoning
	if !u.Beside {
		reasoning = min(reasoning, output)
		output -= reasoning
	}
	return llm.Usage{
		Input: int64(u.Input - cached - written), CacheRead: int64(cached), CacheWrite: int64(written),
		Output: int64(output), Reasoning: int64(reasoning), Reported: true,
	}
}

// maxWireID leaves room for what tells equal identifiers apart; the protocols take 64
// characters.
const maxWireID = 56

// ShortID cuts an identifier to what the protocols take.
func ShortID(id string) string { return id[:min(len(id), maxWireID)] }

// IsImage reports whether media are an image that the protocols take.
func IsImage(m llm.Media) bool {
	return strings.HasPrefix(m.MIME, "image/") && m.MIME != "image/svg+xml"
}

// WriteFile writes the name and the content of a document.
func (w *Writer) WriteFile(m llm.Media) {
	name := m.Name
	if name == "" {
		name = "file.pdf"
	}
	w.Str("filename", name)
	w.Data("file_data", m.MIME, m.Data)
}

// WriteText writes a part of text of the kind that a protocol calls it.
func (w *Writer) WriteText(kind, text string) {
	w.Open('{')
	w.Str("type", kind)
	w.Str("text", text)
	w.Close('}')
}
