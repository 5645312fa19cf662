package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// View draws the screen: the conversation, a sheet or the input, the status line.
func (a *App) View() tea.View {
	lines, cursor := a.screen()
	var b strings.Builder
	base := a.look.Theme.Base()
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if a.look.Theme.BG(theme.Background) != "" {
			l = l.Pad(a.look.Width, a.look.Method, "")
		}
		a.style.Fitted(l).Write(&b, base)
	}
	v := tea.NewView(b.String())
	v.AltScreen, v.ReportFocus, v.Cursor = true, true, cursor
	if a.opts.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = a.windowTitle()
	return v
}

func (a *App) windowTitle() string {
	if t := a.title(); t != "" && !a.noTitle {
		return "lathe · " + t
	}
	return "lathe"
}

// screen returns exactly as many lines as the terminal has, and the caret.
func (a *App) screen() ([]styled.Line, *tea.Cursor) {
	l := a.look
	bottom, x, y := a.bottom()
	a.conv.Resize(a.height - len(bottom))
	out := make([]styled.Line, 0, a.height)
	top := a.conv.Height()
	if top > 0 {
		out = append(out, a.beside(a.conversationLines(top), top)...)
	}
	for len(out) < top {
		out = append(out, nil)
	}
	out = append(out, bottom...)
	if x < 0 || y < 0 {
		return out, nil
	}
	c := tea.NewCursor(min(x, l.Width-1), top+y)
	c.Blink = false
	return out, c
}

// bottom returns what is below the conversation, at most as high as the terminal,
// and where in it the caret stands; a negative place means that it is hidden.
func (a *App) bottom() (bottom []styled.Line, x, y int) {
	l := a.look
	bottom, x, y = a.sheets.Draw(l, a.height)
	last := a.statusLine()
	if a.sheets.Top() == nil || a.sheets.Interrupted() {
		bottom = append(append(bottom, a.hint(l)...), a.told(l)...)
		input, ix, iy := a.drawInput()
		y, x = len(bottom)+iy, ix
		bottom = append(bottom, input...)
	} else {
		if above := a.hint(l); !a.sheets.Opened() && len(above) > 0 {
			bottom, y = append(above, bottom...), y+len(above)
		}
		if more := a.told(l); len(more) > 0 { // its place is covered
			bottom = append(bottom, more...)
		} else if a.toast.text != "" {
			last = styled.Join(styled.Plain(" "), a.toast.line(l))
		}
	}
	bottom = append(bottom, last)
	if over := len(bottom) - a.height; over > 0 {
		bottom, y = bottom[over:], y-over
	}
	return bottom, x, y
}

func (a *App) conversationLines(height int) []styled.Line {
	a.conv.Queue(a.busy(), a.opts.Now())
	lines := a.mouse.See(a.conv)
	if len(lines) == 0 && a.conv.Empty() {
		return a.welcome(height)
	}
	if a.conv.Undone() != "" && a.conv.Following() {
		lines = append(lines, nil, a.undoneNote())
		over := max(0, len(lines)-height)
		lines = lines[over:]
		a.mouse.Scrolled(over)
	}
	return lines
}

// undoneNote says that what comes after is undone.
func (a *App) undoneNote() styled.Line {
	return styled.Plain(" "+a.look.Glyph("↶", "<")+" later messages are undone; "+
		a.keys.For("messages_redo")+" redoes, a new message drops them", a.look.FG(theme.Warning)).Cut(a.pane().Width-1, a.look.Method)
}

// offerRows is how many completions are shown at once.
func (a *App) offerRows() int { return max(1, a.height/3) }

func (a *App) drawInput() (lines []styled.Line, x, y int) {
	l := a.look
	key := theme.Primary
	if names := a.choice.AgentName(); names != "" && names != "build" {
		key = theme.Secondary
	}
	text := a.input.Text()
	mark, hint := l.Glyph(" ❯ ", " > "), "ask anything"
	if strings.HasPrefix(text, "!") {
		key = theme.Warning
	}
	if a.busy() {
		hint = "write on; it is taken up at the next step"
	}
	if a.session.ParentID != "" {
		hint = "a subagent works here; " + a.keys.For("session_parent") + " goes back"
	}
	rule := a.rule(key)
	offers := a.input.DrawOffer(l, a.offerRows())
	body, x, y := a.input.Draw(l, styled.Plain(mark, l.FG(key, styled.Bold)), hint)
	lines = append(append(append(lines, offers...), rule), body...)
	return lines, x, y + len(offers) + 1
}

