package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/styled"
)

// TestInlinePainted holds that the scrollback has every final line once and in
// order, with the region below them and the cursor in it.
func TestInlinePainted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(10, 60).Draw(t, "width"), rapid.IntRange(6, 20).Draw(t, "height")
		e := newEmulator(w, h)
		p := newInline(e, xterm, w, h)
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		line := rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("abc 漢字é─")), 0, 30, -1), func(s string) styled.Line {
			return styled.Plain("."+s, "1").Cut(w, styled.WcWidth)
		})
		var want []string
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			var final []styled.Line
			for range rapid.IntRange(0, 5).Draw(t, "final") {
				final = append(final, line.Draw(t, "line"))
				want = append(want, strings.TrimRight(final[len(final)-1].Text(), " "))
			}
			var r region
			var below []string
			for i := range rapid.IntRange(1, h-1).Draw(t, "rows") {
				row := line.Draw(t, "row")
				if i < len(p.rows) && len(final) == 0 && rapid.Bool().Draw(t, "grows") {
					row = styled.Join(p.rows[i], styled.Plain(".x", "1"))
					row[0].Text += rapid.SampledFrom([]string{"", "a", "漢", "\u0301"}).Draw(t, "more")
					row = row.Cut(w, styled.WcWidth)
				}
				r.lines = append(r.lines, row)
				below = append(below, strings.TrimRight(row.Text(), " "))
			}
			r.cursor = tea.NewCursor(rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, len(below)-1).Draw(t, "y"))
			if err := p.paint(final, r); err != nil {
				t.Fatal(err)
			}
			all := append(e.history[:len(e.history):len(e.history)], e.lines()...)
			for len(all) > 0 && all[len(all)-1] == "" {
				all = all[:len(all)-1]
			}
			if diff := cmp.Diff(append(want[:len(want):len(want)], below...), all); diff != "" {
				t.Fatalf("terminal (-want +got):\n%s", diff)
			}
			if row := len(all) - len(e.history) - len(below) + r.cursor.Y; e.y != row || e.x != r.cursor.X {
				t.Fatalf("cursor at %d,%d, want %d,%d", e.x, e.y, r.cursor.X, row)
			}
			if len(e.unknown) > 0 {
				t.Fatalf("the emulator does not know %q", e.unknown)
			}
		}
	})
}

// TestFlow streams an answer and holds that every line of it is handed over once.
func TestFlow(t *testing.T) {
	d := withHistory(t, Options{Inline: true}, question(1, "go"))
	var out []string
	flow := func() {
		for _, l := range d.app.flow() {
			out = append(out, strings.TrimRight(l.Text(), " "))
		}
	}
	flow()
	m := reply(2)
	m.Info.(*lathe.Assistant).Completed = time.Time{}
	text := part(m, 1, &lathe.Text{})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: text})
	full := ""
	for i := range 30 {
		delta := fmt.Sprintf("Paragraph %d of **text** 漢字.\n\n- a\n- b\n\n", i)
		full += delta
		d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: text.ID, Delta: delta})
		if i == 10 {
			d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
		}
		flow()
		if n := len(d.app.region().lines); n >= d.app.height {
			t.Fatalf("the region has %d of %d lines", n, d.app.height)
		}
	}
	queued := question(3, "and this")
	d.event(lathe.MessageUpdated{Message: queued}, lathe.PartUpdated{Part: queued.Parts[0]})
	flow()
	if strings.Contains(strings.Join(out, "\n"), "and this") || !strings.Contains(styled.Join(d.app.region().lines...).Text(), "queued") {
		t.Error("what is queued is handed over")
	}
	text.Body = &lathe.Text{Text: full, Time: lathe.Span{End: time.Unix(2, 0)}}
	d.event(lathe.PartUpdated{Part: text}, lathe.MessageUpdated{Message: reply(2)}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	flow()
	flow()
	want := []string{"", " -- A title --", "", " ▌ go", ""}
	want[1] = " ── A title ──"
	for i := range 30 {
		want = append(want, fmt.Sprintf("   Paragraph %d of text 漢字.", i), "", "   • a", "   • b", "")
	}
	want = append(want, "   build · acme/big · 3s", "", " ▌ and this")
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("scrollback (-want +got):\n%s", diff)
	}
}
