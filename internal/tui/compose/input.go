// Package compose is where the person writes: the input with its completions, earlier
// prompts, drafts, texts put aside, and pictures that are pasted or dropped.
package compose

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/clip"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
	"lathe/internal/tui/vim"
)

// maxInputRows bounds the height of the input; longer text scrolls in it.
const maxInputRows = 10

// Composer is where the person writes: the editor, what it offers to complete, what
// was sent before, and drafts.
type Composer struct {
	edit.Editor
	host   Host
	access *engine.Access
	choice *choice.Choice
	past
	drafts
	clipboard *clip.Clipboard // nil: the terminal's alone
	commands  func(query string) []Completion
	editor    []string // the person's own; empty: none

	offer    offer
	vi       vim.Vim
	width    int
	method   styled.Method
	drafting bool // the draft will be kept after a pause
}

// Host is what the room has to know about the screen.
type Host interface {
	dialog.Host
	Session() lathe.Session // on screen
	Now() time.Time
}

// What the room wants done.
type (
	// Submit sends what is written.
	Submit struct{}
	// Writing says that the person writes.
	Writing struct{}
)

// New returns an empty input. commands returns the completions of a word after
// "/".
func New(h Host, access *engine.Access, c *choice.Choice, m *memory.Memory, board *clip.Clipboard, editor []string, commands func(string) []Completion) *Composer {
	i := &Composer{host: h, access: access, choice: c, past: past{memory: m}, clipboard: board, editor: editor, commands: commands, drafts: drafts{map[lathe.SessionID]edit.Editor{}, m}}
	i.past.recall()
	return i
}

// Begin loads the draft of the session that is now on screen.
func (i *Composer) Begin(id lathe.SessionID) { i.Editor = i.drafts.of(id) }

// Resume adds what was typed while the session was being read to its draft.
func (i *Composer) Resume(typed edit.Editor) tea.Msg {
	if typed.Empty() {
		return nil
	}
	i.Below(typed)
	return i.Changed()
}

// Put keeps what is written as the draft of the session that is left, and empties
// the input.
func (i *Composer) Put() tea.Msg {
	i.drafts.put(i.host.Session().ID, i.Editor)
	err := i.Keep()
	i.Reset()
	return dialog.Fail(err)
}

// Clear empties the input, and remembers what was written.
func (i *Composer) Clear() tea.Msg {
	i.history.Add(i.Value())
	i.Reset()
	return i.Changed()
}

// Done empties the input after a command of the screen. What was kept of it before the whole
// command stood there is forgotten after a pause.
func (i *Composer) Done(remember bool) tea.Msg {
	if remember {
		i.history.Add(i.Value())
	}
	i.Reset()
	i.vi.Writes()
	i.offer = offer{}
	return i.draftLater()
}

// Sent empties the input after its text was sent, and remembers it.
func (i *Composer) Sent() tea.Msg {
	kept := i.past.sent(i.host.Session().ID, i.Value())
	i.vi.Writes()
	i.Reset()
	i.offer = offer{}
	return kept
}

// Add adds a text below what is written.
func (i *Composer) Add(text string) tea.Msg {
	var more edit.Editor
	more.Paste(text)
	i.Below(more)
	return i.Changed()
}

// Append adds a text at the end of what is written.
func (i *Composer) Append(text string) tea.Msg {
	i.DoShown(keys.BufferEnd, i.width, i.method)
	i.Paste(text)
	return i.Changed()
}

// Write types a text.
func (i *Composer) Write(text string) tea.Msg {
	i.Type(text)
	return i.Changed()
}

// Act carries out an action of writing, and reports whether it is one.
func (i *Composer) Act(act keys.Action) (tea.Msg, bool) {
	if !i.DoShown(act, i.width, i.method) {
		return nil, false
	}
	return dialog.All{Writing{}, i.Changed()}, true
}

// Click chooses a Completion or puts the caret to where it was clicked. y counts from
// the first line, as drawn with at most that many Completions.
func (i *Composer) Click(x, y, most int) tea.Msg {
	offers := len(i.DrawOffer(i.host.Look(), most))
	if y < offers {
		i.offer.at = i.offer.first(most) + y
		return i.chosen()
	}
	if row := y - offers - 1; row >= 0 {
		i.put(x, row)
	}
	return nil
}

// chosen completes to the item that is marked.
func (i *Composer) chosen() tea.Msg {
	if i.choose() {
		return Submit{}
	}
	return i.Changed()
}

func (i *Composer) Resize(width int, m styled.Method) { i.width, i.method = max(width-3, 8), m }

// word returns the word at the caret that can be completed: "@file" anywhere,
// "/command" at the very start.
func (i *Composer) word() (kind byte, from int, query string) {
	text := i.Text()[:i.Caret()]
	from = strings.LastIndexAny(text, " \n") + 1
	w := text[from:]
	switch {
	case w == "":
	case w[0] == '/' && from == 0:
		return '/', from, w[1:]
	case w[0] == '@':
		return '@', from, w[1:]
	}
	return 0, 0, ""
}

