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
	"lathe/internal/api"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
)

// TestPicture holds the pictures of docs/screens, lathe.svg of the readme among them: real
// screens, in three sizes, on a dark and on a light terminal.
// Rewrite them with: go test ./internal/tui -run TestPicture -update-screens
func TestPicture(t *testing.T) {
	for _, p := range []struct {
		name          string
		width, height int
		light         bool
	}{
		{"lathe.svg", 96, 34, false}, {"lathe-light.svg", 96, 34, true},
		{"lathe-80x24.svg", 80, 24, false}, {"lathe-80x24-light.svg", 80, 24, true},
		{"lathe-200x60.svg", 200, 60, false}, {"lathe-200x60-light.svg", 200, 60, true},
	} {
		t.Run(p.name, func(t *testing.T) { checkPicture(t, p.name, p.width, p.height, p.light) })
	}
}

func checkPicture(t *testing.T, name string, width, height int, light bool) {
	call := func(tool string, input map[string]string, output string, meta map[string]any) *lathe.ToolCall {
		args, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{Input: args, Output: output, Metadata: meta, Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(1, 0)}}}
	}
	diff := "--- a/calc/add.go\n+++ b/calc/add.go\n@@ -3,5 +3,5 @@ package calc\n // Add returns the sum of two numbers.\n func Add(a, b int) int {\n-\treturn a - b\n+\treturn a + b\n }\n"
	commit := reply(4, &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{Input: json.RawMessage(`{"command":"git commit -m \"calc: Add adds\"","description":"Commit the change"}`)}})
	commit.Info.(*lathe.Assistant).Completed, commit.Info.(*lathe.Assistant).Finish = time.Time{}, ""
	d, f := ableTo(t, Options{Branch: func() string { return "main" }},
		question(1, "The test of Add fails. Find out why and mend it."),
		reply(2,
			&lathe.Text{Text: "I run the test first, to see it fail."},
			call("bash", map[string]string{"command": "go test ./calc", "description": "Run the tests of calc"}, "--- FAIL: TestAdd (0.00s)\n    add_test.go:9: Add(2, 3) = -1, want 5\nFAIL", map[string]any{"exit": 1}),
			call("edit", map[string]string{"filePath": "calc/add.go"}, "", map[string]any{"diff": diff}),
			call("bash", map[string]string{"command": "go test ./calc", "description": "Run the tests of calc"}, "ok  \texample.com/calc\t0.003s", map[string]any{"exit": 0}),
			&lathe.Text{Text: "`Add` subtracted. It adds now, and **the test passes**. `/undo` takes it all back."}),
		question(3, "Commit it, please."), commit)
	f.setup = &api.Setup{Version: lathe.Version, MCP: []api.Configured{{Name: "docs", Kind: "remote", State: "connected"}}, LSP: []api.Configured{{Name: "gopls", State: "connected"}}}
	ink, paper := color.Gray{0xe0}, color.Gray{0x14}
	if light {
		ink, paper = color.Gray{0x20}, color.Gray{0xfa}
	}
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	d.send(tea.BackgroundColorMsg{Color: paper})
	s := d.app.session
	s.Title = "Mend the test of Add"
	d.event(lathe.SessionStatus{SessionID: s.ID, Status: lathe.Busy{}}, lathe.SessionUpdated{Session: s}, lathe.TodoUpdated{SessionID: s.ID, Todos: []lathe.Todo{
		{Content: "find out why the test fails", Status: "completed"}, {Content: "mend Add", Status: "completed"}, {Content: "commit it", Status: "in_progress"},
	}}, lathe.SessionDiff{SessionID: s.ID, Diff: []lathe.FileDiff{{File: "calc/add.go", Additions: 1, Deletions: 1, Status: "modified"}}})
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"git commit -m \"calc: Add adds\""},
		Always: []string{"git commit *"}, Metadata: map[string]any{"command": "git commit -m \"calc: Add adds\"", "description": "Commit the change"}}})
	e := emulator.New(width, height)
	p := paint.NewScreen(e, append(slices.Clone(xterm), "CLICOLOR_FORCE=1"), width, height)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := p.Paint(d.app.View()); err != nil {
		t.Fatal(err)
	}
	got := emulator.Picture{Title: "lathe", Foreground: ink, Background: paper}.SVG(e)
	path := filepath.Join("..", "..", "docs", "screens", name)
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
		t.Errorf("the picture is stale; rewrite it with -update-screens (-want +got):\n%s", diff)
	}
}
