package turn

import (
	"testing"

	"lathe"
	"lathe/internal/llm"
)

// TestLapses holds which answers the model is asked about before they end a turn: those
// that a person would take for a stop in the middle of the work, and no others.
func TestLapses(t *testing.T) {
	for _, tt := range []struct {
		text   string
		finish lathe.Finish
		want   string
	}{
		{"", lathe.FinishStop, emptyText},
		{" \n", lathe.FinishStop, emptyText},
		{"First I look at the", lathe.FinishLength, cutAnswer},
		{"", lathe.FinishLength, cutAnswer},
		{"I found it. Let me edit main.go now.", lathe.FinishStop, announced},
		{"Good, now let me run the tests.", lathe.FinishStop, announced},
		{"The cause is clear.\n\nI'll now fix it!", lathe.FinishStop, announced},
		{"The cause is clear.\n\n**I’ll now fix it.**", lathe.FinishStop, announced},
		{"Now I will edit main.go:", lathe.FinishStop, announced},
		{"原因找到了。接下来我来修改文件。", lathe.FinishStop, announced},
		{"让我先看一下测试：", lathe.FinishStop, announced},
		{"Done.", lathe.FinishStop, ""},
		{"All tests pass. Let me know if you want more.", lathe.FinishStop, ""},
		{"Shall I go on? Let me edit it?", lathe.FinishStop, ""},
		{"I would do two things: first A, and then I'll fix B.", lathe.FinishStop, ""},
		{"Let me explain how it works. It reads a file.", lathe.FinishStop, ""},
		{"Use this:\n```go\nx:\n```", lathe.FinishStop, ""},
		{"| a | b:", lathe.FinishStop, ""},
		{"让我知道你的想法。", lathe.FinishStop, ""},
		{"<tool_call>\n{\"name\": \"edit\", \"arguments\": {}}\n</tool_call>", lathe.FinishStop, wroteCall},
		{"I edit it.\n```json\n{\"name\": \"edit\", \"parameters\": {\"a\": 1}}\n```", lathe.FinishStop, wroteCall},
		{"<function=bash>\n<parameter=command>ls</parameter>\n</function>", lathe.FinishStop, wroteCall},
		{"A call looks like <tool_call> in that format, with edit in it.", lathe.FinishStop, ""},
		{"{\"name\": \"other\", \"arguments\": {}}", lathe.FinishStop, ""},
		{"The entry is {\"name\": \"edit\", \"version\": 3}", lathe.FinishStop, ""},
	} {
		r := &Turn{History: []lathe.Message{{
			Info: &lathe.Assistant{Finish: tt.finish}, Parts: []lathe.Part{{Body: &lathe.Text{Text: tt.text}}},
		}}}
		r.offered.defs = []llm.Tool{{Name: "edit"}, {Name: "bash"}}
		if got := r.lapse(); got != tt.want {
			t.Errorf("%q: told %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestLapsesWithoutTools holds that words alone end a turn in which nothing can be called.
func TestLapsesWithoutTools(t *testing.T) {
	r := &Turn{History: []lathe.Message{{
		Info: &lathe.Assistant{Finish: lathe.FinishStop}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Let me edit it:"}}},
	}}}
	if got := r.lapse(); got != "" {
		t.Errorf("told %q", got)
	}
}
