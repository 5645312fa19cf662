package script

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
)

// SideText answers a request without tools (a title) that the script has no step
// for.
const SideText = "A scripted session"

// Model plays a script as a language model. Which step answers a request follows
// from the request: the n-th answer of a conversation is the n-th step, in any
// process. A step that fails is passed over when the request is repeated.
type Model struct {
	load func() (Script, error)

	mu     sync.Mutex
	failed map[int]int // failed answers so far, by the number of the answer
}

// New returns a model that plays the script that read returns; it is read with
// the first request.
func New(read func() ([]byte, error)) *Model {
	return &Model{failed: map[int]int{}, load: sync.OnceValues(func() (Script, error) {
		data, err := read()
		if err != nil {
			return nil, fmt.Errorf("scripted model: %w", err)
		}
		return Parse(data)
	})}
}

// Stream answers a request with its step.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		steps, err := m.load()
		if err != nil {
			yield(nil, &llm.Error{Kind: llm.KindInvalid, Message: err.Error(), RetryAfter: -1, Cause: err})
			return
		}
		step, n, ok := m.pick(steps, req)
		if !ok {
			yield(nil, &llm.Error{Kind: llm.KindInvalid, RetryAfter: -1, Message: fmt.Sprintf(
				"the script has %d answers and the conversation asks for another", len(steps))})
			return
		}
		m.play(ctx, step, n, yield)
	}
}

// pick returns the step that answers the request and which answer it is.
func (m *Model) pick(steps Script, req *llm.Request) (Step, int, bool) {
	side := len(req.Tools) == 0
	answers := 0
	for _, msg := range req.Messages {
		if msg.Role == llm.RoleAssistant {
			answers++
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	skip := answers + m.failed[answers]
	for _, s := range steps {
		if s.Side != side || (s.When != "" && !strings.Contains(lastText(req), s.When)) {
			continue
		}
		if times := max(1, s.Times); skip >= times && !side {
			skip -= times
			continue
		}
		return s, answers, true
	}
	if side {
		return Step{Blocks: []Block{Text(SideText)}}, answers, true
	}
	return Step{}, answers, false
}

func lastText(req *llm.Request) string {
	var last strings.Builder
	if n := len(req.Messages); n > 0 {
		for _, c := range req.Messages[n-1].Content {
			switch c := c.(type) {
			case llm.Text:
				last.WriteString(c.Text)
			case llm.ToolResult:
				last.WriteString(c.Output)
			}
		}
	}
	return last.String()
}

func (m *Model) play(ctx context.Context, s Step, n int, yield func(llm.Event, error) bool) {
	if s.Status != 0 {
		m.fail(n)
		yield(nil, statusError(s))
		return
	}
	if !yield(llm.Start{}, nil) {
		return
	}
	for i, b := range s.Blocks {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		if c, ok := b.(Call); ok && i == len(s.Blocks)-1 && s.Reason() == llm.FinishLength && !json.Valid([]byte(c.Args)) {
			b = cutCall(c)
		}
		if !playBlock(b, fmt.Sprint(i), n, yield) {
			return
		}
	}
	switch {
	case s.Stall:
		<-ctx.Done()
		yield(nil, context.Cause(ctx))
	case s.Drop, s.Broken != "":
		m.fail(n)
		text := s.Broken
		if text == "" {
			text = "the script drops the connection"
		}
		yield(nil, &llm.Error{Kind: llm.KindCut, Message: text, Retryable: true, RetryAfter: -1})
	default:
		usage := llm.Usage{}
		if u := s.Report(); u != nil {
			usage = *u
		}
		yield(llm.Finish{Reason: s.Reason(), Raw: string(s.Reason()), Usage: usage}, nil)
	}
}

func (m *Model) fail(answer int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed[answer]++
}

func statusError(s Step) *llm.Error {
	e := &llm.Error{Kind: llm.KindInvalid, Status: s.Status, Message: s.Message, Code: s.Code, RetryAfter: -1}
	switch {
	case s.Status == 401 || s.Status == 403:
		e.Kind = llm.KindAuth
	case s.Status < 500 && adapter.Overflows(s.Status, s.Message):
		e.Kind = llm.KindOverflow
	case s.Status == 429:
		e.Kind, e.Retryable = llm.KindRateLimit, true
	case s.Status >= 500:
		e.Kind, e.Retryable = llm.KindServer, true
	}
	if s.Header["retry-after"] == "0" {
		e.RetryAfter = 0
	}
	return e
}

// cutCall is a call that the output limit ends within its arguments.
type cutCall Call

func (cutCall) isBlock() {}

func playBlock(b Block, id string, n int, yield func(llm.Event, error) bool) bool {
	var events []llm.Event
	switch b := b.(type) {
	case Text:
		events = append(events, llm.TextStart{ID: id})
		for _, p := range Pieces(string(b)) {
			events = append(events, llm.TextDelta{ID: id, Text: p})
		}
		events = append(events, llm.TextEnd{ID: id})
	case Reasoning:
		events = append(events, llm.ReasoningStart{ID: id}, llm.ReasoningDelta{ID: id, Text: b.Text}, llm.ReasoningEnd{ID: id})
	case cutCall:
		c := Call(b)
		return playBlock(c, id, n, func(ev llm.Event, err error) bool {
			if end, ok := ev.(llm.ToolEnd); ok {
				end.Cut = true
				ev = end
			}
			return yield(ev, err)
		})
	case Call:
		call := b.ID
		if call == "" {
			call = fmt.Sprintf("call_%d_%s", n, id)
		}
		events = append(events, llm.ToolStart{ID: id, CallID: call, Name: b.Name}, llm.ToolDelta{ID: id, JSON: b.Args},
			llm.ToolEnd{ID: id, CallID: call, Name: b.Name, Input: b.Args})
	}
	for _, ev := range events {
		if !yield(ev, nil) {
			return false
		}
	}
	return true
}

var _ llm.Model = (*Model)(nil)
