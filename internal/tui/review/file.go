package review

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/diff"
	"lathe/internal/say"
	"lathe/internal/tui/change"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	wholeFile   = 1 << 20 // more context than a file has lines
	hunkContext = 3       // around a change where not all of the file is shown
	sideStep    = 16      // cells by which long lines move
)

// file is a sheet with one file: all of it with the changes in place, or only these.
type file struct {
	list   *overview
	prompt api.Reviewed
	change api.ReviewedFile
	hunks  []diff.Hunk
	lines  []line
	digits int  // of the numbers of lines
	whole  bool // all of the file is shown
	at     int
	top    int
	left   int // cells that are scrolled out on the left
	first  int
}

// line is a line of the file, or of what it was.
type line struct {
	op       byte // ' ', '-', '+', or '~' where lines are left out
	old, new int
	text     string
	hunk     int // from 1; 0: none
}

const (
	keysOfFile      = "n next hunk · p the one before · c comment · s stage hunk · space looked at · f whole file · esc back"
	keyOfTakingBack = "x take hunk back"
)

// fixed reports whether none of it can be taken back: it is a comparison, or was taken back.
func (f *file) fixed() bool { return f.list.fixed || f.prompt.Taken }

// keys are those that do something in it.
func (f *file) keys() string {
	if f.fixed() {
		return keysOfFile
	}
	return strings.Replace(keysOfFile, "s stage", keyOfTakingBack+" · s stage", 1)
}

func newFile(o *overview, p api.Reviewed, c api.ReviewedFile) *file {
	f := &file{list: o, prompt: p, change: c, hunks: diff.Hunks(c.Before, c.After, 0), whole: true}
	f.layout()
	f.next(1)
	return f
}

// layout makes the lines.
func (f *file) layout() {
	context := hunkContext
	if f.whole {
		context = wholeFile
	}
	f.lines, f.digits = nil, change.Digits(1+max(strings.Count(f.change.Before, "\n"), strings.Count(f.change.After, "\n")))
	for i, h := range diff.Hunks(f.change.Before, f.change.After, context) {
		if i > 0 || h.OldStart > 1 {
			f.lines = append(f.lines, line{op: '~'})
		}
		before, after := h.OldStart, h.NewStart
		for _, l := range h.Lines {
			out := line{op: " -+"[l.Op], text: strings.TrimSuffix(styled.Clean(l.Text), "\n")}
			if l.Op != diff.Insert {
				out.old = before
				before++
			}
			if l.Op != diff.Delete {
				out.new = after
				after++
			}
			out.hunk = f.hunkOf(out)
			f.lines = append(f.lines, out)
		}
	}
	f.at = max(0, min(f.at, len(f.lines)-1))
}

// hunkOf returns which hunk a changed line belongs to.
func (f *file) hunkOf(l line) int {
	for i, h := range f.hunks {
		if l.op == '-' && l.old >= h.OldStart && l.old < h.OldStart+h.OldLines || l.op == '+' && l.new >= h.NewStart && l.new < h.NewStart+h.NewLines {
			return i + 1
		}
	}
	return 0
}

// Tall says that it takes the whole screen.
func (f *file) Tall() bool { return true }

// Paste does nothing.
func (f *file) Paste(string) {}

// Wheel moves through the lines.
func (f *file) Wheel(by int) bool {
	f.move(by)
	return true
}

func (f *file) move(by int) { f.at = max(0, min(f.at+by, len(f.lines)-1)) }

// Click marks a line.
func (f *file) Click(_ dialog.Host, y int) tea.Msg {
	if i := f.top + y - f.first; y >= f.first && i >= 0 && i < len(f.lines) {
		f.at = i
	}
	return nil
}

// next goes to the first line of another hunk.
func (f *file) next(by int) {
	now := 0
	if f.at < len(f.lines) {
		now = f.lines[f.at].hunk
	}
	for i := f.at; i >= 0 && i < len(f.lines); i += by {
		if h := f.lines[i].hunk; h > 0 && h != now {
			for i > 0 && f.lines[i-1].hunk == h {
				i--
			}
			f.at = i
			return
		}
	}
}

// Key moves and acts.
func (f *file) Key(_ dialog.Host, k tea.KeyPressMsg) tea.Msg {
	switch stroke := dialog.Stroke(k); stroke {
	case "esc", "ctrl+c", "q":
		return dialog.Close{Sheet: f}
	case "up", "k":
		f.move(-1)
	case "down", "j":
		f.move(1)
	case "pgup":
		f.move(-10)
	case "pgdown":
		f.move(10)
	case "home":
		f.move(-len(f.lines))
	case "end":
		f.move(len(f.lines))
	case "left":
		f.left = max(0, f.left-sideStep)
	case "right":
		f.left += sideStep
	case "n", "tab":
		f.next(1)
	case "p", "shift+tab":
		f.next(-1)
	case "f":
		f.whole = !f.whole
		f.again()
	case "space":
		return f.list.room.look(f.list.session, []string{f.change.Key()}, !f.list.room.looked[f.change.Key()])
	default:
		return f.act(stroke)
	}
	return nil
}

