package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
)

// pastOf is a history held in memory.
func pastOf(messages ...lathe.Message) History {
	return func(_ context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error] {
		return func(yield func(lathe.Message, error) bool) {
			if id != "ses_1" {
				yield(lathe.Message{}, errors.New("no such session"))
				return
			}
			for i := len(messages) - 1; i >= 0; i-- {
				if (before <= 0 || messages[i].Seq < before) && !yield(messages[i], nil) {
					return
				}
			}
		}
	}
}

func past() History {
	var all []lathe.Message
	for i := range 200 {
		seq := int64(2*i + 1)
		all = append(all, lathe.Message{Seq: seq, Info: &lathe.User{}, Parts: []lathe.Part{{Seq: 1, Body: &lathe.Text{Text: fmt.Sprintf("request %d 请不要 Ärger", i)}}}},
			lathe.Message{Seq: seq + 1, Info: &lathe.Assistant{}, Parts: []lathe.Part{
				{Seq: 1, Body: &lathe.StepStart{}},
				{Seq: 2, Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{
					Input: json.RawMessage(fmt.Sprintf(`{"command":"run-%d"}`, i)), Output: strings.Repeat(fmt.Sprintf("output %d\n", i), 4000), Compacted: time.Unix(1, 0)}}},
				{Seq: 3, Body: &lathe.ToolCall{Tool: "edit", State: &lathe.ToolFailed{Input: json.RawMessage(`{}`), Error: "not found"}}},
			}})
	}
	return pastOf(all...)
}

func recallWith(t *testing.T, input string) tool.Result {
	t.Helper()
	e := sessionTools{Abilities: Abilities{History: past()}}
	res, err := e.recallTool().Run(t.Context(), &tool.Call{SessionID: "ses_1", Input: json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Output) > recallBytes+2000 {
		t.Errorf("%s gave %d bytes", input, len(res.Output))
	}
	return res
}

func TestRecall(t *testing.T) {
	for input, want := range map[string][]string{
		`{"mode":"list"}`:                                {"400.2 you bash: {\"command\":\"run-199\"}", "399.1 user text: request 199", "(older messages: list again with before "},
		`{"mode":"list","before":5}`:                     {"4.3 you edit (failed)", "1.1 user text: request 0"},
		`{"mode":"search","query":"RUN-17 OUTPUT"}`:      {"36.2 you bash: "},
		`{"mode":"search","query":"请不要 request 100"}`:    {"201.1 user text: request 100"},
		`{"mode":"search","query":"nowhere to be seen"}`: {"Nothing in this session contains"},
		`{"mode":"search","query":" "}`:                  {"needs words"},
		`{"mode":"read","part":"36.2"}`:                  {"36.2 you bash\n{\"command\":\"run-17\"}\noutput 17\n", "(more: read on with offset "},
		`{"mode":"read","part":"#36.2","offset":4000}`:   {"output 17\n"},
		`{"mode":"read","part":"36","offset":4000}`:      {"36.3 you edit (failed)"},
		`{"mode":"read","part":"36.1"}`:                  {"no part 1"},
		`{"mode":"read","part":"9000.1"}`:                {"no message 9000"},
		`{"mode":"read","part":"x"}`:                     {"not a number"},
		`{"mode":"read","part":"1.1","offset":50}`:       {"has only"},
		`{"mode":"write"}`:                               {"is not list"},
	} {
		res := recallWith(t, input)
		for _, w := range want {
			if !strings.Contains(res.Output, w) {
				t.Errorf("%s does not say %q:\n%.600s", input, w, res.Output)
			}
		}
	}
}

func FuzzRecall(f *testing.F) {
	f.Add("search", "output", "1.2", 3, int64(9), "text\xff İ")
	f.Add("read", "", "1", -1, int64(-1), strings.Repeat("é", 20000))
	f.Fuzz(func(t *testing.T, mode, query, part string, offset int, before int64, text string) {
		e := sessionTools{Abilities: Abilities{History: pastOf(lathe.Message{Seq: 1, Info: &lathe.User{}, Parts: []lathe.Part{{Seq: 1, Body: &lathe.Text{Text: text}}}})}}
		input, err := json.Marshal(recallInput{Mode: mode, Query: query, Part: part, Offset: offset, Before: before})
		if err != nil {
			t.Skip()
		}
		if _, err := e.recallTool().Run(t.Context(), &tool.Call{SessionID: "ses_1", Input: input}); err != nil {
			t.Error(err)
		}
	})
}

// A search whose words no part has all of tells those that have most of them.
func TestRecallFallsBackToSomeWords(t *testing.T) {
	text := func(seq int64, s string) lathe.Message {
		return lathe.Message{Seq: seq, Info: &lathe.User{}, Parts: []lathe.Part{{Seq: 1, Body: &lathe.Text{Text: s}}}}
	}
	past := []lathe.Message{text(1, "nothing else"), text(2, "a lexer for the parser"), text(3, "the parser breaks")}
	r := newRig(t, func(e *Env) { e.History = pastOf(past...) })
	for query, want := range map[string]string{
		"parser breaks":      "3.1 user text: the parser breaks\n",
		"lexer parser tree":  "Nothing has all of these words; the most like it, newest first:\n2.1 user text: a lexer for the parser\n",
		"parser of the tree": "Nothing has all of these words; the most like it, newest first:\n3.1 user text: the parser breaks\n2.1 user text: a lexer for the parser\n",
		"zebra quagga":       "Nothing in this session contains \"zebra quagga\".\n",
	} {
		if d := cmp.Diff(want, r.ok("recall", m{"mode": "search", "query": query}).Output); d != "" {
			t.Errorf("%s (-want +got):\n%s", query, d)
		}
	}
}
