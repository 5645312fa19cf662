package openaichat

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
	if err := writeParams(w, req); err != nil {
		return nil, err
	}
	writeTools(w, req)
	e := encoder{w: w, req: req, ids: adapter.NewCallIDs(cleaner(req.Model))}
	w.OpenKey("messages", '[')
	e.messages()
	w.Close(']')
	w.Close('}')
	return w.Bytes(), nil
}

// names of options that only differ in spelling, and that only this protocol has.
var names = map[string]string{
	"reasoningEffort":     "reasoning_effort",
	"textVerbosity":       "verbosity",
	"maxCompletionTokens": "max_completion_tokens",
	"frequencyPenalty":    "frequency_penalty",
	"presencePenalty":     "presence_penalty",
	"logitBias":           "logit_bias",
}

// dropped are options of other protocols.
var dropped = []string{"strictJsonSchema", "structuredOutputs", "forceReasoning", "reasoningSummary", "include"}

func writeParams(w *adapter.Writer, req *llm.Request) error {
	o := adapter.TakeOptions(req)
	for _, name := range dropped {
		o.Take(name)
	}
	limitField := o.TakeString("maxTokensField")
	if limitField == "" {
		limitField = "max_tokens"
	}
	if o.TakeBool("includeUsage", true) {
		o.Default("stream_options", map[string]any{"include_usage": true})
	}
	if o.TakeBool("setCacheKey", false) && req.CacheKey != "" {
		o.Default("promptCacheKey", req.CacheKey)
	}
	o.RenameOpenAI(names)
	if _, ok := o["max_completion_tokens"]; !ok && req.MaxTokens > 0 {
		o.Default(limitField, req.MaxTokens)
	}
	if req.TopK != nil {
		o.Default("top_k", *req.TopK)
	}
	o.FillOpenAI(req)
	return w.Fields(o)
}

func writeTools(w *adapter.Writer, req *llm.Request) {
	if len(req.Tools) == 0 {
		return
	}
	w.OpenKey("tools", '[')
	for _, t := range req.Tools {
		w.Open('{')
		w.Str("type", "function")
		w.OpenKey("function", '{')
		w.Str("name", t.Name)
		w.Str("description", t.Description)
		w.Raw("parameters", adapter.Schema(t.Schema))
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// isMistral reports whether a model is of the family that takes only
// identifiers of nine letters and digits, and no user message after a result.
func isMistral(model string) bool {
	model = strings.ToLower(model)
	for _, family := range []string{"mistral", "ministral", "mixtral", "devstral", "codestral", "pixtral", "magistral"} {
		if strings.Contains(model, family) {
			return true
		}
	}
	return false
}

func cleaner(model string) func(string) string {
	if isMistral(model) {
		return mistralID
	}
	if strings.Contains(strings.ToLower(model), "claude") {
		return adapter.SafeID
	}
	return func(id string) string { return strings.ToValidUTF8(adapter.ShortID(id), "_") }
}

func mistralID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, id)
	return (id + "000000000")[:9]
}
