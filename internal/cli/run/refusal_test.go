package run

import (
	"testing"

	"lathe"
	"lathe/internal/tool"
)

func TestRuleFor(t *testing.T) {
	for _, tt := range []struct {
		ask  lathe.Ask
		want string
	}{
		{lathe.Ask{Permission: "external_directory", Patterns: []string{"/etc/*"}}, "external_directory:/etc/*"},
		{lathe.Ask{Permission: "bash", Patterns: []string{"go test ./..."}}, "bash:go test ./..."},
		{lathe.Ask{Permission: "bash", Patterns: []string{"echo it's"}}, ""},
		{lathe.Ask{Permission: "bash", Patterns: []string{"<dynamic: eval x>"}}, ""},
		{lathe.Ask{Permission: "edit", Patterns: []string{"a.go", "b.go"}}, ""},
		{lathe.Ask{Permission: "edit", Patterns: []string{".git/config"}, Metadata: map[string]any{tool.MetaProtected: true}}, ""},
		{lathe.Ask{Permission: "bash", Patterns: []string{"x"}, Metadata: map[string]any{tool.MetaAlso: []any{}}}, ""},
		{lathe.Ask{Permission: "doom_loop", Patterns: []string{"bash"}}, ""},
		{lathe.Ask{}, ""},
	} {
		if got := ruleFor(tt.ask); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.ask, got, tt.want)
		}
	}
}

// A run counts as refused when nothing that can have made up for the refusal went well
// after it.
func TestUnfinished(t *testing.T) {
	done := func(message lathe.MessageID, name string) lathe.Part {
		return lathe.Part{MessageID: message, Body: &lathe.ToolCall{Tool: name, State: &lathe.ToolDone{}}}
	}
	failed := lathe.Part{MessageID: "2", Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{}}}
	for _, tt := range []struct {
		name, tool       string
		after            []lathe.Part
		goOn, fail, stop bool
	}{
		{"nothing", "bash", nil, true, true, true},
		{"a call beside it", "bash", []lathe.Part{done("1", "bash")}, true, true, true},
		{"only looked", "bash", []lathe.Part{done("2", "read"), done("2", "grep")}, true, true, true},
		{"failed", "bash", []lathe.Part{failed}, true, true, true},
		{"another way", "bash", []lathe.Part{done("2", "write")}, false, true, true},
		{"a command in place of a change", "write", []lathe.Part{done("2", "bash")}, true, true, true},
		{"another change", "edit", []lathe.Part{done("2", "write")}, false, true, true},
		{"another file", "read", []lathe.Part{done("2", "grep")}, false, true, true},
		{"a fetch", "webfetch", []lathe.Part{done("2", "todowrite")}, true, true, true},
	} {
		var r refusals
		r.saw(done("0", "bash"))
		r.add(refusal{what: "x"}, tt.tool, &lathe.ToolRef{MessageID: "1"})
		for _, p := range tt.after {
			r.saw(p)
		}
		got := [3]bool{r.unfinished(refusalContinue), r.unfinished(refusalFail), r.unfinished(refusalStop)}
		if want := [3]bool{tt.goOn, tt.fail, tt.stop}; got != want {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
	if (&refusals{}).unfinished(refusalFail) {
		t.Error("a run in which nothing was refused counts as refused")
	}
}
