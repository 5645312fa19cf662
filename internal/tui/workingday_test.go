package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/styled"
)

// sitting is a person at a terminal: what they do, and what they see after each
// step, which must be what the screen means to show.
type sitting struct {
	t     testing.TB
	d     *driver
	e     *emulator.Terminal
	p     *paint.Screen
	size  func() (w, h int) // before each step
	w, h  int
	steps int
}

func sit(t testing.TB, size func() (int, int)) *sitting {
	s := &sitting{t: t, size: size, d: withHistory(t, Options{Mouse: true}, question(1, "first 漢字"), reply(2, &lathe.Text{Text: "An answer.\n\n- 一\n- 二"}))}
	s.w, s.h = size()
	s.e = emulator.New(s.w, s.h)
	s.p = paint.NewScreen(s.e, xterm, s.w, s.h)
	if err := s.p.Start(); err != nil {
		t.Fatal(err)
	}
	s.d.send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
	s.look()
	return s
}

// look paints and compares.
func (s *sitting) look() {
	s.t.Helper()
	s.steps++
	v := s.d.app.View()
	if err := s.p.Paint(v); err != nil {
		s.t.Fatalf("paint: %v", err)
	}
	want := s.d.lines()
	for i, l := range want {
		want[i] = styled.Simple(l)
	}
	for i, l := range want {
		if w := styled.Width(l, styled.WcWidth); w > s.w {
			s.t.Fatalf("step %d: line %d is %d wide, more than %d: %q", s.steps, i, w, s.w, l)
		}
	}
	if got := s.e.Lines(); !slices.Equal(want, got) {
		s.t.Fatalf("step %d: the terminal shows something else (-want +got):\n%s", s.steps, cmp.Diff(want, got))
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.X >= s.w || c.Y < 0 || c.Y >= s.h || c.X != s.e.X || c.Y != s.e.Y) {
		s.t.Fatalf("step %d: cursor %v on %d,%d of a screen of %dx%d", s.steps, c.Position, s.e.X, s.e.Y, s.w, s.h)
	}
	if len(s.e.Unknown) > 0 {
		s.t.Fatalf("the emulator does not know %q", s.e.Unknown)
	}
}

// do does something, at what size the terminal then has.
func (s *sitting) do(what func(d *driver)) {
	s.t.Helper()
	if w, h := s.size(); w != s.w || h != s.h {
		s.w, s.h = w, h
		s.e.Resize(w, h)
		s.p.Resize(w, h)
		s.d.send(tea.WindowSizeMsg{Width: w, Height: h})
		s.look()
	}
	s.d.now = s.d.now.Add(time.Second)
	what(s.d)
	s.look()
}

func (s *sitting) press(names ...string) {
	s.t.Helper()
	for _, n := range names {
		s.do(func(d *driver) { d.press(n) })
	}
}

func (s *sitting) event(list ...lathe.Event) {
	s.t.Helper()
	s.do(func(d *driver) { d.event(list...) })
}

// day is what a person does in a working day.
func (s *sitting) day() {
	s.t.Helper()
	s.do(func(d *driver) { d.typed("看一下 the 👩‍👩‍👧 family กำ ค่ะ") })
	s.press("alt+enter")
	s.do(func(d *driver) { d.send(tea.PasteMsg{Content: strings.Repeat("a pasted line 漢字\n", 30)}) })
	s.do(func(d *driver) { d.typed(" see @doc") })
	s.press("down", "tab", "esc", "enter")
	s.turn(3)
	s.press("ctrl+x", "i", "ctrl+x", "d", "pgup", "pgup", "home", "end", "ctrl+x", "d")
	for _, x := range []int{0, 5, s.w - 1} {
		s.do(func(d *driver) { d.send(tea.MouseClickMsg{X: x, Y: 2, Button: tea.MouseLeft}) })
		s.do(func(d *driver) { d.send(tea.MouseMotionMsg{X: s.w - 1 - x, Y: 7, Button: tea.MouseLeft}) })
		s.do(func(d *driver) { d.send(tea.MouseReleaseMsg{X: s.w - 1 - x, Y: 7, Button: tea.MouseLeft}) })
	}
	s.do(func(d *driver) { d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp}) })
	for _, dialog := range [][]string{{"ctrl+x", "m"}, {"ctrl+x", "l"}, {"ctrl+x", "g"}, {"ctrl+x", "a"}, {"ctrl+x", "t"}, {"ctrl+p"}, {"f1"}, {"ctrl+x", "s"}} {
		s.press(dialog...)
		s.press("down", "漢", "backspace", "pgdown", "esc", "esc")
	}
	s.press("tab", "shift+tab", "up", "up", "down", "ctrl+c", "esc")
	s.do(func(d *driver) { d.typed("/und") })
	s.press("enter", "esc", "esc", "ctrl+c")
	sess := lathe.Session{ID: "ses_1", Title: "タイトル 👍🏽 " + strings.Repeat("長い", 60), Agent: "plan", Cost: 1_234_567, Revert: &lathe.Revert{MessageID: "msg_3"}}
	s.event(lathe.SessionUpdated{Session: sess})
	sess.Revert = nil
	s.event(lathe.SessionUpdated{Session: sess})
	s.turn(30)
	s.press("ctrl+x", "n")
	s.do(func(d *driver) { d.typed(strings.Repeat("verylongwordwithoutblanks漢", 40)) })
	s.press("up", "up", "home", "end", "ctrl+w", "ctrl+u", "ctrl+c")
}