// again lays the lines out anew and stays at the line it was at.
func (f *file) again() {
	if len(f.lines) == 0 {
		return
	}
	was := f.lines[f.at]
	f.layout()
	for i, l := range f.lines {
		if l.op == was.op && l.old == was.old && l.new == was.new {
			f.at = i
			return
		}
	}
}

// act does something with the line that is marked.
func (f *file) act(stroke string) tea.Msg {
	if len(f.lines) == 0 {
		return nil
	}
	l := f.lines[f.at]
	switch stroke {
	case "c":
		return f.comment(l)
	case "x", "s":
	default:
		return nil
	}
	switch {
	case l.hunk == 0:
		return dialog.Tell{Kind: dialog.Warning, Text: "go to a changed line first: n goes to the next hunk"}
	case stroke == "s":
		return f.stage(l.hunk)
	case f.fixed():
		return dialog.Tell{Kind: dialog.Warning, Text: "only what a prompt changed can be taken back: open the file below its prompt"}
	}
	what := fmt.Sprintf("hunk %d of %s", l.hunk, styled.OneLine(f.change.File))
	return f.list.room.takeBack(f.list, api.TakeBack{Message: f.prompt.Message, File: f.change.File, Hunk: l.hunk}, what, f)
}

// stage puts a hunk into git's index.
func (f *file) stage(hunk int) tea.Msg {
	return f.list.room.stage(f.list.session, api.Stage{
		Message: f.prompt.Message, Until: f.list.until, Files: []string{f.change.File}, Hunk: hunk, Change: f.change.Key(),
	})
}

// comment asks for a remark about a line.
func (f *file) comment(l line) tea.Msg {
	place := fmt.Sprintf("%s:%d", f.change.File, max(l.new, l.old, 1))
	if l.op == '-' {
		place += " (a removed line)"
	}
	return dialog.Open{Sheet: &dialog.Field{
		Title: "comment on " + styled.OneLine(place), Hint: "enter puts it into the input",
		Done: func(text string) tea.Msg {
			if text == "" {
				return nil
			}
			return Comment{place + ": " + text}
		},
	}}
}

// Draw shows the lines that fit.
func (f *file) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title(l.Ending(styled.OneLine(f.change.File), l.Width/2), f.where(l))}
	hint := styled.Wrap(styled.Plain(l.Hint(f.keys()), l.FG(theme.Muted)), l.Width-3, l.Method)
	if len(hint) > height/3 {
		hint = nil
	}
	f.first = 1
	room := max(1, height-1-len(hint))
	f.top = max(0, min(f.top, f.at-min(2, room/3)), f.at-room+1+min(2, room/3))
	f.top = max(0, min(f.top, len(f.lines)-room))
	if len(f.lines) == 0 {
		out = append(out, l.Row(styled.Plain(l.T("its text is not known: it is binary, very large, or only its permission bits changed"), l.FG(theme.Muted)), false))
	}
	for i := f.top; i < min(len(f.lines), f.top+room); i++ {
		out = append(out, f.draw(l, f.lines[i], i == f.at))
	}
	for _, h := range hint {
		out = append(out, l.Row(h, false))
	}
	return out, -1, 0
}

// where says which hunk the marked line belongs to.
func (f *file) where(l look.Look) string {
	text := say.Plural(len(f.hunks), "hunk")
	if len(f.lines) > 0 && f.lines[f.at].hunk > 0 {
		text = fmt.Sprintf("hunk %d of %d", f.lines[f.at].hunk, len(f.hunks))
	}
	if f.list.room.looked[f.change.Key()] {
		text = l.Glyph("☑ ", "[x] ") + l.T("looked at") + l.Glyph(" · ", " - ") + l.T(text)
	}
	return text
}

func (f *file) draw(l look.Look, n line, marked bool) styled.Line {
	if n.op == '~' {
		return l.Row(styled.Plain(l.Glyph("⋯", "..."), l.FG(theme.DiffHunk)), marked)
	}
	style, bg := l.FG(theme.Text), styled.Style("")
	switch n.op {
	case '+':
		style, bg = l.FG(theme.DiffAdded), l.Theme.BG(theme.DiffAddedBg)
	case '-':
		style, bg = l.FG(theme.DiffRemoved), l.Theme.BG(theme.DiffRemovedBg)
	}
	out := styled.Line{{Text: change.Number(n.old, f.digits) + change.Number(n.new, f.digits), Style: l.FG(theme.DiffNumber)}, {Text: string(n.op) + " ", Style: style}, {Text: beyond(n.text, f.left, l.Method), Style: style}}
	if marked || bg == "" {
		return l.Row(out, marked)
	}
	return append(styled.Line{{Text: "  "}}, out...).Cut(l.Width, l.Method).Pad(l.Width, l.Method, "").Over(bg)
}

// beyond leaves out the first cells of a text.
func beyond(text string, cells int, m styled.Method) string {
	for cells > 0 && text != "" {
		c, w := styled.Cluster(text, m)
		text, cells = text[len(c):], cells-w
	}
	return text
}
