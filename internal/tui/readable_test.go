package tui

import (
	"testing"

	"lathe"
	"lathe/internal/ledger"
)

// TestNothingForTheModelAlone holds that people see neither rules as JSON nor the
// tags that are for the model, folded or unfolded.
func TestNothingForTheModelAlone(t *testing.T) {
	var facts ledger.Facts
	facts.Add([]lathe.Message{question(1, "Never touch main.go.")})
	denied := `A rule of the user prevents this specific tool call. The rules that concern it: [{"permission":"edit","pattern":"docs/*","action":"deny"}]` // as earlier versions stored it
	d := withHistory(t, Options{}, question(1, "go"), reply(2,
		&lathe.Text{Text: "A summary."}, &lathe.Text{Text: facts.Render(ledger.Options{Recall: true}), Synthetic: true},
		&lathe.ToolCall{Tool: "read", State: &lathe.ToolDone{Title: "a.go", Output: "<path>/a.go</path>\n<type>file</type>\n<content>\n1: package a\n\n(End of file - total 1 lines)\n</content>"}},
		&lathe.ToolCall{Tool: "edit", State: &lathe.ToolFailed{Error: denied}}))
	d.shows("A summary.", "kept word for word for the model: 1 fact", `Not allowed by the rules; denied: edit "docs/*"`)
	d.hides("Never touch main.go", "recall tool")
	d.press("ctrl+x", "d")
	d.shows("│    1 package a", "Never touch main.go.")
	d.hides("<path>", "<type>", "<content>", "ledger>", `{"`)
}
