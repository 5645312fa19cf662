package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/attend"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
	"lathe/internal/tui/vim"
)

// view is what is on screen and how it is drawn: the rooms, the session, and what the
// screen itself has to say. It runs nothing: events are the [App]'s business.
type view struct {
	opts   Options
	keys   *keys.Map
	prefs  *prefs.Book
	sheets sheets
	rooms
	visit
	pace
	keyboard keyboard

	look     look.Look
	height   int
	toast    toast
	noTitle  bool // the terminal's title is left alone
	sideOpen bool // the person asked for the sidebar although there is little room
	gap      int  // empty lines below the conversation, as of the last drawing
	inputTop int  // the input's first line below the conversation, as of the last drawing
}

// server is the one that the screen is attached to now; "" if it is attached to none.
func (v *view) server() string { return styled.OneLine(cmp.Or(v.link.Server, v.opts.Server)) }

// View draws the screen: the conversation, a sheet or the input, the status line.
func (v *view) View() tea.View {
	lines, cursor := v.screen()
	var b strings.Builder
	base := v.look.Theme.Base()
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if v.look.Theme.BG(theme.Background) != "" {
			l = l.Pad(v.look.Width, v.look.Method, "")
		}
		v.style.Fitted(l).Write(&b, base)
	}
	out := tea.NewView(b.String())
	out.AltScreen, out.ReportFocus, out.Cursor = true, true, cursor
	if v.opts.Mouse {
		out.MouseMode = tea.MouseModeCellMotion
	}
	out.WindowTitle, out.ProgressBar = v.windowTitle(), v.progress()
	return out
}

func (v *view) windowTitle() string {
	about := v.title()
	if v.noTitle {
		about = ""
	}
	return attend.Title(v.state(), about)
}

// screen returns exactly as many lines as the terminal has, and the caret.
func (v *view) screen() ([]styled.Line, *tea.Cursor) {
	l := v.look
	bottom, x, y := v.bottom()
	v.gap = v.gapAbove(len(bottom))
	v.conv.Resize(v.height - len(bottom) - v.gap)
	out := make([]styled.Line, 0, v.height)
	top := v.conv.Height()
	if top > 0 {
		out = append(out, v.beside(v.conversationLines(top), top)...)
	}
	top += v.gap
	for len(out) < top {
		out = append(out, nil)
	}
	out = append(out, bottom...)
	if x < 0 || y < 0 {
		return out, nil
	}
	return out, v.cursor(min(x, l.Width-1), top+y)
}

// leastAbove is how much of a conversation has to stay before a line is left empty below it.
const leastAbove = 6

// gapAbove is how many lines stay empty between the conversation and a sheet of a height, so that
// what was said does not touch what is asked.
func (v *view) gapAbove(bottom int) int {
	if v.showsInput() || v.height-bottom <= leastAbove {
		return 0
	}
	return 1
}

// below is the line on which what is below the conversation begins.
func (v *view) below() int { return v.conv.Height() + v.gap }

// cursor is the terminal's own cursor, which stands where the next letter goes: input methods
// open there. While the keys of vi are on, its shape in the input says what keys do.
func (v *view) cursor(x, y int) *tea.Cursor {
	c := tea.NewCursor(x, y)
	c.Blink, c.Shape = false, paint.OwnShape
	if mode, _ := v.input.ViMode(); mode != "" && v.showsInput() {
		c.Shape = tea.CursorBlock
		if mode == vim.Insert {
			c.Shape = tea.CursorBar
		}
	}
	return c
}

// showsInput reports whether the input is on screen: nothing is open, or the person writes
// while something waits for an answer.
func (v *view) showsInput() bool {
	return v.sheets.Top() == nil || v.sheets.Interrupted() || v.writes()
}

