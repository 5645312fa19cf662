package paint

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/styled"
)

var xterm = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}

// TestPainted holds that a terminal shows what a view says, whatever was on it
// before, and the cursor where the view has it.
func TestPainted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(10, 90).Draw(t, "width"), rapid.IntRange(3, 30).Draw(t, "height")
		e := emulator.New(w, h)
		p := NewScreen(e, xterm, w, h)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		line := rapid.StringOfN(rapid.RuneFrom([]rune("abc   漢字é─│")), 0, 40, -1)
		var rows []string
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			if rapid.IntRange(0, 4).Draw(t, "resize") == 0 {
				w, h = rapid.IntRange(10, 90).Draw(t, "width"), rapid.IntRange(3, 30).Draw(t, "height")
				e.Resize(w, h)
				p.Resize(w, h)
			}
			if n := rapid.IntRange(0, len(rows)).Draw(t, "scrolled"); n > 0 {
				rows = append([]string{}, rows[n:]...)
			}
			for len(rows) < h {
				rows = append(rows, line.Draw(t, "line"))
			}
			rows = rows[:h]
			var want, content []string
			for _, r := range rows {
				cut := []rune{}
				used := 0
				for _, c := range r {
					n := 1
					if c > 0x3000 {
						n = 2
					}
					if used += n; used > w {
						break
					}
					cut = append(cut, c)
				}
				want = append(want, strings.TrimRight(string(cut), " "))
				content = append(content, "\x1b[38;2;1;2;3m"+string(cut)+"\x1b[m")
			}
			v := tea.NewView(strings.Join(content, "\n"))
			v.Cursor = tea.NewCursor(rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y"))
			if err := p.Paint(v); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, e.Lines()); diff != "" {
				t.Fatalf("screen (-want +got):\n%s", diff)
			}
			if e.X != v.Cursor.X || e.Y != v.Cursor.Y {
				t.Fatalf("cursor at %d,%d, want %v", e.X, e.Y, v.Cursor.Position)
			}
			if len(e.Unknown) > 0 {
				t.Fatalf("the emulator does not know %q", e.Unknown)
			}
		}
	})
}

// TestInlinePainted holds that the scrollback has every final line once and in
// order, with the region below them and the cursor in it.
func TestInlinePainted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(10, 60).Draw(t, "width"), rapid.IntRange(6, 20).Draw(t, "height")
		e := emulator.New(w, h)
		p := NewInline(e, xterm, w, h)
		if err := p.Start(); err != nil {
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
			var r Region
			var below []string
			for i := range rapid.IntRange(1, h-1).Draw(t, "rows") {
				row := line.Draw(t, "row")
				if i < len(p.rows) && len(final) == 0 && rapid.Bool().Draw(t, "grows") {
					row = styled.Join(p.rows[i], styled.Plain(".x", "1"))
					row[0].Text += rapid.SampledFrom([]string{"", "a", "漢", "\u0301"}).Draw(t, "more")
					row = row.Cut(w, styled.WcWidth)
				}
				r.Lines = append(r.Lines, row)
				below = append(below, strings.TrimRight(row.Text(), " "))
			}
			r.Cursor = tea.NewCursor(rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, len(below)-1).Draw(t, "y"))
			if err := p.Paint(final, r); err != nil {
				t.Fatal(err)
			}
			all := append(e.History[:len(e.History):len(e.History)], e.Lines()...)
			for len(all) > 0 && all[len(all)-1] == "" {
				all = all[:len(all)-1]
			}
			if diff := cmp.Diff(append(want[:len(want):len(want)], below...), all); diff != "" {
				t.Fatalf("terminal (-want +got):\n%s", diff)
			}
			if row := len(all) - len(e.History) - len(below) + r.Cursor.Y; e.Y != row || e.X != r.Cursor.X {
				t.Fatalf("cursor at %d,%d, want %d,%d", e.X, e.Y, r.Cursor.X, row)
			}
			if len(e.Unknown) > 0 {
				t.Fatalf("the emulator does not know %q", e.Unknown)
			}
		}
	})
}

func TestFewColors(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want bool
	}{
		{[]string{"TERM=linux"}, true},
		{[]string{"TERM=xterm-16color"}, true},
		{[]string{"TERM=xterm-256color"}, false},
		{[]string{"TERM=xterm", "COLORTERM=truecolor"}, false},
		{[]string{"TERM=screen", "TMUX=x"}, false},
		{[]string{"TERM=xterm-256color", "NO_COLOR=yes"}, false},
	} {
		if got := FewColors(tt.env); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}
