package openaichat

import (
	"encoding/json"
	"strings"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/sse"
)

// decoder reads one answer.
type decoder struct {
	chunk   chunk
	text    *adapter.Block
	thought *adapter.Block
	details []*openDetail // of the open reasoning
	calls   []*open
	byIndex map[int]*open
	stop    string
	began   bool // anything came
	usage   llm.Usage
}

// open is a call that is being read. It has no block until it has a name.
type open struct {
	*adapter.Block
	id, name string
	pending  string
	extra    json.RawMessage
}

// Event implements [adapter.Decoder].
func (d *decoder) Event(a *adapter.Answer, ev sse.Event) error {
	if string(ev.Data) == "[DONE]" {
		if !d.began {
			return nil // an empty answer is a cut one
		}
		d.finish(a)
		return nil
	}
	if ev.Type == "error" {
		return adapter.StreamError(ev.Data)
	}
	if d.quick(ev.Data) {
		return nil
	}
	c := &d.chunk
	clear(c.Choices) // decoding keeps what an element held before
	*c = chunk{Choices: c.Choices[:0]}
	if err := adapter.Decode(ev.Data, c); err != nil {
		return err
	}
	return d.take(a, c, ev.Data)
}

// quick takes a chunk that only appends to the open text.
func (d *decoder) quick(data []byte) bool {
	if d.text == nil {
		return false
	}
	s := adapter.NewScan(data)
	text, choices := "", 0
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "choices":
			for s.Open('['); s.More(']'); {
				choices++
				text = quickChoice(&s)
			}
		case "error", "usage":
			needNull(&s)
		case "object":
			if !s.Is("chat.completion.chunk") {
				return false
			}
		default:
			s.Skip()
		}
	}
	if !s.Done() || choices != 1 {
		return false
	}
	d.text.Append(text)
	return true
}

// quickChoice returns the text of a choice, which may hold nothing else.
func quickChoice(s *adapter.Scan) (text string) {
	for s.Open('{'); s.More('}'); {
		switch string(s.Key()) {
		case "index":
			if s.Int() != 0 {
				s.Fail()
			}
		case "delta":
			for s.Open('{'); s.More('}'); {
				switch string(s.Key()) {
				case "content":
					text = s.String()
				case "role":
					s.Skip()
				default:
					needNull(s)
				}
			}
		case "logprobs":
			s.Skip()
		default:
			needNull(s)
		}
	}
	return text
}

// needNull makes the scan fail on anything but null.
func needNull(s *adapter.Scan) {
	if !s.Null() {
		s.Fail()
	}
}

// Whole implements [adapter.Decoder].
func (d *decoder) Whole(a *adapter.Answer, body []byte) error {
	var c chunk
	if err := adapter.Decode(body, &c); err != nil {
		return err
	}
	return d.take(a, &c, body)
}

// End implements [adapter.Decoder]: after a finish reason only usage and the end
// mark can be missing.
func (d *decoder) End(a *adapter.Answer) {
	if d.stop != "" {
		d.finish(a)
	}
}

func (d *decoder) take(a *adapter.Answer, c *chunk, data []byte) error {
	if isError(c.Error) || c.Object == "error" {
		return adapter.StreamError(data)
	}
	d.count(c.Usage)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if isError(choice.Error) {
			return adapter.StreamError(choice.Error)
		}
		if choice.Index != 0 { // only one answer was asked for
			continue
		}
		d.began = true
		d.count(choice.Usage)
		for _, part := range []*delta{choice.Delta, choice.Message} {
			if part != nil {
				d.delta(a, part)
			}
		}
		switch choice.Finish {
		case "":
		case "error", "insufficient_system_resource":
			return &llm.Error{Kind: llm.KindServer, Code: choice.Finish, Message: "the provider gave up on its answer: " + choice.Finish, Retryable: true, RetryAfter: -1}
		default:
			d.stop = choice.Finish
			a.Settle()
		}
	}
	if d.stop != "" && c.Usage != nil && len(c.Choices) == 0 {
		d.finish(a)
	}
	return nil
}

