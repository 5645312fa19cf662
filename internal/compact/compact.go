// Package compact decides what leaves a model's window and how: when a history is
// full ([Window]), what it weighs ([Meter]), which old tool output is cleared
// ([Plan]), which messages stay word for word ([Tail]), and what a model is asked
// for a summary and whether its answer is worth keeping. It does no I/O; the turn
// carries the decisions out.
package compact

import (
	"lathe"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/tokens"
)

// Settings are the user's, from the configuration. A nil field is the default.
type Settings struct {
	Auto, Prune          bool
	Reserved             *int   // tokens kept free for the next answer
	TailTurns            *int   // most turns that stay word for word; 0 none
	PreserveRecentTokens *int   // most tokens that stay word for word
	Prompt               string // in place of the built-in request for a summary
}

// Window is what a model takes in and gives out.
type Window struct {
	Context  int // 0: unknown, which never counts as full
	Input    int // limit of the input alone; 0: none beside Context
	Output   int // most tokens of an answer
	Reserved *int
}

// mostReserved is kept free where the input has a limit of its own.
const mostReserved = 20_000

// Usable returns how many tokens a request may have before the history counts as
// full, or 0 when that is not known. At least half of a small window is usable.
func (w Window) Usable() int64 {
	free := w.Output
	limit := w.Context
	if w.Input > 0 {
		limit, free = w.Input, min(mostReserved, w.Output)
	}
	if w.Reserved != nil {
		free = *w.Reserved
	}
	if limit <= 0 {
		return 0
	}
	return int64(max(limit-free, limit/2))
}

// What things weigh apart from their text.
const (
	messageWeight = 4
	callWeight    = 12
	imageWeight   = 1500
	bytesPerToken = 60 // of a PDF or another attachment
)

// Meter estimates what history weighs in a window. It remembers each part, which
// never changes once it is in history, so that weighing again costs little. It is
// not safe for concurrent use.
type Meter struct {
	parts map[lathe.PartBody]int64
}

// NewMeter returns a meter that has weighed nothing yet.
func NewMeter() *Meter { return &Meter{parts: map[lathe.PartBody]int64{}} }

// Messages returns the weight of messages as the model sees them.
func (m *Meter) Messages(messages []lathe.Message) int64 {
	var sum int64
	for i := range messages {
		sum += m.Message(&messages[i])
	}
	return sum
}

// Message returns the weight of a message. A failed answer without a tool call
// is not sent and weighs nothing.
func (m *Meter) Message(msg *lathe.Message) int64 {
	if info, ok := msg.Info.(*lathe.Assistant); ok && info.Error != nil && !hasCall(msg) {
		return 0
	}
	sum := int64(messageWeight)
	for i := range msg.Parts {
		sum += m.Part(msg.Parts[i].Body)
	}
	return sum
}

// Results returns the weight of what the tools of a message answered, which
// comes after the provider counted.
func (m *Meter) Results(msg *lathe.Message) int64 {
	var sum int64
	for i := range msg.Parts {
		if c, ok := msg.Parts[i].Body.(*lathe.ToolCall); ok {
			sum += m.result(c)
		}
	}
	return sum
}

func hasCall(msg *lathe.Message) bool {
	for i := range msg.Parts {
		if _, ok := msg.Parts[i].Body.(*lathe.ToolCall); ok {
			return true
		}
	}
	return false
}

// Part returns the weight of a part.
func (m *Meter) Part(b lathe.PartBody) int64 {
	if n, ok := m.parts[b]; ok {
		return n
	}
	n := m.weigh(b)
	m.parts[b] = n
	return n
}

func (m *Meter) weigh(b lathe.PartBody) int64 {
	switch b := b.(type) {
	case *lathe.Text:
		if b.Ignored {
			return 0
		}
		return count(b.Text)
	case *lathe.Reasoning:
		return count(b.Text)
	case *lathe.File:
		return file(b)
	case *lathe.CompactionMark:
		return 8
	case *lathe.Subtask:
		return 10
	case *lathe.ToolCall:
		return callWeight + count(b.Tool) + count(inputOf(b)) + m.result(b)
	}
	return 0
}

func (m *Meter) result(c *lathe.ToolCall) int64 {
	switch s := c.State.(type) {
	case *lathe.ToolDone:
		if !s.Compacted.IsZero() {
			return 8
		}
		sum := count(prompt.Shown(c.Tool, s))
		for i := range s.Attachments {
			sum += file(&s.Attachments[i])
		}
		return sum
	case *lathe.ToolFailed:
		return count(s.Error)
	}
	return 8
}

func inputOf(c *lathe.ToolCall) string {
	switch s := c.State.(type) {
	case *lathe.ToolRunning:
		return string(s.Input)
	case *lathe.ToolDone:
		return string(s.Input)
	case *lathe.ToolFailed:
		return string(s.Input)
	}
	return ""
}

// file returns what an attachment weighs. Text files and directories are in text
// parts of their own.
func file(f *lathe.File) int64 {
	switch {
	case f.MIME == "text/plain", f.MIME == "application/x-directory":
		return 0
	case len(f.MIME) > 6 && f.MIME[:6] == "image/":
		return imageWeight
	}
	return imageWeight + int64(len(f.URL)*3/4/bytesPerToken)
}

func count(s string) int64 { return int64(tokens.Count(s)) }

// Fixed returns the weight of what every request begins with.
func Fixed(system []string, tools []llm.Tool) (prompt, definitions int64) {
	for _, s := range system {
		prompt += count(s) + messageWeight
	}
	for _, t := range tools {
		definitions += count(t.Name) + count(t.Description) + count(string(t.Schema)) + callWeight
	}
	return prompt, definitions
}
