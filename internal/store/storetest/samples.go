package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
)

// Session is a session for tests, with the identifier.
func Session(id string) lathe.Session {
	return lathe.Session{
		ID: lathe.SessionID(id), Slug: "calm-river", ProjectID: "p1", Directory: "/work", Title: "Title of " + id,
		Version: "1", Created: epoch, Updated: epoch, Model: lathe.ModelRef{Provider: "x", Model: "m"},
		Rules: []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}}, Cost: 12,
	}
}

// UserMessage is what a person said.
func UserMessage(ses lathe.SessionID, id string, parts ...lathe.Part) *lathe.Message {
	return &lathe.Message{
		ID: lathe.MessageID(id), SessionID: ses, Created: epoch,
		Info: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "x", Model: "m"}}, Parts: parts,
	}
}

// Assistant is an answer.
func Assistant(ses lathe.SessionID, id string, a lathe.Assistant) *lathe.Message {
	return &lathe.Message{ID: lathe.MessageID(id), SessionID: ses, Created: epoch, Info: &a}
}

// Text is a part of a message.
func Text(id, s string) lathe.Part {
	return lathe.Part{ID: lathe.PartID(id), Body: &lathe.Text{Text: s}}
}

// Paid is an answer that cost something.
func Paid(ses lathe.SessionID, id string, cost lathe.Money) *lathe.Message {
	return Assistant(ses, id, lathe.Assistant{
		Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: epoch, Cost: cost, Tokens: lathe.Tokens{Input: int64(cost)},
	})
}

// Answers is what the statistics count of paid answers, by message cost; removed ones are
// negative.
func Answers(t testing.TB, s Store, since time.Time) (costs []lathe.Money) {
	t.Helper()
	must(t, s.Answers(t.Context(), since, func(a store.Answer) error {
		if a.Tokens.Input != int64(a.Cost) || a.Model.String() != "p/m" || !a.Created.Equal(epoch) || a.Directory == "" {
			t.Errorf("answer %+v of %+v", a, a.Assistant)
		}
		if a.Removed {
			a.Cost = -a.Cost
		}
		costs = append(costs, a.Cost)
		return nil
	}))
	return costs
}

// Steps stores a session of n answers with one tool call each.
func Steps(t testing.TB, s Store, n int) lathe.SessionID {
	t.Helper()
	ses := lathe.SessionID("ses_a")
	must(t, s.CreateSession(t.Context(), Session(string(ses))))
	must(t, s.Batch(t.Context(), func(tx store.Tx) error {
		if err := tx.AddMessage(UserMessage(ses, "msg_0000", Text("prt_0000", "go"))); err != nil {
			return err
		}
		for i := range n {
			if err := tx.AddMessage(step(ses, i)); err != nil {
				return err
			}
		}
		return tx.AddMessage(UserMessage(ses, "msg_2000", Text("prt_2000", "on")))
	}))
	return ses
}

// step is the answer of one step; each second one has begun another.
func step(ses lathe.SessionID, i int) *lathe.Message {
	printed := strings.Repeat("line of output\n", 20)
	m := Assistant(ses, fmt.Sprintf("msg_1%04d", i), lathe.Assistant{Agent: "build", Finish: "tool-calls"})
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
	return m
}
