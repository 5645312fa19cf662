// Package guide is the model that lathe uses when no other is connected. It is
// not a language model: it recognises plain requests in English and Chinese (a
// tour of the project, find, read, count, replace, create, run, test, proofread,
// a demonstration) by rules, and carries them out with the real tools, so that a
// first session works on a fresh machine without an account or a network. A
// request that it does not know is answered with the nearest thing that it can
// do. Every answer says what it is and how to connect a real model.
package guide

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"lathe/internal/llm"
)

// Options are what the guide has to know about where it runs.
type Options struct {
	// Attended says that somebody can answer when a tool asks for permission. A
	// demonstration asks only then.
	Attended bool
}

// Model is the guide. It is stateless: what it does next follows from the
// request alone.
type Model struct{ o Options }

// New returns the guide.
func New(o Options) *Model { return &Model{o} }

// Stream answers a request. It never fails, save when ctx is done.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		emit(m.answer(req), req, func(ev llm.Event) bool { return yield(ev, nil) })
	}
}

// reply is what the guide says and the calls it makes.
type reply struct {
	text  string
	calls []toolCall
}

type toolCall struct {
	name string
	args any
}

func (m *Model) answer(req *llm.Request) reply {
	s := readState(req)
	s.attended = m.o.Attended
	if len(req.Tools) == 0 {
		return reply{text: titleFrom(s.prompt)}
	}
	return parse(s.prompt).next(s)
}

// emit sends a reply as a stream of events, words one by one.
func emit(r reply, req *llm.Request, yield func(llm.Event) bool) {
	if !yield(llm.Start{}) {
		return
	}
	if r.text != "" {
		if !yield(llm.TextStart{ID: "t"}) {
			return
		}
		for _, w := range strings.SplitAfter(r.text, " ") {
			if !yield(llm.TextDelta{ID: "t", Text: w}) {
				return
			}
		}
		if !yield(llm.TextEnd{ID: "t"}) {
			return
		}
	}
	reason := llm.FinishStop
	for i, c := range r.calls {
		reason = llm.FinishToolCalls
		if !emitCall(c, fmt.Sprintf("guide_%d_%d", len(req.Messages), i), yield) {
			return
		}
	}
	yield(llm.Finish{Reason: reason, Raw: string(reason), Usage: usage(req, r)})
}

func emitCall(c toolCall, id string, yield func(llm.Event) bool) bool {
	args, err := json.Marshal(c.args)
	if err != nil { // the arguments are maps of strings
		args = []byte("{}")
	}
	return yield(llm.ToolStart{ID: id, CallID: id, Name: c.name}) &&
		yield(llm.ToolDelta{ID: id, JSON: string(args)}) &&
		yield(llm.ToolEnd{ID: id, CallID: id, Name: c.name, Input: string(args)})
}

// usage estimates tokens, so that cost and context views show something honest:
// four characters a token.
func usage(req *llm.Request, r reply) llm.Usage {
	in := 0
	for _, s := range req.System {
		in += len(s)
	}
	for _, m := range req.Messages {
		for _, c := range m.Content {
			switch c := c.(type) {
			case llm.Text:
				in += len(c.Text)
			case llm.ToolResult:
				in += len(c.Output)
			}
		}
	}
	return llm.Usage{Input: int64(in / 4), Output: int64(len(r.text)/4 + 1), Reported: true}
}

// titleFrom names a conversation after the first line of its prompt.
func titleFrom(prompt string) string {
	_, quoted, ok := strings.Cut(prompt, "Generate a title for this conversation:")
	if ok {
		prompt = quoted
	}
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > 50 {
		return strings.TrimSpace(string(runes[:49])) + "…"
	}
	if len(runes) == 0 {
		return "Offline guide"
	}
	return string(runes)
}

var _ llm.Model = (*Model)(nil)
