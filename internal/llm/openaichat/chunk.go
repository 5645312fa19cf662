package openaichat

import (
	"bytes"
	"encoding/json"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// chunk is one event, or the whole answer of a request that was not streamed.
type chunk struct {
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"`
	Finish  string          `json:"finish_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Content   content  `json:"content"`
	Refusal   string   `json:"refusal"`
	Thought   string   `json:"reasoning_content"`
	Reasoning text     `json:"reasoning"`
	Details   []detail `json:"reasoning_details"`
	Calls     []call   `json:"tool_calls"`
	Call      *called  `json:"function_call"`
}

type call struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function called          `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type called struct {
	Name      string `json:"name"`
	Arguments text   `json:"arguments"`
}

// text is a string; some vendors send an object where the protocol has its
// JSON as a string, and that object's own text is taken then.
type text string

// UnmarshalJSON never fails on valid JSON.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case string(data) == "null":
		*t = ""
	case json.Unmarshal(data, &s) == nil:
		*t = text(s)
	default:
		*t = text(data)
	}
	return nil
}

// content is a string, or a list of parts of which some may be reasoning.
type content struct{ text, thought string }

// UnmarshalJSON never fails on valid JSON.
func (c *content) UnmarshalJSON(data []byte) error {
	*c = content{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct {
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if bytes.HasPrefix(data, []byte("[")) && json.Unmarshal(data, &parts) == nil {
		for _, p := range parts {
			c.text += p.Text
			c.thought += p.Thinking.text
		}
	}
	return nil
}

// thought returns the reasoning text of a delta, whichever field it came in.
func (d *delta) thought() string {
	switch {
	case d.Thought != "":
		return d.Thought
	case d.Reasoning != "":
		return string(d.Reasoning)
	case d.Content.thought != "":
		return d.Content.thought
	}
	var b strings.Builder
	for _, x := range d.Details {
		b.WriteString(x.Text)
		b.WriteString(x.Summary)
	}
	return b.String()
}

// openDetail is a piece of structured reasoning that is being put together.
type openDetail struct {
	detail
	text, summary, signature strings.Builder
}

// addDetails appends details, joining the pieces of one.
func (d *decoder) addDetails(a *adapter.Answer, more []detail) {
	for _, x := range more {
		if !a.Keep(len(x.Text) + len(x.Summary) + len(x.Signature) + len(x.Data)) {
			return
		}
		n := len(d.details)
		if n == 0 || x.Type == "reasoning.encrypted" || d.details[n-1].Type != x.Type || d.details[n-1].Index != x.Index {
			d.details = append(d.details, &openDetail{detail: x})
			n++
		}
		last := d.details[n-1]
		last.text.WriteString(x.Text)
		last.summary.WriteString(x.Summary)
		last.signature.WriteString(x.Signature)
	}
}

func closeDetails(open []*openDetail) []detail {
	out := make([]detail, len(open))
	for i, o := range open {
		out[i] = o.detail
		out[i].Text, out[i].Summary, out[i].Signature = o.text.String(), o.summary.String(), o.signature.String()
	}
	return out
}

type usage struct {
	Prompt        adapter.Count `json:"prompt_tokens"`
	Completion    adapter.Count `json:"completion_tokens"`
	Total         adapter.Count `json:"total_tokens"`
	PromptDetails struct {
		Cached  adapter.Count `json:"cached_tokens"`
		Written adapter.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning adapter.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit adapter.Count `json:"prompt_cache_hit_tokens"`
	Cached   adapter.Count `json:"cached_tokens"`
}

// tokens normalises what vendors count. If a total only adds up with reasoning
// counted next to the completion, the completion already excludes it.
func (u *usage) tokens() llm.Usage {
	reasoning := u.CompletionDetails.Reasoning
	return adapter.OpenAIUsage{
		Input: u.Prompt, Cached: max(u.PromptDetails.Cached, u.CacheHit, u.Cached), Written: u.PromptDetails.Written,
		Output: u.Completion, Reasoning: reasoning, Beside: reasoning != 0 && u.Total == u.Prompt+u.Completion+reasoning,
	}.Tokens()
}
