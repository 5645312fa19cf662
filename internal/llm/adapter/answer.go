package adapter

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"

	"lathe/internal/llm"
)

// Answer is where an adapter's decoder puts what it reads. It keeps the promises
// of [llm.Event]: one Start, blocks with unique identifiers that open and close
// once, valid UTF-8, tool calls whose CallID is new in the conversation, and
// nothing after Finish. It also bounds what an answer may hold, see [Answer.Keep].
// It is used by one goroutine.
type Answer struct {
	yield    func(llm.Event, error) bool
	req      *llm.Request
	stopped  bool // the reader left the loop
	started  bool
	finished bool
	settled  bool
	blocks   []*Block
	calls    int
	taken    map[string]bool // call ids of the conversation
	left     int             // bytes that it may still hold
	failure  *llm.Error      // a bound was exceeded
	content  int             // grows with every event passed on
}

// NewAnswer returns an Answer to req that passes its events to yield.
func NewAnswer(req *llm.Request, yield func(llm.Event, error) bool) *Answer {
	return &Answer{yield: yield, req: req, left: answerLimit(req)}
}

// Done reports whether no more events can be passed on: Finish was called or
// the reader left.
func (a *Answer) Done() bool { return a.stopped || a.finished }

func (a *Answer) emit(ev llm.Event) {
	a.content++
	if !a.Done() && a.failure == nil && !a.yield(ev, nil) {
		a.stopped = true
	}
}

// Settle says that the answer is complete except for usage and the end mark.
// The transport then waits only a few seconds for these, whatever the idle
// limit: some servers send neither and keep the connection open.
func (a *Answer) Settle() { a.settled = true }

// Start reports that the answer has begun; later calls do nothing.
func (a *Answer) Start() {
	if !a.started {
		a.started = true
		a.emit(llm.Start{})
	}
}

// Block is an open text, reasoning or tool block of an Answer. Its methods do
// nothing on a nil or closed Block.
type Block struct {
	a            *Answer
	kind         blockKind
	id           string
	callID, name string
	args         []byte
	sent         bool
	closed       bool
	held         bool // closed, but only the end of the answer decides what it was
	meta         map[string]json.RawMessage
}

type blockKind int

const (
	blockText blockKind = iota
	blockReasoning
	blockTool
)

func (a *Answer) open(kind blockKind) *Block {
	a.Start()
	if len(a.blocks) == maxBlocks {
		a.fail(false, "the provider's answer has more than %d blocks", maxBlocks)
	}
	if a.failure != nil {
		return nil
	}
	b := &Block{a: a, kind: kind, id: strconv.Itoa(len(a.blocks))}
	a.blocks = append(a.blocks, b)
	return b
}

// Text opens a text block.
func (a *Answer) Text() *Block {
	b := a.open(blockText)
	if b != nil {
		a.emit(llm.TextStart{ID: b.id})
	}
	return b
}

// Reasoning opens a reasoning block.
func (a *Answer) Reasoning() *Block {
	b := a.open(blockReasoning)
	if b != nil {
		a.emit(llm.ReasoningStart{ID: b.id})
	}
	return b
}

// Tool opens a tool call. A callID that is empty or was used before in the
// conversation is replaced.
func (a *Answer) Tool(callID, name string) *Block {
	if a.calls == maxCalls {
		a.fail(true, "the model asked for more than %d tools in one answer; those after them were not started", maxCalls)
	}
	b := a.open(blockTool)
	if b == nil {
		return nil
	}
	a.calls++
	b.callID, b.name = a.unique(callID), strings.ToValidUTF8(name, "\uFFFD")
	a.emit(llm.ToolStart{ID: b.id, CallID: b.callID, Name: b.name})
	return b
}

// maxCallID is the longest call identifier that every protocol takes back.
const maxCallID = 64

func (a *Answer) unique(id string) string {
	if a.taken == nil {
		a.taken = usedCalls(a.req)
	}
	id = strings.ToValidUTF8(id, "_")
	if id == "" || len(id) > maxCallID || a.taken[id] {
		id = "call_" + strings.ToLower(rand.Text())
	}
	a.taken[id] = true
	return id
}

