package tui

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
)

// TestInputMethodsOpenAtTheCaret holds for each place where text is written, on a small and on a
// large screen, that the terminal's own cursor stands right behind what was written last: input
// methods open their window there.
func TestInputMethodsOpenAtTheCaret(t *testing.T) {
	long := strings.Repeat("長い文章を", 30)
	ask := lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"rm x"}, Always: []string{"rm *"}}
	for _, tt := range []struct {
		name  string
		open  []string
		event lathe.Event
		text  string
	}{
		{name: "input", text: "変換中"},
		{name: "input of several lines", text: "一行目\n二行目\n三"},
		{name: "input that wraps", text: long},
		{name: "sessions' search", open: []string{"ctrl+x", "l"}, text: "検索"},
		{name: "models' search, long", open: []string{"ctrl+x", "m"}, text: long},
		{name: "find in the conversation", open: []string{"ctrl+x", "/"}, text: long},
		{name: "help's search", open: []string{"f1", "/"}, text: long},
		{name: "new title", open: []string{"ctrl+x", "l", "ctrl+r"}, text: long},
		{name: "why not", event: lathe.PermissionAsked{Ask: ask}, open: []string{"t"}, text: long},
		{name: "own pattern", event: lathe.PermissionAsked{Ask: ask}, open: []string{"a", "e"}, text: long},
		{name: "own answer", event: lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{Text: "Which?", Custom: true, Options: []lathe.QuestionOption{{Label: "one"}}}}}}, open: []string{"down"}, text: long},
	} {
		for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 12}} {
			d := withHistory(t, Options{}, question(1, "first"), reply(2, &lathe.Text{Text: "An answer."}))
			e := emulator.New(size[0], size[1])
			p := paint.NewScreen(e, xterm, size[0], size[1])
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			if tt.event != nil {
				d.event(tt.event)
			}
			d.press(tt.open...)
			last := ""
			for _, r := range tt.text {
				if r == '\n' {
					d.press("ctrl+j")
					continue
				}
				d.typed(string(r))
				last = string(r)
			}
			if err := p.Paint(d.app.View()); err != nil {
				t.Fatal(err)
			}
			row := e.Lines()[e.Y]
			if before := styled.Plain(row).Cut(e.X+1, styled.WcWidth).Text(); !strings.HasSuffix(strings.TrimSuffix(before, "…"), last) {
				t.Errorf("%s at %v: the cursor is in column %d behind %q, not %q, in:\n%s", tt.name, size, e.X, before, last, strings.Join(e.Lines(), "\n"))
			}
		}
	}
}

// TestComposedText holds that what an input method hands over arrives as text, also from
// terminals that report it with the key: as plain text, as a key with its text, and as a paste.
func TestComposedText(t *testing.T) {
	f := oneQuestion()
	s := startSession(t, f, 80, 24)
	s.out.waitFor(t, "A title")
	fmt.Fprint(s.in, "漢字", "\x1b[0;;20320:22909u", "\x1b[97;;97u", "\x1b[200~かな\x1b[201~")
	s.out.waitFor(t, "漢字你好aかな")
	s.leave(t)
}

// TestCaretTellsTheMode holds the shape of the cursor with the keys of vi, and that the terminal
// gets its own back at the end, and when the screen crashes.
func TestCaretTellsTheMode(t *testing.T) {
	for _, inline := range []bool{false, true} {
		d := withHistory(t, Options{Prefs: prefs.Prefs{Vim: true}, Inline: inline}, question(1, "x"))
		e := emulator.New(80, 24)
		screen, live := paint.NewScreen(e, xterm, 80, 24), paint.NewInline(e, xterm, 80, 24)
		show := func(want string) {
			t.Helper()
			err := error(nil)
			if inline {
				err = live.Paint(d.app.flow(), d.app.region())
			} else {
				err = screen.Paint(d.app.View())
			}
			if err != nil || e.Caret != want {
				t.Errorf("inline %t: the caret is %q, want %q (%v)", inline, e.Caret, want, err)
			}
		}
		if err := screen.Start(); err != nil {
			t.Fatal(err)
		}
		if err := live.Start(); err != nil {
			t.Fatal(err)
		}
		show("6")
		d.typed("ab")
		d.press("esc")
		show("2")
		d.typed("v")
		show("2")
		d.press("esc", "ctrl+x", "l")
		show("0")
		d.press("esc")
		show("2")
		if err := screen.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := live.Stop(); err != nil {
			t.Fatal(err)
		}
		if e.Caret != "0" {
			t.Errorf("inline %t: it stays %q", inline, e.Caret)
		}
	}
	d := withHistory(t, Options{}, question(1, "x"))
	var out bytes.Buffer
	if err := paint.NewScreen(&out, xterm, 80, 24).Paint(d.app.View()); err != nil || strings.Contains(out.String(), " q") {
		t.Errorf("without the keys of vi it is told a shape: %q", out.String())
	}
}

// TestCrashGivesTheTerminalBack holds that a command which panics ends the screen, not the
// terminal with it.
func TestCrashGivesTheTerminalBack(t *testing.T) {
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer r.Close()
	out := &lockedEmulator{Terminal: emulator.New(80, 24)}
	var all bytes.Buffer
	app := New(t.Context(), Options{Engine: broken{oneQuestion()}, Start: Start{Session: "ses_1"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "on purpose") {
				t.Errorf("it ended with %v", r)
			}
		}()
		_ = Run(ctx, app, Terminal{In: r, Out: &both{out, &all}, Env: xterm, Width: 80, Height: 24})
	}()
	if !strings.Contains(all.String(), "\x1b[?1049l") {
		t.Errorf("the other screen stays: %q", all.String())
	}
}

// broken is an engine that panics when a session is read.
type broken struct{ *fakeEngine }

func (broken) Get(context.Context, lathe.SessionID) (lathe.Session, error) { panic("on purpose") }

// both writes to a terminal and keeps what was written.
type both struct {
	to   *lockedEmulator
	kept *bytes.Buffer
}

func (b *both) Write(p []byte) (int, error) {
	b.kept.Write(p)
	return b.to.Write(p)
}
