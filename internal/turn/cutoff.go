package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// maxCuts is how many answers in a row may be cut off before the turn ends.
const maxCuts = 3

// cutOff records a call whose arguments the output limit cut off. It is not run, because the
// arguments are not what the model meant. The model is told how to go on.
func (s *step) cutOff(ctx context.Context, r *running, name string) error {
	defer close(r.done)
	r.name, r.input = name, json.RawMessage("{}")
	s.mu.Lock()
	s.calls, s.cut = append(s.calls, r), true
	s.mu.Unlock()
	return r.settle(ctx, tool.Result{Failed: true, Output: cutText(name, s.limit)}, nil)
}

// cutText says what happened to a call that was cut off.
func cutText(name string, limit int) string {
	at := "its output limit"
	if limit > 0 {
		at = "its output limit of " + thousands(limit) + " tokens"
	}
	text := fmt.Sprintf("Your answer was cut off at %s, in the middle of the arguments of %q. The call was not run and nothing was changed. ", at, name)
	switch strings.ToLower(name) {
	case "write", "edit", "multiedit", "patch", "apply_patch":
		return text + "Do it in several answers: write the first part, then add one part after the other with edit."
	}
	return text + "Call it again with shorter arguments, or do the work in several calls, one in each answer."
}

// thousands writes a number as "32,000".
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// cutTooOften counts the answers in a row that the output limit ended, either within a call or
// before there was one. The caller holds mu.
func (s *step) cutTooOften() bool {
	if !s.cut && (s.finish != lathe.FinishLength || len(s.calls) > 0) {
		s.cuts = 0
		return false
	}
	s.cuts++
	return s.cuts >= maxCuts
}
