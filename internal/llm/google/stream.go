package google

import (
	"bytes"
	"encoding/json"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/sse"
)

// chunk is one event.
type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type part struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

type usage struct {
	Prompt     adapter.Count `json:"promptTokenCount"`
	Cached     adapter.Count `json:"cachedContentTokenCount"`
	ToolPrompt adapter.Count `json:"toolUsePromptTokenCount"`
	Candidates adapter.Count `json:"candidatesTokenCount"`
	Thoughts   adapter.Count `json:"thoughtsTokenCount"`
}

// decoder reads one answer.
type decoder struct {
	chunk     chunk
	block     *adapter.Block // open text or reasoning
	thought   bool           // block is reasoning
	signature string         // of the open block
	stop      string
	usage     llm.Usage
}

// Event implements [adapter.Decoder].
func (d *decoder) Event(a *adapter.Answer, ev sse.Event) error {
	if string(ev.Data) == "[DONE]" {
		return nil
	}
	if d.quick(ev.Data) {
		return nil
	}
	return d.take(a, ev.Data)
}

// quick takes a chunk that only appends to the open text, without a finish
// reason, a signature or usage that would have to be kept.
func (d *decoder) quick(data []byte) bool {
	if d.block == nil || d.thought {
		return false
	}
	s := adapter.NewScan(data)
	text, candidates := "", 0
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "candidates":
			for s.Open('['); s.More(']'); {
				candidates++
				text = quickCandidate(&s)
			}
		case "modelVersion", "responseId", "createTime":
			s.Skip()
		default:
			return false
		}
	}
	if !s.Done() || candidates != 1 {
		return false
	}
	d.block.Append(text)
	return true
}

// quickCandidate returns the text of a candidate, which may hold nothing else.
func quickCandidate(s *adapter.Scan) (text string) {
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "index":
			if s.Int() != 0 {
				s.Fail()
			}
		case "content":
			for s.Open('{'); s.More('}'); {
				if string(s.Key()) == "parts" {
					text = quickParts(s)
				} else {
					s.Skip()
				}
			}
		default:
			s.Fail()
		}
	}
	return text
}

func quickParts(s *adapter.Scan) (text string) {
	for s.Open('['); s.More(']'); {
		for s.Open('{'); s.More('}'); {
			if string(s.Key()) == "text" {
				text += s.String()
			} else {
				s.Fail()
			}
		}
	}
	return text
}

// Whole implements [adapter.Decoder]: without server-sent events the protocol
// streams a list of chunks.
func (d *decoder) Whole(a *adapter.Answer, body []byte) error {
	chunks := []json.RawMessage{body}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		chunks = nil
		if err := adapter.Decode(body, &chunks); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := d.take(a, c); err != nil {
			return err
		}
	}
	return nil
}

// End implements [adapter.Decoder]. The protocol has no last event: an answer with a
// finish reason is complete when the stream ends.
func (d *decoder) End(a *adapter.Answer) {
	if d.stop == "" {
		return
	}
	d.close()
	a.Finish(reason(d.stop), d.stop, d.usage)
}

func (d *decoder) take(a *adapter.Answer, data []byte) error {
	c := &d.chunk
	*c = chunk{}
	if err := adapter.Decode(data, c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return adapter.StreamError(data)
	}
	if c.Usage != nil {
		d.usage = c.Usage.tokens()
	}
	for i := range c.Candidates {
		candidate := &c.Candidates[i]
		if candidate.Index != 0 { // only one answer was asked for
			continue
		}
		for j := range candidate.Content.Parts {
			d.part(a, &candidate.Content.Parts[j])
		}
		if candidate.Finish == "" {
			continue
		}
		if isMalformed(candidate.Finish) {
			return malformed(candidate.Finish, candidate.Message)
		}
		d.stop = candidate.Finish
	}
	if c.Feedback.Block != "" && len(c.Candidates) == 0 {
		return &llm.Error{Kind: llm.KindFilter, Code: c.Feedback.Block, RetryAfter: -1,
			Message: "the provider's filter refused the request: " + c.Feedback.Block}
	}
	return nil
}

// isMalformed reports whether the model stopped because its own call was
// malformed; another attempt often works.
func isMalformed(stop string) bool {
	switch stop {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE":
		return true
	}
	return false
}

func malformed(stop, message string) error {
	if message != "" {
		message = ": " + message
	}
	return &llm.Error{Kind: llm.KindProtocol, Code: stop, Retryable: true, RetryAfter: -1,
		Message: "the model broke off with " + stop + message}
}

func (d *decoder) part(a *adapter.Answer, p *part) {
	if p.Call != nil {
		d.close()
		d.call(a, p)
		return
	}
	if p.Text != "" && (d.block == nil || d.thought != p.Thought) {
		d.close()
		d.thought = p.Thought
		if p.Thought {
			d.block = a.Reasoning()
		} else {
			d.block = a.Text()
		}
	}
	d.block.Append(p.Text)
	if p.Signature != "" {
		d.signature = p.Signature
	}
}

func (d *decoder) call(a *adapter.Answer, p *part) {
	b := a.Tool(p.Call.ID, p.Call.Name)
	args := string(p.Call.Args)
	if args == "" || args == "null" { // calls come whole, so there are none
		args = "{}"
	}
	b.Append(args)
	b.Close(meta{Signature: p.Signature, ID: p.Call.ID}.wrap())
}

func (d *decoder) close() {
	d.block.Close(meta{Signature: d.signature}.wrap())
	d.block, d.signature = nil, ""
}

func (u *usage) tokens() llm.Usage {
	read := min(u.Cached, u.Prompt)
	return llm.Usage{
		Input: int64(u.Prompt - read + u.ToolPrompt), CacheRead: int64(read),
		Output: int64(u.Candidates), Reasoning: int64(u.Thoughts), Reported: true,
	}
}

func reason(stop string) llm.FinishReason {
	switch stop {
	case "STOP":
		return llm.FinishStop
	case "MAX_TOKENS":
		return llm.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.FinishFilter
	}
	return llm.FinishUnknown
}
