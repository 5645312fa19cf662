package sqlite

import (
	"fmt"
	"lathe/internal/store"
	"strings"
	"testing"

	"lathe"
)

// steps stores a session of n answers with one tool call each.
func steps(t testing.TB, s *testDB, n int) lathe.SessionID {
	ses := seed(t, s, "ses_a")
	printed := strings.Repeat("line of output\n", 20)
	must(t, s.Batch(t.Context(), func(tx store.Tx) error {
		if err := tx.AddMessage(userMessage(ses, "msg_0000", text("prt_0000", "go"))); err != nil {
			return err
		}
		for i := range n {
			m := assistant(ses, fmt.Sprintf("msg_1%04d", i), lathe.Assistant{Agent: "build", Finish: "tool-calls"})
			for j, body := range []lathe.PartBody{
				&lathe.StepStart{Snapshot: strings.Repeat("a", 40)},
				&lathe.ToolCall{CallID: "call_1", Tool: "bash", State: &lathe.ToolDone{
					Input: []byte(`{"command":"true","description":"does nothing"}`), Output: printed, Title: "does nothing",
					Metadata: map[string]any{"output": printed, "exit": 0, "truncated": false, "description": "does nothing"},
					Time:     lathe.Span{Start: epoch, End: epoch},
				}},
				&lathe.StepFinish{Reason: "tool-calls", Tokens: lathe.Tokens{Input: 100, Output: 10}},
				&lathe.StepStart{},
			}[:3+i%2] {
				m.Parts = append(m.Parts, lathe.Part{
					ID: lathe.PartID(fmt.Sprintf("prt_%04d_%d", i, j)), SessionID: ses, MessageID: m.ID, Body: body,
				})
			}
			if err := tx.AddMessage(m); err != nil {
				return err
			}
		}
		return tx.AddMessage(userMessage(ses, "msg_2000", text("prt_2000", "on")))
	}))
	return ses
}

// BenchmarkTailOfSteps reads the uncompacted tail of a turn of 400 tool steps.
func BenchmarkTailOfSteps(b *testing.B) {
	s := open(b, b.TempDir())
	ses := steps(b, s, 400)
	b.ReportAllocs()
	for b.Loop() {
		msgs, err := s.TurnTail(b.Context(), ses)
		must(b, err)
		if len(msgs) != 402 {
			b.Fatal(len(msgs))
		}
	}
}
