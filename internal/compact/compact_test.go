package compact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/tokens"
)

func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		w    compact.Window
		want int64
	}{
		{compact.Window{Context: 200_000, Output: 32_000}, 168_000},
		{compact.Window{Context: 400_000, Input: 272_000, Output: 32_000}, 252_000},
		{compact.Window{Context: 200_000, Output: 32_000, Reserved: new(10_000)}, 190_000},
		{compact.Window{Context: 8_000, Output: 32_000}, 4_000},
		{compact.Window{Output: 32_000}, 0},
	} {
		if got := tt.w.Usable(); got != tt.want {
			t.Errorf("%+v is usable up to %d, want %d", tt.w, got, tt.want)
		}
	}
}

var seq int64

func message(info lathe.MessageInfo, parts ...lathe.PartBody) lathe.Message {
	seq++
	m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d", seq)), Seq: seq, Info: info}
	for _, b := range parts {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

func asked(text string) lathe.Message { return message(&lathe.User{}, &lathe.Text{Text: text}) }

func called(tool, input string, weight int) lathe.Message {
	return message(&lathe.Assistant{Finish: lathe.FinishToolCalls}, &lathe.ToolCall{
		Tool: tool, State: &lathe.ToolDone{Input: json.RawMessage(input), Output: strings.Repeat("word ", weight)}})
}

func reading(file string, weight int) lathe.Message {
	return called("read", fmt.Sprintf(`{"filePath":%q}`, file), weight)
}

// cleared names the calls of a plan by their input.
func cleared(p compact.Plan) []string {
	var out []string
	for _, part := range p.Parts {
		c := part.Body.(*lathe.ToolCall)
		out = append(out, c.Tool+string(c.State.(*lathe.ToolDone).Input))
	}
	return out
}

func TestPruneOld(t *testing.T) {
	story := func(weights ...int) []lathe.Message {
		var out []lathe.Message
		for i, w := range weights {
			out = append(out, asked("go on"), reading(fmt.Sprint(i), w))
		}
		return append(out, asked("one"), reading("a", 90_000), asked("two"), reading("b", 90_000))
	}
	for name, tt := range map[string]struct {
		history []lathe.Message
		want    []string
	}{
		"old ones go, with the one that crosses": {story(30_000, 30_000, 30_000), []string{`read{"filePath":"0"}`, `read{"filePath":"1"}`}},
		"too little to free":                     {story(10_000, 39_000), nil},
		"the last two turns stay":                {story(), nil},
		"a skill stays":                          {append([]lathe.Message{called("skill", `{}`, 50_000)}, story(45_000)...), []string{`read{"filePath":"0"}`}},
		"it stops at a summary": {append([]lathe.Message{reading("x", 90_000), message(&lathe.Assistant{Summary: true}, &lathe.Text{Text: "s"})}, story(1_000)...),
			nil},
	} {
		if diff := cmp.Diff(tt.want, cleared(compact.PruneOld(tt.history, compact.NewMeter()))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPruneByWorth(t *testing.T) {
	history := []lathe.Message{
		asked("go"), reading("/a", 3000), reading("/b", 3000), called("bash", `{"command":"make"}`, 3000), reading("/kept", 3000),
		called("edit", `{"filePath":"/b"}`, 1), called("bash", `{"command":"make"}`, 3000), reading("/a", 3000),
		reading("/c", 3000), reading("/d", 3000),
	}
	want := []string{`read{"filePath":"/a"}`, `read{"filePath":"/b"}`, `bash{"command":"make"}`, `read{"filePath":"/kept"}`}
	plan := compact.PruneByWorth(history, compact.NewMeter(), 27_000, 40_000)
	if diff := cmp.Diff(want, cleared(plan)); diff != "" {
		t.Errorf("superseded first, then by age (-want +got):\n%s", diff)
	}
	if p := compact.PruneByWorth(history, compact.NewMeter(), 20_000, 40_000); len(p.Parts) > 0 {
		t.Errorf("half a window was pruned: %v", cleared(p))
	}
	if p := compact.PruneByWorth(history, compact.NewMeter(), 150_000, 200_000); len(p.Parts) > 0 {
		t.Errorf("a prune that does not pay: %v", cleared(p))
	}
	if p := compact.PruneByWorth(history, compact.NewMeter(), 1_000_000, 0); len(p.Parts) > 0 {
		t.Error("an unknown window was pruned")
	}
}

func TestTail(t *testing.T) {
	ten := func(*lathe.Message) int64 { return 10 }
	mark := message(&lathe.User{}, &lathe.CompactionMark{})
	sum := message(&lathe.Assistant{Summary: true}, &lathe.Text{Text: "s"})
	turns := []lathe.Message{asked("1"), reading("a", 1), asked("2"), reading("b", 1), reading("c", 1)}
	for name, tt := range map[string]struct {
		history []lathe.Message
		turns   int
		budget  int64
		want    compact.Kept
	}{
		"what fits":                   {turns, 0, 30, compact.Kept{Start: 2, Next: 1}},
		"half a turn":                 {turns, 0, 25, compact.Kept{Start: 3, Next: 2, Left: 5}},
		"nothing fits":                {turns, 0, 9, compact.Kept{Start: 5, Next: 4, Left: 9}},
		"at most one turn":            {turns, 1, 1000, compact.Kept{Start: 2, Next: -1, Left: 970}},
		"all fits: nothing stays":     {turns, 0, 1000, compact.Kept{Start: 5, Next: -1}},
		"all but the first":           {turns, 0, 45, compact.Kept{Start: 1, Next: -1, Left: 5}},
		"an old compaction is no end": {append([]lathe.Message{turns[0], mark, sum}, turns[2:]...), 0, 30, compact.Kept{Start: 3, Next: -1}},
		"all after one":               {append([]lathe.Message{mark, sum}, turns[2:]...), 0, 1000, compact.Kept{Start: 5, Next: -1}},
	} {
		if diff := cmp.Diff(tt.want, compact.Tail(tt.history, tt.turns, tt.budget, ten)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTailBudget(t *testing.T) {
	for _, tt := range []struct {
		s      compact.Settings
		usable int64
		want   int64
	}{
		{compact.Settings{}, 168_000, 15_000}, {compact.Settings{}, 4_000, 2_000}, {compact.Settings{}, 40_000, 10_000}, {compact.Settings{}, 0, 15_000},
		{compact.Settings{TailTurns: new(0)}, 40_000, 0}, {compact.Settings{PreserveRecentTokens: new(123)}, 40_000, 123},
	} {
		if got := tt.s.TailBudget(tt.usable); got != tt.want {
			t.Errorf("TailBudget(%d) = %d, want %d", tt.usable, got, tt.want)
		}
	}
}

func TestUseful(t *testing.T) {
	request := compact.Request("", nil)
	for answer, want := range map[string]bool{
		"": false, " \n": false, "ok": false, "...........................................................": false,
		request[:200]: false, "I'm sorry, but I cannot help with a request of this kind today.": false,
		"The user wants the cart ported to cents; total.go is done, tax.go is next.": true,
		"用户要把购物车改成以分计算；总额已经完成，接下来处理税额和折扣。":                                           true,
	} {
		if got := compact.Useful(answer, request, 9000); got != want {
			t.Errorf("Useful(%q) = %v", answer, got)
		}
	}
	for _, tt := range []struct {
		answer string
		of     int64 // tokens
		want   bool
	}{
		{"The user greeted.", 30, true}, {"用户打招呼", 30, true}, {"ok", 30, false}, {"Done, tests pass.", 900, true}, {"Done.", 900, false},
		{"Done.", 9000, false}, {"The typo in README.md is mended.", 100_000, true}, {"用户要修改拼写错误，已经改好。", 100_000, true},
	} {
		if got := compact.Useful(tt.answer, request, tt.of); got != tt.want {
			t.Errorf("Useful(%q) of %d tokens = %v", tt.answer, tt.of, got)
		}
	}
}

func TestRequestOverride(t *testing.T) {
	if got := compact.Request(" mine ", []string{"", "more"}); got != "mine\n\nmore" {
		t.Errorf("Request = %q", got)
	}
}

// TestTranscript holds that the parts of a transcript keep the budget, have every message
// in its order, and begin with the earlier summary.
func TestTranscript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := []lathe.Message{message(&lathe.User{}, &lathe.CompactionMark{}), message(&lathe.Assistant{Summary: true}, &lathe.Text{Text: "earlier summary"})}
		var want []string
		for i := range rapid.IntRange(1, 12).Draw(t, "messages") {
			history = append(history, asked(fmt.Sprintf("request %d", i)))
			want = append(want, fmt.Sprintf("[User]: request %d", i))
			var text strings.Builder
			for n := range rapid.IntRange(0, 900).Draw(t, "lines") {
				line := fmt.Sprintf("line %d of 文件 %d", n, i)
				text.WriteString(line + "\n")
				want = append(want, line)
			}
			history = append(history, message(&lathe.Assistant{}, &lathe.ToolCall{Tool: "read", State: &lathe.ToolDone{Output: text.String()}}))
		}
		budget := int64(rapid.IntRange(16_000, 60_000).Draw(t, "budget"))
		got := compact.NewTranscript(history, nil, budget)
		if got.Prior != "earlier summary" {
			t.Fatalf("prior %q", got.Prior)
		}
		all := ""
		for i, part := range got.Parts {
			text := got.Pass(i, "what came before")
			if n := int64(tokens.Count(text)); n > budget+budget/10+200 {
				t.Fatalf("part %d: %d tokens for a budget of %d", i, n, budget)
			}
			if !strings.Contains(text, "<prior-summary>\nwhat came before") || strings.Contains(text, "part 1.") != (i == 0 && len(got.Parts) > 1) {
				t.Fatalf("part %d begins %.300s", i, text)
			}
			all += part
		}
		for _, w := range want {
			_, rest, ok := strings.Cut(all, w)
			if !ok {
				t.Fatalf("%d parts: %q is missing or out of order", len(got.Parts), w)
			}
			all = rest
		}
	})
}

// TestTranscriptBeyondAllPasses holds that a transcript that no number of requests could
// take is cut, and keeps what is newest.
func TestTranscriptBeyondAllPasses(t *testing.T) {
	var history []lathe.Message
	for i := range 60 {
		history = append(history, asked(fmt.Sprintf("request %d", i)), reading("f", 4000))
	}
	history = append(history, asked("the newest request"))
	for _, budget := range []int64{800, 2000, 8000} {
		got := compact.NewTranscript(history, nil, budget)
		all := strings.Join(got.Parts, "")
		if len(got.Parts) > compact.MostPasses || !strings.Contains(all, "the newest request") || budget < 8000 != strings.Contains(all, "[older messages are left out]") {
			t.Errorf("budget %d: %d parts, %.200s", budget, len(got.Parts), all)
		}
	}
}

func TestShared(t *testing.T) {
	req := func(system string, messages ...string) *llm.Request {
		r := &llm.Request{System: []string{system}, Tools: []llm.Tool{{Name: "read", Schema: json.RawMessage(`{}`)}}}
		for _, m := range messages {
			r.Messages = append(r.Messages, llm.Message{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: m}}})
		}
		return r
	}
	first := compact.Prints(req("s", "a", "b"), nil)
	weighed := compact.Prints(req("s", "a", "b"), first)
	for _, tt := range []struct {
		later *llm.Request
		want  string
	}{
		{req("s", "a", "b", "c"), ""}, {req("s", "a", "x", "c"), "message 2 (user)"}, {req("t", "a", "b"), "system 1"}, {req("s", "a"), "the end of the conversation"},
	} {
		shared, differs := compact.Shared(first, compact.Prints(tt.later, first))
		if differs != tt.want || (tt.want == "") != (shared == weighed[0].Tokens+weighed[1].Tokens+weighed[2].Tokens+weighed[3].Tokens) {
			t.Errorf("shared %d, differs %q, want %q", shared, differs, tt.want)
		}
	}
}

func TestMeterFollowsPrunes(t *testing.T) {
	m := compact.NewMeter()
	msg := reading("a", 5000)
	full := m.Message(&msg)
	call := *msg.Parts[0].Body.(*lathe.ToolCall)
	done := *call.State.(*lathe.ToolDone)
	done.Compacted = time.Unix(1, 0)
	call.State = &done
	msg.Parts[0].Body = &call
	if now := m.Message(&msg); now > 100 || full < 4000 {
		t.Errorf("%d before, %d after", full, now)
	}
}

// TestTranscriptOfWhatGoes holds that a summariser is shown all of what is about to go,
// where what stays leaves the room for it.
func TestTranscriptOfWhatGoes(t *testing.T) {
	goes, stays := reading("a", 4000), reading("b", 4000)
	goes.ID, stays.ID = "1", "2"
	whole := goes.Parts[0].Body.(*lathe.ToolCall).State.(*lathe.ToolDone).Output
	history := []lathe.Message{asked("read"), goes, stays}
	budget := int64(tokens.Count(whole)) * 3 / 2
	if got := compact.NewTranscript(history, map[lathe.MessageID]bool{"2": true}, budget); len(got.Parts) != 1 || !strings.Contains(got.Parts[0], whole) {
		t.Error("what goes is cut although what stays leaves room for it")
	}
	if got := compact.NewTranscript(history, nil, budget); len(got.Parts) < 2 || strings.Count(strings.Join(got.Parts, ""), "word") < 8000 {
		t.Errorf("where both go, they do not fit one part, and both are shown: %d parts", len(got.Parts))
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add("text\xff", `{"a":1}`, "out", int64(100))
	f.Fuzz(func(t *testing.T, text, input, output string, budget int64) {
		budget %= 1 << 20
		got := compact.NewTranscript([]lathe.Message{asked(text), message(&lathe.Assistant{Summary: true}, &lathe.Text{Text: output}),
			message(&lathe.Assistant{}, &lathe.ToolCall{Tool: text, State: &lathe.ToolDone{Input: json.RawMessage(input), Output: output}})}, nil, budget)
		for i := range got.Parts {
			got.Pass(i, output)
		}
		compact.Useful(text, output, int64(len(text)))
	})
}
