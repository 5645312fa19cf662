package turn

import (
	"encoding/json"
	"runtime"
	"strings"
	"time"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/rope"
)

// fold turns model events into the parts of one assistant message. It is the
// only code that does, so the live view, the stored history and a replay agree.
// Bodies are replaced, never changed in place: others hold on to them.
type fold struct {
	session lathe.SessionID
	message lathe.MessageID
	newPart func() lathe.PartID
	now     func() time.Time

	parts []*lathe.Part
	open  map[string]*block
}

// large is the length of a text after which a garbage collection pays off.
const large = 8 << 20

// block is a stream block that is not ended yet.
type block struct {
	part *lathe.Part
	text rope.Text
}

func newFold(m *lathe.Message, newPart func() lathe.PartID, now func() time.Time) *fold {
	return &fold{session: m.SessionID, message: m.ID, newPart: newPart, now: now, open: map[string]*block{}}
}

// effect is what one event did.
type effect struct {
	changed *lathe.Part // opened, changed or closed
	delta   *lathe.Part // text was appended to it
	text    string
	whole   *rope.Text // all text of the part
	call    *call      // a tool call whose arguments are complete
}

// call is a tool call as the model made it.
type call struct {
	part  *lathe.Part
	name  string
	input string // raw arguments
	cut   bool   // the answer's limit ended them
}

// apply applies one event. Events of blocks it does not know are ignored.
func (f *fold) apply(ev llm.Event) effect {
	switch ev := ev.(type) {
	case llm.TextStart:
		return f.start(ev.ID, &lathe.Text{Time: lathe.Span{Start: f.now()}})
	case llm.ReasoningStart:
		return f.start(ev.ID, &lathe.Reasoning{Time: lathe.Span{Start: f.now()}})
	case llm.ToolStart:
		return f.start(ev.ID, &lathe.ToolCall{CallID: ev.CallID, Tool: ev.Name, State: &lathe.ToolPending{}})
	case llm.TextDelta:
		return f.append(ev.ID, ev.Text)
	case llm.ReasoningDelta:
		return f.append(ev.ID, ev.Text)
	case llm.TextEnd:
		return f.end(ev.ID, ev.Meta)
	case llm.ReasoningEnd:
		return f.end(ev.ID, ev.Meta)
	case llm.ToolEnd:
		return f.endTool(ev)
	}
	return effect{}
}

func (f *fold) add(body lathe.PartBody) *lathe.Part {
	p := &lathe.Part{ID: f.newPart(), MessageID: f.message, SessionID: f.session, Body: body}
	f.parts = append(f.parts, p)
	return p
}

func (f *fold) start(id string, body lathe.PartBody) effect {
	p := f.add(body)
	f.open[id] = &block{part: p}
	return effect{changed: p}
}

func (f *fold) append(id, text string) effect {
	b := f.open[id]
	if b == nil || text == "" {
		return effect{}
	}
	b.text.Append(text)
	return effect{delta: b.part, text: text, whole: &b.text}
}

func (f *fold) end(id string, meta map[string]json.RawMessage) effect {
	b := f.open[id]
	if b == nil {
		return effect{}
	}
	delete(f.open, id)
	f.close(b, meta)
	return effect{changed: b.part}
}

// close gives an open text or reasoning part its text and end time.
func (f *fold) close(b *block, meta lathe.Meta) {
	if b.text.Len() > large {
		runtime.GC() // what streaming left behind and the copy of the text must not add up
	}
	switch body := b.part.Body.(type) {
	case *lathe.Text:
		done := *body
		done.Text, done.Meta, done.Time.End = strings.TrimRight(b.text.String(), " \t\r\n"), meta, f.now()
		b.part.Body = &done
	case *lathe.Reasoning:
		done := *body
		done.Text, done.Meta, done.Time.End = b.text.String(), meta, f.now()
		b.part.Body = &done
	}
}

func (f *fold) endTool(ev llm.ToolEnd) effect {
	b := f.open[ev.ID]
	if b == nil {
		return effect{}
	}
	delete(f.open, ev.ID)
	body := *b.part.Body.(*lathe.ToolCall)
	body.CallID, body.Tool, body.Meta = ev.CallID, ev.Name, ev.Meta
	b.part.Body = &body
	return effect{call: &call{part: b.part, name: ev.Name, input: ev.Input, cut: ev.Cut}}
}

// closeOpen ends the text and reasoning that a stream left open and returns
// them. Text keeps what arrived.
func (f *fold) closeOpen() []*lathe.Part {
	var closed []*lathe.Part
	for _, p := range f.parts {
		for id, b := range f.open {
			if b.part != p {
				continue
			}
			delete(f.open, id)
			if _, isTool := p.Body.(*lathe.ToolCall); !isTool {
				f.close(b, nil)
				closed = append(closed, p)
			}
		}
	}
	return closed
}

// values returns the parts by value, in order.
func (f *fold) values() []lathe.Part {
	out := make([]lathe.Part, len(f.parts))
	for i, p := range f.parts {
		out[i] = *p
	}
	return out
}
