package sqlite

import (
	"fmt"
	"lathe/internal/store"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A turn gets everything but the marks of steps that are over.
func TestTurnTail(t *testing.T) {
	s := open(t, t.TempDir())
	ses := steps(t, s, 150)
	want, err := s.Tail(t.Context(), ses)
	must(t, err)
	marks := 0
	for i := range want[:150] { // the newest answer stands at 150
		var kept []lathe.Part
		for j, p := range want[i].Parts {
			switch p.Body.(type) {
			case *lathe.StepFinish:
				marks++
				continue
			case *lathe.StepStart:
				if j == 0 {
					marks++
					continue
				}
			}
			kept = append(kept, p)
		}
		want[i].Parts = kept
	}
	got, err := s.TurnTail(t.Context(), ses)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || marks != 2*149 || len(got) != 152 {
		t.Errorf("%d marks, %d messages (-want +got):\n%s", marks, len(got), diff)
	}
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
