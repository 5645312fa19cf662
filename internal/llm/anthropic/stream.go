package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/sse"
)

// event is every event of the protocol at once; Type says which members count.
type event struct {
	Type         string  `json:"type"`
	Index        int     `json:"index"`
	Message      *answer `json:"message"`
	ContentBlock *block  `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// answer is a message object: what message_start carries, and the whole answer
// of a request that was not streamed.
type answer struct {
	Type       string  `json:"type"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      *usage  `json:"usage"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type usage struct {
	Input      *adapter.Count `json:"input_tokens"`
	Output     *adapter.Count `json:"output_tokens"`
	CacheRead  *adapter.Count `json:"cache_read_input_tokens"`
	CacheWrite *adapter.Count `json:"cache_creation_input_tokens"`
	Details    *struct {
		Thinking adapter.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// decoder reads one answer.
type decoder struct {
	ev     event
	blocks map[int]*open
	usage  llm.Usage
	stop   string
}

// open is a block that is being read.
type open struct {
	*adapter.Block
	tool      bool
	whole     json.RawMessage // arguments given at the start
	signature []byte
	redacted  string
}

// Event implements [adapter.Decoder].
func (d *decoder) Event(a *adapter.Answer, ev sse.Event) error {
	if d.quick(ev.Data) {
		return nil
	}
	e := &d.ev
	*e = event{}
	if err := adapter.Decode(ev.Data, e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			d.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.ContentBlock != nil {
			d.end(e.Index)
			d.begin(a, e.Index, e.ContentBlock)
		}
	case "content_block_delta":
		return d.delta(a, e)
	case "content_block_stop":
		d.end(e.Index)
	case "message_delta":
		d.count(e.Usage)
		if e.Delta.StopReason != "" {
			d.stop = e.Delta.StopReason
		}
	case "message_stop":
		d.finish(a)
	case "error":
		return adapter.StreamError(ev.Data)
	}
	return nil
}

// quick takes an event that only appends to an open block.
func (d *decoder) quick(data []byte) bool {
	s := adapter.NewScan(data)
	index, kind, text := -1, "", ""
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "type":
			if !s.Is("content_block_delta") {
				return false
			}
		case "index":
			index = s.Int()
		case "delta":
			for s.Open('{'); s.More('}'); {
				switch key := s.Key(); string(key) {
				case "type":
					kind = s.String()
				case "text", "thinking", "partial_json":
					text = s.String()
				default:
					s.Fail()
				}
			}
		default:
			s.Skip()
		}
	}
	o := d.blocks[index]
	if !s.Done() || o == nil || kind != "text_delta" && kind != "thinking_delta" && kind != "input_json_delta" {
		return false
	}
	o.Append(text)
	return true
}

// Whole implements [adapter.Decoder].
func (d *decoder) Whole(a *adapter.Answer, body []byte) error {
	var m answer
	if err := adapter.Decode(body, &m); err != nil {
		return err
	}
	for i := range m.Content {
		d.begin(a, i, &m.Content[i])
		d.end(i)
	}
	d.count(m.Usage)
	d.stop = m.StopReason
	return nil
}

// End implements [adapter.Decoder]: with a stop reason the answer is complete.
func (d *decoder) End(a *adapter.Answer) {
	if d.stop != "" {
		d.finish(a)
	}
}

// unread is how many bytes a block counts for beyond its content, since some
// kinds are not read.
const unread = 256

func (d *decoder) begin(a *adapter.Answer, index int, b *block) {
	if d.blocks == nil {
		d.blocks = make(map[int]*open)
	}
	o := &open{}
	switch b.Type {
	case "text":
		o.Block = a.Text()
		o.Append(b.Text)
	case "thinking":
		o.Block = a.Reasoning()
		o.Append(b.Thinking)
		o.signature = []byte(b.Signature)
	case "redacted_thinking":
		o.Block, o.redacted = a.Reasoning(), b.Data
	case "tool_use":
		o.Block, o.tool, o.whole = a.Tool(b.ID, b.Name), true, b.Input
	}
	a.Keep(unread)
	d.blocks[index] = o
}

func (d *decoder) delta(a *adapter.Answer, e *event) error {
	o := d.blocks[e.Index]
	if o == nil { // some vendors leave the start of a block out
		kind := map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[e.Delta.Type]
		if kind == "" && e.Delta.Type == "input_json_delta" {
			return &llm.Error{Kind: llm.KindProtocol, Message: "the provider sent arguments of a tool call that it did not name", Retryable: true, RetryAfter: -1}
		}
		d.begin(a, e.Index, &block{Type: kind})
		o = d.blocks[e.Index]
	}
	switch e.Delta.Type {
	case "text_delta":
		o.Append(e.Delta.Text)
	case "thinking_delta":
		o.Append(e.Delta.Thinking)
	case "signature_delta":
		if a.Keep(len(e.Delta.Signature)) {
			o.signature = append(o.signature, e.Delta.Signature...)
		}
	case "input_json_delta":
		o.Append(e.Delta.PartialJSON)
	}
	return nil
}

func (d *decoder) end(index int) {
	o := d.blocks[index]
	if o == nil {
		return
	}
	delete(d.blocks, index)
	if o.tool && !o.Sent() && len(o.whole) > 2 {
		o.Complete(string(o.whole))
	}
	if len(o.signature) == 0 && o.redacted == "" {
		o.Close(nil)
		return
	}
	o.Close(adapter.Meta(name, meta{Signature: string(o.signature), Redacted: o.redacted}))
}

// count copies the numbers that a usage object has; later ones are totals and
// replace earlier ones, unless they are zero.
func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	d.usage.Reported = true
	for _, f := range []struct {
		from *adapter.Count
		to   *int64
	}{{u.Input, &d.usage.Input}, {u.Output, &d.usage.Output}, {u.CacheRead, &d.usage.CacheRead}, {u.CacheWrite, &d.usage.CacheWrite}} {
		if f.from != nil && *f.from > 0 {
			*f.to = int64(*f.from)
		}
	}
	if u.Details != nil {
		d.usage.Reasoning = int64(u.Details.Thinking)
	}
}

func (d *decoder) finish(a *adapter.Answer) {
	for _, index := range slices.Sorted(maps.Keys(d.blocks)) {
		d.end(index)
	}
	u := d.usage
	u.Reasoning = min(u.Reasoning, u.Output)
	u.Output -= u.Reasoning
	a.Finish(reason(d.stop), d.stop, u)
}

func reason(stop string) llm.FinishReason {
	switch stop {
	case "end_turn", "stop_sequence", "pause_turn":
		return llm.FinishStop
	case "tool_use":
		return llm.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "refusal":
		return llm.FinishFilter
	}
	return llm.FinishUnknown
}
