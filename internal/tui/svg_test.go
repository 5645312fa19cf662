package tui

import (
	"encoding/json"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
)

// TestPicture holds docs/screens/lathe.svg, the picture of the readme: a real screen.
// Rewrite it with: go test ./internal/tui -run TestPicture -update-screens
func TestPicture(t *testing.T) {
	call := func(tool string, input map[string]string, output string, meta map[string]any) *lathe.ToolCall {
		args, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: args, Output: output, Metadata: meta, Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(1, 0)}}}
	}
	diff := "--- a/calc/add.go\n+++ b/calc/add.go\n@@ -3,5 +3,5 @@ package calc\n // Add returns the sum of two numbers.\n func Add(a, b int) int {\n-\treturn a - b\n+\treturn a + b\n }\n"
	d, _ := ableTo(t, Options{Branch: func() string { return "main" }},
		question(1, "The test of Add fails. Find out why and mend it."),
		reply(2,
			&lathe.Text{Text: "I run the test first, to see it fail."},
			call("bash", map[string]string{"command": "go test ./calc", "description": "Run the tests of calc"}, "--- FAIL: TestAdd (0.00s)\n    add_test.go:9: Add(2, 3) = -1, want 5\nFAIL", map[string]any{"exit": 1}),
			call("edit", map[string]string{"filePath": "calc/add.go"}, "", map[string]any{"diff": diff}),
			call("bash", map[string]string{"command": "go test ./calc", "description": "Run the tests of calc"}, "ok  \texample.com/calc\t0.003s", map[string]any{"exit": 0}),
			&lathe.Text{Text: "`Add` subtracted. It adds now, and **the test passes**. `/undo` takes it all back."}))
	d.send(tea.WindowSizeMsg{Width: 96, Height: 34})
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"git commit -m \"calc: Add adds\""},
		Always: []string{"git commit *"}, Metadata: map[string]any{"command": "git commit -m \"calc: Add adds\"", "description": "Commit the change"}}})
	e := emulator.New(96, 34)
	p := paint.NewScreen(e, append(slices.Clone(xterm), "CLICOLOR_FORCE=1"), 96, 34)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.Paint(d.app.View()); err != nil {
		t.Fatal(err)
	}
	got := emulator.Picture{Title: "lathe", Foreground: color.Gray{0xe0}, Background: color.Gray{0x14}}.SVG(e)
	path := filepath.Join("..", "..", "docs", "screens", "lathe.svg")
	if *updateScreens {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the picture of the readme is stale; rewrite it with -update-screens (-want +got):\n%s", diff)
	}
}
