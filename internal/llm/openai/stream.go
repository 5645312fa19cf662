package openai

import (
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/sse"
)

// event is every event of the protocol at once; Type says which members count.
type event struct {
	Type         string    `json:"type"`
	OutputIndex  int       `json:"output_index"`
	SummaryIndex int       `json:"summary_index"`
	Delta        string    `json:"delta"`
	Text         string    `json:"text"`
	Refusal      string    `json:"refusal"`
	Arguments    string    `json:"arguments"`
	Item         *item     `json:"item"`
	Response     *response `json:"response"`
}

type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Content   []part `json:"content"`
	Summary   []part `json:"summary"`
}

type part struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type response struct {
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []item `json:"output"`
	Usage  *usage `json:"usage"`
}

type usage struct {
	Input        adapter.Count `json:"input_tokens"`
	InputDetails struct {
		Cached  adapter.Count `json:"cached_tokens"`
		Written adapter.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        adapter.Count `json:"output_tokens"`
	OutputDetails struct {
		Reasoning adapter.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// decoder reads one answer.
type decoder struct {
	ev    event
	items map[int]*open
	seen  bool // some item came
}

// open is an item that is being read.
type open struct {
	*adapter.Block
	kind    string
	summary int // index of the last summary part
}

// Event implements [adapter.Decoder].
func (d *decoder) Event(a *adapter.Answer, ev sse.Event) error {
	if string(ev.Data) == "[DONE]" {
		return nil
	}
	if d.quick(ev.Data) {
		return nil
	}
	e := &d.ev
	*e = event{}
	if err := adapter.Decode(ev.Data, e); err != nil {
		return err
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		d.item(a, e.OutputIndex, "message").Append(e.Delta)
	case "response.output_text.done":
		d.item(a, e.OutputIndex, "message").Complete(e.Text)
	case "response.refusal.done":
		d.item(a, e.OutputIndex, "message").Complete(e.Refusal)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.reasoning(a, e)
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		return d.arguments(e)
	case "response.output_item.added":
		if e.Item != nil {
			d.end(e.OutputIndex, nil)
			d.begin(a, e.OutputIndex, e.Item)
		}
	case "response.output_item.done":
		d.done(a, e)
	case "response.completed", "response.incomplete":
		d.finish(a, e.Response)
	case "response.failed", "error":
		return adapter.StreamError(ev.Data)
	}
	return nil
}

// quick takes an event that only appends to an open text or call.
func (d *decoder) quick(data []byte) bool {
	s := adapter.NewScan(data)
	index, kind, text := -1, "", ""
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "type":
			switch kind = s.String(); kind {
			case "response.output_text.delta", "response.function_call_arguments.delta":
			default:
				return false
			}
		case "output_index":
			index = s.Int()
		case "delta":
			text = s.String()
		default:
			s.Skip()
		}
	}
	o := d.items[index]
	if !s.Done() || o == nil || kind == "" {
		return false
	}
	o.Append(text)
	return true
}

// Whole implements [adapter.Decoder].
func (d *decoder) Whole(a *adapter.Answer, body []byte) error {
	var r response
	if err := adapter.Decode(body, &r); err != nil {
		return err
	}
	if r.Status != "" || len(r.Output) > 0 {
		d.finish(a, &r)
	}
	return nil
}

// End implements [adapter.Decoder]. Only the last event completes an answer.
func (d *decoder) End(*adapter.Answer) {}

// item returns the item at an index, opening one if its start was left out.
func (d *decoder) item(a *adapter.Answer, index int, kind string) *open {
	if o := d.items[index]; o != nil {
		return o
	}
	d.begin(a, index, &item{Type: kind})
	return d.items[index]
}

// unread is what a item counts for beside what it holds, since there are kinds
// that are not read.
const unread = 256

func (d *decoder) begin(a *adapter.Answer, index int, it *item) {
	if d.items == nil {
		d.items = make(map[int]*open)
	}
	o := &open{kind: it.Type}
	switch it.Type {
	case "message":
		o.Block = a.Text()
	case "reasoning":
		o.Block = a.Reasoning()
	case "function_call":
		o.Block = a.Tool(it.CallID, it.Name)
		o.Append(it.Arguments)
	}
	d.seen = d.seen || o.Block != nil
	a.Keep(unread)
	d.items[index] = o
}

func (d *decoder) reasoning(a *adapter.Answer, e *event) {
	o := d.item(a, e.OutputIndex, "reasoning")
	if e.SummaryIndex > o.summary && o.Sent() {
		o.Append("\n\n")
	}
	o.summary = e.SummaryIndex
	o.Append(e.Delta)
}

func (d *decoder) arguments(e *event) error {
	o := d.items[e.OutputIndex]
	if o == nil {
		return &llm.Error{Kind: llm.KindProtocol, Message: "the provider sent arguments of a tool call that it did not name", Retryable: true, RetryAfter: -1}
	}
	o.Append(e.Delta)
	o.Complete(e.Arguments)
	return nil
}

func (d *decoder) done(a *adapter.Answer, e *event) {
	if e.Item == nil {
		return
	}
	if d.items[e.OutputIndex] == nil {
		d.begin(a, e.OutputIndex, e.Item)
	}
	d.end(e.OutputIndex, e.Item)
}

// end closes the item at an index; it is the item's final form, or nil.
func (d *decoder) end(index int, it *item) {
	o := d.items[index]
	if o == nil {
		return
	}
	delete(d.items, index)
	if it == nil {
		o.Close(nil)
		return
	}
	switch o.kind {
	case "message":
		o.Complete(text(it.Content, ""))
	case "reasoning":
		o.Complete(text(it.Summary, "\n\n"))
		o.Complete(text(it.Content, ""))
		if it.Encrypted != "" {
			o.Close(adapter.Meta(name, meta{ItemID: it.ID, Encrypted: it.Encrypted}))
		}
	case "function_call":
		o.Complete(it.Arguments)
	}
	o.Close(nil)
}

func text(parts []part, separator string) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text + p.Refusal
	}
	return strings.Join(texts, separator)
}

func (d *decoder) finish(a *adapter.Answer, r *response) {
	if r == nil {
		r = &response{}
	}
	if !d.seen { // some proxies send the last event alone
		for i := range r.Output {
			d.begin(a, i, &item{Type: r.Output[i].Type, CallID: r.Output[i].CallID, Name: r.Output[i].Name})
			d.end(i, &r.Output[i])
		}
	}
	raw := r.Incomplete.Reason
	if raw == "" {
		raw = r.Status
	}
	a.Finish(reason(raw), raw, r.Usage.tokens())
}

func (u *usage) tokens() llm.Usage {
	if u == nil {
		return llm.Usage{}
	}
	return adapter.OpenAIUsage{
		Input: u.Input, Cached: u.InputDetails.Cached, Written: u.InputDetails.Written, Output: u.Output, Reasoning: u.OutputDetails.Reasoning,
	}.Tokens()
}

func reason(raw string) llm.FinishReason {
	switch raw {
	case "completed":
		return llm.FinishStop
	case "max_output_tokens", "max_tokens":
		return llm.FinishLength
	case "content_filter":
		return llm.FinishFilter
	}
	return llm.FinishUnknown
}
