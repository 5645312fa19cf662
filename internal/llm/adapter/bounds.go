package adapter

import (
	"fmt"

	"lathe/internal/llm"
)

// What one answer may hold. A provider that never ends its answer costs memory
// wherever it is kept, so the limits are on what is kept, not on what comes
// over the wire, most of which is wrapping.
const (
	maxContent   = 32 << 20 // text, reasoning and arguments of an answer together
	maxArguments = 16 << 20 // of one call
	maxCalls     = 256
	maxBlocks    = 4096

	// An answer cannot be longer than the output limit of its request: a token is
	// four bytes on average, and rarely more than 16. The margin is for reasoning
	// that a provider does not count.
	bytesPerToken = 16
	contentMargin = 2 << 20
)

// answerLimit returns how many bytes the answer to req may hold.
func answerLimit(req *llm.Request) int {
	if req == nil || req.MaxTokens <= 0 || req.MaxTokens > maxContent/bytesPerToken {
		return maxContent
	}
	return min(maxContent, contentMargin+req.MaxTokens*bytesPerToken)
}

// Keep counts n bytes that the answer, or its decoder, holds until the end. It
// returns false if they exceed what an answer may hold: the answer then ends
// with an error, and nothing more is passed on. Text appended to a block is
// already counted.
func (a *Answer) Keep(n int) bool {
	if a.left -= n; a.left < 0 {
		limit := answerLimit(a.req)
		if a.req != nil && a.req.MaxTokens > 0 {
			a.fail(false, "the provider's answer does not end: it is larger than %.1f MiB, with an output limit of %d tokens", float64(limit)/(1<<20), a.req.MaxTokens)
		} else {
			a.fail(false, "the provider's answer does not end: it is larger than %d MiB", limit>>20)
		}
	}
	return a.failure == nil
}

// fail ends the answer with an error; the first one counts.
func (a *Answer) fail(retryable bool, format string, args ...any) {
	if a.failure == nil {
		a.failure = &llm.Error{Kind: llm.KindProtocol, Message: fmt.Sprintf(format, args...), Retryable: retryable, RetryAfter: -1}
	}
}

// err returns why the answer was ended, or nil.
func (a *Answer) err() error {
	if a.failure == nil {
		return nil
	}
	return a.failure
}