func usedCalls(req *llm.Request) map[string]bool {
	used := make(map[string]bool)
	if req == nil {
		return used
	}
	for _, m := range req.Messages {
		for _, c := range m.Content {
			if u, ok := c.(llm.ToolUse); ok {
				used[u.ID] = true
			}
		}
	}
	return used
}

// Append adds to the block; empty strings are left out.
func (b *Block) Append(s string) {
	if b == nil || b.closed || s == "" {
		return
	}
	b.sent = true
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !b.a.Keep(len(s)) {
		return
	}
	if b.kind == blockTool && len(b.args)+len(s) > maxArguments {
		b.a.fail(false, "the arguments of a call to %q are larger than %d MiB", b.name, maxArguments>>20)
		return
	}
	switch b.kind {
	case blockText:
		b.a.emit(llm.TextDelta{ID: b.id, Text: s})
	case blockReasoning:
		b.a.emit(llm.ReasoningDelta{ID: b.id, Text: s})
	case blockTool:
		b.args = append(b.args, s...)
		b.a.emit(llm.ToolDelta{ID: b.id, JSON: s})
	}
}

// Complete supplies the whole content of a block whose pieces may not have
// arrived. It replaces a tool call's arguments; text that was already passed on
// stays.
func (b *Block) Complete(s string) {
	switch {
	case b == nil || b.closed || s == "":
	case !b.sent:
		b.Append(s)
	case len(s) > maxArguments || !b.a.Keep(max(0, len(s)-len(b.args))):
	case b.kind == blockTool && string(b.args) != s:
		b.args = []byte(strings.ToValidUTF8(s, "\uFFFD"))
	}
}

// Sent reports whether anything was appended.
func (b *Block) Sent() bool { return b != nil && b.sent }

// Whole reports whether a tool call's arguments are a complete JSON object, so
// that nothing that follows can belong to them.
func (b *Block) Whole() bool {
	return b != nil && len(b.args) > 1 && b.args[len(b.args)-1] == '}' && json.Valid(b.args)
}

// Close ends the block. A call whose arguments are not complete JSON is passed
// on only when the answer finishes.
func (b *Block) Close(meta map[string]json.RawMessage) {
	if b == nil || b.closed {
		return
	}
	b.closed = true
	for _, raw := range meta {
		b.a.Keep(len(raw))
	}
	switch b.kind {
	case blockText:
		b.a.emit(llm.TextEnd{ID: b.id, Meta: meta})
	case blockReasoning:
		b.a.emit(llm.ReasoningEnd{ID: b.id, Meta: meta})
	case blockTool:
		if b.meta = meta; !json.Valid(b.args) {
			b.held = true // cut off, or the model's mistake: the finish reason decides
			return
		}
		b.end(false)
	}
}

// end passes on that a call is complete, or that it was cut off.
func (b *Block) end(cut bool) {
	input := string(b.args)
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	b.held, b.args = false, nil
	b.a.emit(llm.ToolEnd{ID: b.id, CallID: b.callID, Name: b.name, Input: input, Cut: cut, Meta: b.meta})
}

// Finish closes what is open and ends the answer. If calls were made, any other
// reason to stop becomes [FinishToolCalls]; if none were, that reason becomes
// [FinishStop], because a turn that went on would have nothing to say.
func (a *Answer) Finish(reason llm.FinishReason, raw string, usage llm.Usage) {
	if a.Done() || a.failure != nil {
		return
	}
	a.Start()
	for i, b := range a.blocks {
		b.Close(nil)
		if b.held { // only the last block can have been cut off
			b.end(reason == llm.FinishLength && i == len(a.blocks)-1)
		}
	}
	switch {
	case a.calls > 0 && (reason == llm.FinishStop || reason == llm.FinishUnknown):
		reason = llm.FinishToolCalls
	case a.calls == 0 && reason == llm.FinishToolCalls:
		reason = llm.FinishStop
	}
	a.emit(llm.Finish{Reason: reason, Raw: strings.ToValidUTF8(raw, "\uFFFD"), Usage: usage})
	a.finished = true
}

// Calls returns how many tool calls were made so far.
func (a *Answer) Calls() int { return a.calls }

// Meta wraps what a protocol attaches to a block under the protocol's name.
// The value is one of the adapter's own types, so encoding cannot fail.
func Meta(protocol string, v any) map[string]json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return map[string]json.RawMessage{protocol: raw}
}
