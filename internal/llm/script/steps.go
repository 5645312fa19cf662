// Package script holds scripted model answers: their text form, and a model that
// plays them from a file. Tests, demos and a user's own CI run lathe with them.
package script

import (
	"lathe/internal/llm"
)

// Script is what the server answers, one [Step] for each model request.
type Script []Step

// Step is the answer to one model request. The zero Step is an empty answer.
type Step struct {
	Blocks []Block
	// Usage is what is reported; nil means a small made-up number, and one that
	// is not Reported means none.
	Usage *llm.Usage
	// Finish is the finish reason; empty means the one that fits the blocks.
	Finish llm.FinishReason

	// Status other than 0 answers with an HTTP error of this Message instead.
	Status  int
	Message string
	Code    string            // the provider's code of the error; a fitting one if empty
	Header  map[string]string // response headers
	// Broken ends the stream, after the blocks, with an error event of this message.
	Broken string
	// Raw is sent in place of everything else.
	Raw string

	// Drop closes the connection when DropAt bytes of the body were sent.
	Drop   bool
	DropAt int
	// Stall stops after the blocks and holds the connection until the client leaves.
	Stall bool
	// Whole answers with one JSON document, as some proxies do.
	Whole bool
	// Gate holds back each wire event until it can be received from or is closed.
	Gate <-chan struct{}

	// When keeps the step for the first request whose last message contains it.
	When string
	// Side keeps the step for requests without tools.
	Side bool
	// Times is how often the step is used; 0 means once.
	Times int
}

// Block is a piece of an answer: [Text], [Reasoning] or [Call].
type Block interface{ isBlock() }

type (
	// Text is words. It is streamed word by word.
	Text string
	// Reasoning is the model's thinking. An empty Signature means [Sign] of the text.
	Reasoning struct{ Text, Signature string }
	// Call is a tool call. An empty ID means one that the server makes; Args is
	// sent as it is, valid JSON or not.
	Call struct{ ID, Name, Args string }
)

func (Text) isBlock()      {}
func (Reasoning) isBlock() {}
func (Call) isBlock()      {}

// Reason returns the finish reason: the one given, else the one that fits the blocks.
func (s *Step) Reason() llm.FinishReason {
	if s.Finish != "" {
		return s.Finish
	}
	for _, b := range s.Blocks {
		if _, ok := b.(Call); ok {
			return llm.FinishToolCalls
		}
	}
	return llm.FinishStop
}

// Report returns the usage to report, or nil for none.
func (s *Step) Report() *llm.Usage {
	switch {
	case s.Usage == nil:
		return &llm.Usage{Input: 100, Output: 10, Reported: true}
	case !s.Usage.Reported:
		return nil
	}
	return s.Usage
}

// Pieces splits text into the deltas it is streamed in: after each space, and
// at most every 16 runes.
func Pieces(text string) []string {
	var out []string
	start, runes := 0, 0
	for i, r := range text {
		if runes++; r == ' ' || runes == 16 {
			end := i + len(string(r))
			if r == '\uFFFD' {
				continue
			}
			out = append(out, text[start:end])
			start, runes = end, 0
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