// bottom returns what is below the conversation, at most as high as the terminal,
// and where in it the caret stands; a negative place means that it is hidden.
func (v *view) bottom() (bottom []styled.Line, x, y int) {
	l := v.look
	last := v.statusLine()
	if v.showsInput() {
		input, ix, iy := v.drawInput()
		l.Aside = true
		bottom, _, _ = v.sheets.Draw(l, v.height-len(input))
		l.Aside = false
		bottom = append(append(bottom, v.keyboard.hint(v, l)...), v.told(l)...)
		v.inputTop = len(bottom)
		y, x = len(bottom)+iy, ix
		bottom = append(bottom, input...)
	} else {
		bottom, x, y = v.sheets.Draw(l, v.height)
		if above := v.keyboard.hint(v, l); !v.sheets.Opened() && len(above) > 0 {
			bottom, y = append(above, bottom...), y+len(above)
		}
		if more := v.told(l); len(more) > 0 { // the line with it is covered
			bottom = append(bottom, more...)
		} else if v.toast.text != "" {
			last = styled.Join(styled.Plain(" "), v.toast.line(l))
		}
	}
	bottom = append(bottom, last)
	if over := len(bottom) - v.height; over > 0 {
		bottom, y = bottom[over:], y-over
	}
	return bottom, x, y
}

func (v *view) conversationLines(height int) []styled.Line {
	v.conv.Queue(v.busy(), v.opts.Now())
	lines := v.mouse.See(v.conv)
	if len(lines) == 0 && v.conv.Empty() {
		return v.welcome(height)
	}
	if v.conv.Undone() != "" && v.conv.Following() {
		lines = append(lines, nil, v.undoneNote())
		over := max(0, len(lines)-height)
		lines = lines[over:]
		v.mouse.Scrolled(over)
	}
	return lines
}

// undoneNote says that what comes after is undone.
func (v *view) undoneNote() styled.Line {
	text := "later messages are undone; " + v.keys.For("messages_redo") + " redoes, a new message drops them"
	if !v.conv.UndoneAnswers() { // what waited when the turn was stopped
		text = "what still waited was taken back; " + v.keys.For("messages_redo") + " redoes, a new message drops it"
	}
	return styled.Plain(" "+v.look.Glyph("↶", "<")+" "+v.look.T(text), v.look.FG(theme.Warning)).Cut(v.pane().Width-1, v.look.Method)
}

// offerRows is how many completions are shown at once.
func (v *view) offerRows() int { return max(1, v.height/3) }

// rule is the line above the input, with what is happening and the session's title.
func (v *view) rule() styled.Line {
	l := v.look
	dash := l.Glyph("─", "-")
	style := l.FG(theme.Border)
	left := styled.Line{{Text: strings.Repeat(dash, 2), Style: style}}
	if v.input.IsShell() {
		left = append(left, styled.Span{Text: l.T(" shell "), Style: l.FG(theme.Warning, styled.Bold)}, styled.Span{Text: l.T("runs at once, as you "), Style: l.FG(theme.Muted)})
	}
	if mode, pending := v.input.ViMode(); mode != "" {
		left = append(left, styled.Span{Text: " " + l.T(string(mode)) + " ", Style: l.FG(theme.Secondary, styled.Bold)}, styled.Span{Text: pending, Style: l.FG(theme.Accent)})
	}
	if act := v.activity(); len(act) > 0 {
		left = styled.Join(left, styled.Plain(" "), act, styled.Plain(" "))
	}
	right := styled.Line{}
	if t := v.title(); t != "" {
		right = styled.Line{{Text: " " + t + " ", Style: l.FG(theme.Muted)}, {Text: strings.Repeat(dash, 2), Style: style}}
	}
	room := l.Width - left.Width(l.Method)
	if right.Width(l.Method) > room-4 {
		right = right.Cut(max(0, room-4), l.Method)
	}
	fill := max(0, room-right.Width(l.Method))
	return styled.Join(left, styled.Plain(strings.Repeat(dash, fill), style), right).Cut(l.Width, l.Method)
}

var (
	spinner      = [...]string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}
	spinnerASCII = [...]string{"|", "/", "-", "\\"}
)