func isError(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (d *decoder) count(u *usage) {
	if u != nil {
		d.usage = u.tokens()
	}
}

func (d *decoder) delta(a *adapter.Answer, part *delta) {
	if thought := part.thought(); thought != "" || len(part.Details) > 0 {
		d.closeText()
		if d.thought == nil {
			d.thought = a.Reasoning()
		}
		d.thought.Append(thought)
		d.addDetails(a, part.Details)
	}
	if s := part.Content.text + part.Refusal; s != "" {
		d.closeThought()
		if d.text == nil {
			d.text = a.Text()
		}
		d.text.Append(s)
	}
	for i := range part.Calls {
		d.call(a, &part.Calls[i])
	}
	if part.Call != nil { // the form before there were parallel calls
		zero := 0
		d.call(a, &call{Index: &zero, Function: *part.Call})
	}
}

func (d *decoder) closeText() {
	d.text.Close(nil)
	d.text = nil
}

func (d *decoder) closeThought() {
	var m map[string]json.RawMessage
	if len(d.details) > 0 {
		m = adapter.Meta(name, meta{Details: closeDetails(d.details)})
	}
	d.thought.Close(m)
	d.thought, d.details = nil, nil
}

func (d *decoder) call(a *adapter.Answer, c *call) {
	d.closeThought()
	d.closeText()
	o := d.find(c)
	if o == nil {
		o = d.begin(a, c)
	}
	if c.ID != "" && o.Block == nil {
		o.id = c.ID
	}
	if len(c.Extra) > 0 {
		o.extra = c.Extra
	}
	if o.Block == nil {
		if !a.Keep(len(c.Function.Name) + len(c.Function.Arguments)) {
			return
		}
		o.name += c.Function.Name
		o.pending += string(c.Function.Arguments)
		if o.name != "" {
			o.open(a)
		}
		return
	}
	o.Append(string(c.Function.Arguments))
}

// find returns the open call that a piece belongs to, or nil for a new one.
// Some vendors leave the index out, others give every call the same one: a new
// identifier with a name then means that another call begins.
func (d *decoder) find(c *call) *open {
	var o *open
	switch {
	case c.Index != nil:
		o = d.byIndex[*c.Index]
	case len(d.calls) == 0:
	case c.ID != "":
		for _, x := range d.calls {
			if x.id == c.ID {
				o = x
			}
		}
		return o
	case c.Function.Name == "" || d.calls[len(d.calls)-1].name == "":
		return d.calls[len(d.calls)-1]
	}
	if o != nil && c.Function.Name != "" && o.Block != nil && (c.ID != "" && c.ID != o.id || c.ID == "" && o.Whole()) {
		return nil
	}
	return o
}

// nameless is what a call counts for that has no name and so no block yet.
const nameless = 1 << 10

// begin adds a call, and closes those before it whose arguments are complete,
// so that they can run at once. Others may still go on.
func (d *decoder) begin(a *adapter.Answer, c *call) *open {
	for _, x := range d.calls {
		if x.Whole() {
			x.close()
		}
	}
	o := &open{}
	a.Keep(nameless)
	d.calls = append(d.calls, o)
	if c.Index != nil {
		if d.byIndex == nil {
			d.byIndex = make(map[int]*open)
		}
		d.byIndex[*c.Index] = o
	}
	return o
}

func (o *open) open(a *adapter.Answer) {
	o.Block = a.Tool(o.id, o.name)
	o.Append(o.pending)
	o.pending = ""
}

func (o *open) close() {
	if len(o.extra) > 0 {
		o.Close(adapter.Meta(name, meta{Extra: o.extra}))
	}
	o.Close(nil)
}

func (d *decoder) finish(a *adapter.Answer) {
	d.closeThought()
	d.closeText()
	for _, o := range d.calls {
		if o.Block == nil && strings.TrimSpace(o.pending) != "" {
			o.open(a) // a call without a name, which the turn answers
		}
		o.close()
	}
	a.Finish(reason(d.stop), d.stop, d.usage)
}

func reason(stop string) llm.FinishReason {
	switch strings.ToLower(stop) {
	case "stop", "eos", "end_turn", "stop_sequence":
		return llm.FinishStop
	case "tool_calls", "function_call", "tool_use", "tool-calls":
		return llm.FinishToolCalls
	case "length", "max_tokens", "model_length":
		return llm.FinishLength
	case "content_filter", "content-filter", "safety":
		return llm.FinishFilter
	}
	return llm.FinishUnknown
}
