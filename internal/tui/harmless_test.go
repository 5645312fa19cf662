package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/printable"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
)

// FuzzHarmless puts a text everywhere that text from outside is shown, and holds
// that nothing that steers a terminal reaches it.
func FuzzHarmless(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[2J\x1b]0;title\x07", "a\u202eb\u2066c", "\u009b31m\u0085", "[x](http://e\x1b]8;;\x07/)", "https://e.x/\x1b[31m\u202e",
		"# h\r\n| a\x1b | b |\n|---|---|\n", "```sh\n\x1b[8m\n```", "\x1bP1;2q\x1b\\", "\xff\xfe\x00\x08\b\b", "\u2028\u2029\ufeff\u200b\U000e0041",
		"\x1b]52;c;ZXZpbA==\x07", "\x1b]52;p;?\x1b\\", "\u009d52;c;ZXZpbA==\u009c", "\x9d52;c;ZXZpbA==\x9c", "\x1bPtmux;\x1b\x1b]52;c;ZXZpbA==\x07\x1b\\", "\x1b_Ga=T;ZXZpbA==\x1b\\",
		"\x1b]1337;File=inline=1:ZXZpbA==\x07", "\x1b]777;notify;a;b\x07", "\x1b[c\x1b[6n\x1b[21t\x05", "\x1b[5i\x1b[?1000h\x1bc\x1b#8\x1b(0\x0e\x0f",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := withHistory(t, Options{Dir: s, Branch: func() string { return s }, Start: Start{Notices: []string{s}}, User: s, Prefs: prefs.Prefs{Names: true}})
		field := func(name string) []byte {
			data, _ := json.Marshal(map[string]any{name: s, "filePath": s, "subagent_type": s, "todos": []any{map[string]any{"content": s, "status": s}}, "content": s})
			return data
		}
		q, m := question(3, s), reply(4)
		m.Info.(*lathe.Assistant).Agent, m.Info.(*lathe.Assistant).Model.Model = s, s
		list := []lathe.Event{
			lathe.SessionUpdated{Session: lathe.Session{ID: "ses_1", Title: s, Agent: s}}, lathe.TodoUpdated{SessionID: "ses_1", Todos: []lathe.Todo{{Content: s, Status: "in_progress"}}},
			lathe.MessageUpdated{Message: q}, lathe.PartUpdated{Part: q.Parts[0]}, lathe.PartUpdated{Part: part(q, 2, &lathe.File{Filename: s, MIME: s})},
			lathe.PartUpdated{Part: part(q, 3, &lathe.Subtask{Agent: s, Description: s})}, lathe.MessageUpdated{Message: m},
		}
		bodies := []lathe.PartBody{
			&lathe.Text{Text: s}, &lathe.Reasoning{Text: s}, &lathe.Retry{Error: &lathe.APIFailure{Message: s}}, &lathe.File{Filename: s},
			&lathe.ToolCall{Tool: s, State: &lathe.ToolDone{Input: field("url"), Title: s, Output: s}},
		}
		for _, name := range []string{"bash", "read", "edit", "write", "todowrite", "task", "grep", "webfetch"} {
			meta := map[string]any{"diff": "--- a\n+++ " + s + "\n@@ -1 +1 @@\n-" + s + "\n+" + s + "\n", "output": s, "summary": []any{map[string]any{"tool": s, "state": map[string]any{"title": s}}}}
			bodies = append(bodies, &lathe.ToolCall{Tool: name, State: &lathe.ToolDone{Input: field("command"), Title: s, Output: s, Metadata: meta}},
				&lathe.ToolCall{Tool: name, State: &lathe.ToolDone{Input: field("pattern"), Title: s, Output: s}},
				&lathe.ToolCall{Tool: name, State: &lathe.ToolFailed{Input: field("query"), Error: s}})
		}
		for i, b := range bodies {
			list = append(list, lathe.PartUpdated{Part: part(m, i+1, b)})
		}
		d.event(list...)
		d.app.height = 200
		d.harmless()
		d.event(lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: s, Additions: 1}}})
		d.app.side.Mcp, d.app.side.Lsp = []api.Configured{{Name: s, Kind: s, State: s}}, []api.Configured{{Name: s, Kind: s, State: s}}
		d.send(tea.WindowSizeMsg{Width: 160, Height: 200})
		d.harmless()
		d.app.apply(compose.Shelf{Composer: d.app.input}.ShowStash([]memory.Stashed{{ID: "1", At: d.now, Draft: edit.Draft{Text: s + "\n" + s}}}))
		d.harmless()
		d.press("esc")
		d.press("ctrl+x", "d", "ctrl+x", "i")
		d.harmless()
		d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Retrying{Message: s, Next: d.now.Add(time.Second)}})
		d.harmless()
		d.app.notify(dialog.Failure, s)
		d.harmless()
		d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", Permission: s, Patterns: []string{s}, Always: []string{s}, Metadata: map[string]any{"command": s, "description": s, "tool": s, "filepath": s, "content": s, "also": []any{map[string]any{"permission": s, "patterns": []any{s}, "always": []any{s}}}, "reason": s, "reasons": []any{s}, "diff": "@@ -1 +1 @@\n-" + s}}})
		d.harmless()
		d.press("esc")
		d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", Questions: []lathe.Question{{Text: s, Header: s, Options: []lathe.QuestionOption{{Label: s, Description: s}}}}}})
		d.harmless()
		d.press("esc")
		d.engine.sessions["ses_2"] = lathe.Session{ID: "ses_2", Title: s}
		for _, dialog := range []string{"l", "g", "s"} {
			d.press("ctrl+x", dialog)
			d.harmless()
			d.press("esc")
		}
	})
}

// harmless checks everything that would be written now.
func (d *driver) harmless() {
	d.t.Helper()
	check := func(where, text string) {
		if i := strings.IndexFunc(text, func(r rune) bool { return printable.Harmful(r) || r == '\n' || r == '\t' }); i >= 0 {
			d.t.Fatalf("%s holds %q: %q", where, text[i:], text)
		}
	}
	lines, _ := d.app.screen()
	for _, list := range [][]styled.Line{lines, d.app.flow()} {
		for _, l := range list {
			for _, span := range l {
				check("a line", span.Text)
				check("a link", span.Link)
				check("a style", string(span.Style))
			}
		}
	}
	check("the title", d.app.windowTitle())
}