// turn is an answer with everything in it.
func (s *sitting) turn(id int) {
	s.t.Helper()
	q := question(id, "do it\n次の行")
	m := reply(id + 1)
	info := *m.Info.(*lathe.Assistant)
	info.Completed = time.Time{}
	m.Info = &info
	text := part(m, 2, &lathe.Text{})
	s.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: q}, lathe.PartUpdated{Part: q.Parts[0]}, lathe.MessageUpdated{Message: m})
	s.event(lathe.PartUpdated{Part: part(m, 1, &lathe.Reasoning{Text: "考える\nand think"})}, lathe.PartUpdated{Part: text})
	for _, delta := range []string{"# 見出し\n\nSome **bo", "ld** and [a link](https://e.X/漢)\n\n| 名 | b |\n|---|---|\n| 漢字 | ", "x |\n\n```go\nfunc f() { // 注釈\n", "\tx := 1\n}\n```\n\n1. one\n   - deep " + strings.Repeat("折り返し", 30) + "\n", "\x1b[2J\u202e end"} {
		s.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: text.ID, Delta: delta})
	}
	call := func(n int, name, input string, st lathe.ToolState) lathe.PartUpdated {
		return lathe.PartUpdated{Part: part(m, n, &lathe.ToolCall{Tool: name, State: st})}
	}
	in := func(s string) []byte { return []byte(s) }
	s.event(call(3, "bash", "", &lathe.ToolRunning{Input: in(`{"command":"make\nall 漢字"}`), Metadata: map[string]any{"output": "1%\r50%\r99%\n漢字\ttab"}}))
	s.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "edit", Patterns: []string{"漢字.go"}, Always: []string{"*"}, Metadata: map[string]any{"diff": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-漢字漢字\n+" + strings.Repeat("新しい", 40) + "\n same\n"}}})
	s.press("down", "up", "t", "w", "h", "y", "esc", "y")
	s.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{Text: "どれ？", Header: "選択", Multiple: true, Custom: true, Options: []lathe.QuestionOption{{Label: "一", Description: "first"}, {Label: "二"}}}}}})
	s.press("space", "down", "down", "x", "漢", "enter")
	s.event(call(3, "bash", "", &lathe.ToolDone{Input: in(`{"command":"make"}`), Output: strings.Repeat("出力 output\n", 40)}),
		call(4, "edit", "", &lathe.ToolDone{Input: in(`{"filePath":"漢.go"}`), Metadata: map[string]any{"diff": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-漢字\tx\n+漢字 y\n same\n"}}),
		call(5, "todowrite", "", &lathe.ToolDone{Input: in(`{"todos":[{"content":"やること","status":"in_progress"},{"content":"b","status":"completed"}]}`)}),
		call(6, "task", "", &lathe.ToolRunning{Input: in(`{"subagent_type":"explore","description":"見る"}`), Metadata: map[string]any{"sessionId": "ses_2", "summary": []any{map[string]any{"tool": "read", "state": map[string]any{"status": "error"}}}}}),
		call(7, "webfetch", "", &lathe.ToolFailed{Input: in(`{"url":"https://e.X/漢"}`), Error: "失敗 " + strings.Repeat("x", 300)}),
		lathe.PartUpdated{Part: part(m, 8, &lathe.Retry{Attempt: 1, Error: &lathe.APIFailure{Message: "過負荷"}})},
		lathe.PartUpdated{Part: part(m, 9, &lathe.CompactionMark{})})
	s.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Retrying{Attempt: 2, Message: "過負荷 overloaded", Next: s.d.now.Add(9 * time.Second)}})
	s.do(func(d *driver) { d.typed("queued 待つ"); d.press("enter") })
	done := info
	done.Completed = time.Unix(9, 0)
	m.Info = &done
	s.event(lathe.MessageUpdated{Message: m}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
}

func TestWorkingDay(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			s := sit(t, func() (int, int) { return size[0], size[1] })
			s.day()
		})
	}
}

// TestWorkingDayResized resizes the terminal between any two steps.
func TestWorkingDayResized(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, h := 80, 24
		s := sit(t, func() (int, int) {
			if r.IntN(4) == 0 {
				w, h = 20+r.IntN(110), 6+r.IntN(34)
			}
			return w, h
		})
		s.day()
	}
}