// rule is the line above the input, with what happens and the session's title.
func (a *App) rule(key theme.Key) styled.Line {
	l := a.look
	dash := l.Glyph("─", "-")
	style := l.FG(theme.Border)
	left := styled.Line{{Text: strings.Repeat(dash, 2), Style: style}}
	if act := a.activity(); len(act) > 0 {
		left = styled.Join(left, styled.Plain(" "), act, styled.Plain(" "))
	}
	right := styled.Line{}
	if t := a.title(); t != "" {
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
func (a *App) activity() styled.Line {
	l := a.look
	if a.toast.text != "" && a.toast.fits(l) {
		return a.toast.line(l)
	}
	if !a.conv.Following() {
		return styled.Plain("earlier messages; "+a.keys.For("messages_last")+" for the newest", l.FG(theme.Info))
	}
	if !a.busy() {
		return nil
	}
	if a.lost {
		return styled.Plain("not connected; it was working when last heard of", l.FG(theme.Warning)).Cut(l.Width-8, l.Method)
	}
	now := a.opts.Now()
	tick := int(now.UnixMilli() / 250)
	spin := spinner[tick%len(spinner)]
	if l.ASCII {
		spin = spinnerASCII[tick%len(spinnerASCII)]
	}
	text := "working"
	key := theme.Primary
	if r, ok := a.status[a.session.ID].(lathe.Retrying); ok {
		key = theme.Warning
		text = fmt.Sprintf("%s; attempt %d in %s", styled.OneLine(r.Message), r.Attempt+1, max(0, r.Next.Sub(now)).Round(time.Second))
	}
	line := styled.Line{{Text: spin + " " + text, Style: l.FG(key)}}
	if !a.since.IsZero() {
		gap := " "
		if key == theme.Warning { // it ends with a time of its own
			gap = " · "
		}
		line = append(line, styled.Span{Text: gap + look.Seconds(now.Sub(a.since)), Style: l.FG(theme.Muted)})
	}
	line = append(line, styled.Span{Text: " · " + a.keys.For("session_interrupt") + " stops", Style: l.FG(theme.Muted)},
		styled.Span{Text: a.doing(), Style: l.FG(theme.Accent)})
	return line.Cut(l.Width-8, l.Method)
}

// toast is something the screen has to tell for a while.
type toast struct {
	kind  dialog.Kind
	text  string
	until time.Time
}

// notify shows a toast. One that tells of an error is not pushed aside by less.
func (a *App) notify(kind dialog.Kind, text string) {
	last := again
	if kind == dialog.Failure {
		last = 10 * time.Second
	}
	a.toast = toast{kind, styled.OneLine(text), a.opts.Now().Add(last)}
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
	return styled.Plain(t.text, l.FG(key))
}

func (t *toast) line(l look.Look) styled.Line { return t.styled(l).Cut(l.Width-8, l.Method) }

// fits reports whether one line has room for it.
func (t *toast) fits(l look.Look) bool { return t.styled(l).Width(l.Method) <= l.Width-8 }

// maxTold bounds the lines of a toast.
const maxTold = 4

// told draws a toast that one line has no room for: what to do stands at its end.
func (a *App) told(l look.Look) []styled.Line {
	if a.toast.text == "" || a.toast.fits(l) {
		return nil
	}
	lines := styled.Wrap(a.toast.styled(l), l.Width-2, l.Method)
	if most := min(maxTold, max(1, a.height/4)); len(lines) > most {
		lines = lines[:most]
		lines[most-1] = styled.Join(lines[most-1], styled.Plain("…")).Cut(l.Width-2, l.Method)
	}
	for i := range lines {
		lines[i] = styled.Join(styled.Plain(" "), lines[i])
	}
	return lines
}

// contextUsed returns the tokens that fill the window, and its size.
func (a *App) contextUsed() (used, window int64) {
	used, model := a.conv.Used()
	if used == 0 {
		return 0, 0
	}
	return used, int64(a.choice.ModelInfo(model).Context)
}