// watch follows the word at the caret and reports whether Completions for it have
// to be looked for.
func (i *Composer) watch() bool {
	kind, from, query := i.word()
	if kind == 0 || i.offer.off == i.Text()[from:i.Caret()] {
		off := i.offer.off
		if kind == 0 {
			off = ""
		}
		i.offer = offer{off: off}
		return false
	}
	if kind == i.offer.kind && from == i.offer.from && query == i.offer.query {
		return false
	}
	keep := i.offer.items
	if kind != i.offer.kind || from != i.offer.from {
		keep = nil
	}
	i.offer = offer{kind: kind, from: from, query: query, items: keep}
	return true
}

func (i *Composer) wave() {
	_, from, _ := i.word()
	i.offer = offer{off: i.Text()[from:i.Caret()]}
}

// choose completes to the item that is marked and reports whether to send it.
func (i *Composer) choose() (send bool) {
	c := i.offer.items[i.offer.at]
	if strings.HasSuffix(c.Insert, "/") {
		c.Insert += " " // the directory itself is chosen
	}
	i.Replace(i.offer.from, c.Insert)
	i.offer = offer{}
	return c.Run
}

// into completes to the marked item; for a directory, its contents are offered
// next.
func (i *Composer) into() {
	c := i.offer.items[i.offer.at]
	if c.Insert == i.Text()[i.offer.from:i.Caret()] {
		i.offer.at = (i.offer.at + 1) % len(i.offer.items)
		return
	}
	i.Replace(i.offer.from, c.Insert)
	i.offer = offer{}
}

// walk goes through earlier prompts, at the first and last row only.
func (i *Composer) walk(a keys.Action) bool {
	text, ok := "", false
	if a == keys.HistoryPrevious {
		text, ok = i.history.Previous(i.Value())
	} else {
		text, ok = i.history.Next()
	}
	if ok {
		i.Set(text)
		i.offer = offer{off: i.Text()}
	}
	return ok
}

// Typed is what the person wrote, split into its parts.
type Typed struct {
	Text    string
	Command string // without "/"
	Args    string
	Shell   string // after "!"
}

func (i *Composer) Typed() Typed {
	t := Typed{Text: strings.TrimSpace(i.Value())}
	switch {
	case strings.HasPrefix(t.Text, "!"):
		t.Shell = strings.TrimSpace(t.Text[1:])
	case strings.HasPrefix(t.Text, "/") && !strings.HasPrefix(t.Text, "//"):
		name, args, _ := strings.Cut(t.Text[1:], " ")
		if !strings.ContainsAny(name, "/\n") {
			t.Command, t.Args = name, strings.TrimSpace(args)
		}
	}
	return t
}

// IsShell reports whether what is written is a command for the shell.
func (i *Composer) IsShell() bool { return strings.HasPrefix(i.Text(), "!") }

// Draw returns the rows of the input and where in them the caret stands.
func (i *Composer) Draw(l look.Look, mark styled.Line, hint string) (lines []styled.Line, x, y int) {
	rows, row, col := i.Layout(i.width, i.method)
	top := max(0, min(row-maxInputRows/2, len(rows)-maxInputRows))
	text := i.Text()
	for n := top; n < min(len(rows), top+maxInputRows); n++ {
		line := styled.Line{{Text: "   "}}
		if n == 0 {
			line = mark
		}
		body := i.shown(rows[n], l.FG(theme.Text))
		if text == "" {
			body = styled.Plain(hint, l.FG(theme.Muted))
		}
		lines = append(lines, styled.Join(line, body).Cut(l.Width, l.Method))
	}
	return lines, col + 3, row - top
}

// shown returns the text of a row, with the selected part reversed.
func (i *Composer) shown(r edit.Row, style styled.Style) styled.Line {
	text := i.Text()
	from, to, ok := i.Selection()
	if from, to = max(from, r.From), min(to, r.To); !ok || from >= to {
		return styled.Plain(text[r.From:r.To], style)
	}
	return styled.Line{
		{Text: text[r.From:from], Style: style}, {Text: text[from:to], Style: style.With(styled.Reverse)}, {Text: text[to:r.To], Style: style},
	}
}

// put sets the caret to a cell of the input as it is drawn.
func (i *Composer) put(x, y int) {
	rows, row, _ := i.Layout(i.width, i.method)
	top := max(0, min(row-maxInputRows/2, len(rows)-maxInputRows))
	i.Place(top+y, x-3, i.width, i.method)
}

// DrawOffer returns the Completions as lines.
func (i *Composer) DrawOffer(l look.Look, most int) []styled.Line { return i.offer.draw(l, most) }