// activity says what the turn does, or what the screen has to tell.
func (v *view) activity() styled.Line {
	l := v.look
	if v.toast.text != "" && v.toast.fits(l) {
		return v.toast.line(l)
	}
	if !v.conv.Following() {
		return styled.Plain(l.T("earlier messages; "+v.keys.For("messages_last")+" for the newest"), l.FG(theme.Info))
	}
	if !v.busy() {
		return nil
	}
	if v.lost {
		return styled.Plain(l.T("not connected; it was working when last heard of"), l.FG(theme.Warning)).Cut(l.Width-8, l.Method)
	}
	now := v.opts.Now()
	tick := int(now.UnixMilli() / 250)
	spin := spinner[tick%len(spinner)]
	if l.ASCII {
		spin = spinnerASCII[tick%len(spinnerASCII)]
	}
	text := "working"
	key := theme.Primary
	if by := v.foreign(); by != "" {
		return styled.Plain(spin+" "+l.T(fmt.Sprintf("%s works here; it asks and is stopped there", by)), l.FG(theme.Warning)).Cut(l.Width-8, l.Method)
	}
	if r, ok := v.status[v.session.ID].(lathe.Retrying); ok {
		key = theme.Warning
		text = fmt.Sprintf("%s; attempt %d in %s", styled.OneLine(r.Message), r.Attempt+1, max(0, r.Next.Sub(now)).Round(time.Second))
	}
	line := styled.Line{{Text: spin + " " + l.T(text), Style: l.FG(key)}}
	if !v.since.IsZero() {
		gap := " "
		if key == theme.Warning { // it has its own time at the end
			gap = " · "
		}
		line = append(line, styled.Span{Text: gap + look.Seconds(now.Sub(v.since)), Style: l.FG(theme.Muted)})
	}
	if !v.writes() { // there the key turns to what asks
		line = append(line, styled.Span{Text: l.T(" · " + v.keys.For("session_interrupt") + " stops"), Style: l.FG(theme.Muted)})
	}
	line = append(line, styled.Span{Text: l.T(v.doing()), Style: l.FG(theme.Accent)})
	return line.Cut(l.Width-8, l.Method)
}

// toast is something the screen has to tell for a while.
type toast struct {
	kind  dialog.Kind
	text  string
	until time.Time
	armed bool // it says that a key acts when it is pressed again
}

// notify shows a toast. A less important one does not replace an error.
func (v *view) notify(kind dialog.Kind, text string) {
	last := again
	if kind == dialog.Failure {
		last = 10 * time.Second
	}
	v.toast = toast{kind: kind, text: styled.OneLine(text), until: v.opts.Now().Add(last)}
}

func (t *toast) expire(now time.Time) {
	if t.text != "" && !now.Before(t.until) {
		*t = toast{}
	}
}

func (t *toast) styled(l look.Look) styled.Line {
	key := theme.Info
	switch t.kind {
	case dialog.Warning:
		key = theme.Warning
	case dialog.Failure:
		key = theme.Error
	}
	return styled.Plain(l.T(t.text), l.FG(key))
}

func (t *toast) line(l look.Look) styled.Line { return t.styled(l).Cut(l.Width-8, l.Method) }

// fits reports whether one line has room for it.
func (t *toast) fits(l look.Look) bool { return t.styled(l).Width(l.Method) <= l.Width-8 }

// maxTold bounds the lines of a toast.
const maxTold = 4

// told draws a toast that does not fit on one line, because what to do is said at its end.
func (v *view) told(l look.Look) []styled.Line {
	if v.toast.text == "" || v.toast.fits(l) {
		return nil
	}
	lines := styled.Wrap(v.toast.styled(l), l.Width-2, l.Method)
	if most := min(maxTold, max(1, v.height/4)); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = styled.Join(lines[most-1], styled.Plain("…")).Cut(l.Width-2, l.Method)
	}
	for i := range lines {
		lines[i] = styled.Join(styled.Plain(" "), lines[i])
	}
	return lines
}

// Used returns the tokens that fill the window, and its size.
func (v *view) Used() (used, window int64) {
	used, model := v.conv.Shown().Used()
	if used == 0 {
		return 0, 0
	}
	return used, int64(v.choice.ModelInfo(model).Context)
}
