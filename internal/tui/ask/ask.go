// Package ask has the sheets that the engine opens because a turn waits for the
// person: permission asks, and the questions of a tool. They return the answer
// as a message.
package ask

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/say"
	"lathe/internal/tui/change"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// answer is one way to answer an ask.
type answer struct {
	Key, label string
	do         func(s *Permission) tea.Msg
}

var (
	allowOnce = answer{"y", "allow once", func(s *Permission) tea.Msg { return s.reply(lathe.Reply{Kind: lathe.Once}) }}
	allowMore = answer{"a", "allow from now on", func(s *Permission) tea.Msg {
		s.grant = &grantForm{offers: approval.Offers(s.Ask), body: dialog.Reader{Full: s.body.Full}}
		return nil
	}}
	reject = answer{"n", "refuse", func(s *Permission) tea.Msg { return s.reply(lathe.Reply{Kind: lathe.Reject}) }}
	reason = answer{"t", "refuse and tell why", func(s *Permission) tea.Msg { s.message = &edit.Editor{}; return nil }}
)

// What the person answered.
type (
	// Reply is the answer to a permission ask. Granted says in words what it allows
	// from then on, if anything.
	Reply struct {
		Ask     lathe.Ask
		Reply   lathe.Reply
		Granted string
	}
	// Answers are the answers to the questions of a tool, one list for each.
	Answers struct {
		Ask     lathe.QuestionAsk
		Answers [][]string
	}
	// Dismissed says that the person does not want to answer.
	Dismissed struct{ Ask lathe.QuestionAsk }
)

// Permission is a permission ask.
type Permission struct {
	dialog.Patience
	Ask     lathe.Ask
	Other   bool // it belongs to a session that is not on screen, such as a subagent's
	Answers []answer
	at      int
	first   int // the line of the first answer, as of the last drawing
	body    dialog.Reader
	grant   *grantForm   // set while the person looks at what they would allow
	message *edit.Editor // the reason for a rejection, while it is being written
}

func New(ask lathe.Ask, other bool, now time.Time) *Permission {
	s := &Permission{Ask: ask, Other: other, Patience: dialog.Patience{Came: now}, Answers: []answer{allowOnce, allowMore, reject, reason}}
	if len(approval.Offers(ask)) == 0 {
		s.Answers = []answer{allowOnce, reject, reason}
	}
	return s
}

// Tall reports whether it wants the whole screen.
func (s *Permission) Tall() bool {
	if s.grant != nil {
		return s.grant.body.Full
	}
	return s.body.Full
}

// Paste adds text to what is being written.
func (s *Permission) Paste(text string) {
	switch {
	case s.message != nil:
		s.message.Type(styled.OneLine(text))
	case s.grant != nil && s.grant.own != nil:
		s.grant.own.Type(text)
	}
}

// Wheel scrolls what is asked for.
func (s *Permission) Wheel(by int) bool {
	if s.grant != nil {
		return s.grant.body.Wheel(by)
	}
	return s.body.Wheel(by)
}

// Key answers, moves through the answers, or scrolls what is asked for.
func (s *Permission) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	stroke := dialog.Stroke(k)
	switch {
	case s.message != nil:
		return s.write(h, k, stroke)
	case s.grant != nil:
		return s.granting(s.grant.key(h, k, stroke))
	}
	switch stroke {
	case "up", "left", "shift+tab":
		s.at = (s.at + len(s.Answers) - 1) % len(s.Answers)
	case "down", "right", "tab":
		s.at = (s.at + 1) % len(s.Answers)
	case "enter":
		return s.Answers[s.at].do(s)
	case "esc", "ctrl+c":
		if s.body.Full {
			s.body.Full = false
			return nil
		}
		return reject.do(s)
	default:
		return s.other(stroke, k.Text)
	}
	return nil
}

// other answers by a letter that stays alone, or scrolls. Other letters begin a text.
func (s *Permission) other(stroke, text string) tea.Msg {
	for i, an := range s.Answers {
		if an.Key == stroke {
			s.at = i
			return dialog.Answer{Text: text, Give: func() tea.Msg { return an.do(s) }}
		}
	}
	switch {
	case s.body.Key(stroke):
		return nil
	case strings.TrimSpace(text) != "":
		return dialog.Words{Text: text}
	}
	return dialog.Scroll{Stroke: stroke}
}

// Writes reports whether a text belongs to a field of it.
func (s *Permission) Writes() bool {
	return s.message != nil || s.grant != nil && s.grant.own != nil
}

// Click marks an answer, or gives it if it is already marked: so a single stray
// click allows nothing.
func (s *Permission) Click(_ dialog.Host, y int) tea.Msg {
	if s.grant != nil {
		return s.granting(s.grant.click(y))
	}
	i := y - s.first
	switch {
	case s.message != nil || i < 0 || i >= len(s.Answers):
	case s.at == i:
		return s.Answers[i].do(s)
	default:
		s.at = i
	}
	return nil
}

func (s *Permission) reply(r lathe.Reply) tea.Msg {
	return dialog.All{dialog.Close{Sheet: s}, Reply{Ask: s.Ask, Reply: r}}
}

// granting carries out the form's outcome: it allows from now on, goes back, or stays in the form.
func (s *Permission) granting(done grantStep) tea.Msg {
	switch done {
	case grantBack:
		s.grant = nil
	case grantGive:
		g := s.grant
		return dialog.All{dialog.Close{Sheet: s}, Reply{Ask: s.Ask, Reply: g.offer().Reply(g.project), Granted: g.offer().Granted(g.project)}}
	}
	return nil
}

func (s *Permission) write(h dialog.Host, k tea.KeyPressMsg, stroke string) tea.Msg {
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		s.message = nil
	case stroke == "enter":
		return s.reply(lathe.Reply{Kind: lathe.Reject, Message: strings.TrimSpace(s.message.Text())})
	case k.Text != "":
		s.message.Type(k.Text)
	default:
		for _, act := range h.Keys().Plain(stroke) {
			if act != keys.Newline && s.message.Do(act) {
				break
			}
		}
	}
	return nil
}

// Draw shows what is asked for, and the answers.
func (s *Permission) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	if s.grant != nil {
		return s.grant.draw(l, height)
	}
	title := "permission: " + styled.OneLine(l.T(approval.Name(s.Ask.Permission)))
	if s.Other {
		title += " (another session, such as a subagent's)"
	}
	out := []styled.Line{l.Title(title, "the turn waits for you")}
	rows := len(s.Answers)
	short := height < rows+4 // putting the answers on one line leaves room to read
	if short || s.message != nil {
		rows = 1
	}
	for _, line := range s.body.Window(l, s.what(l), max(1, height-1-rows)) {
		out = append(out, l.Row(line, false))
	}
	s.first = len(out)
	switch {
	case s.message != nil:
		label := l.T("tell it:") + " "
		x := 2 + styled.Width(label, l.Method)
		text, caret := s.message.OneRow(l.Width-x-1, l.Method)
		line := styled.Line{{Text: label, Style: l.FG(theme.Warning)}, {Text: text, Style: l.FG(theme.Text)}}
		return append(out, l.Row(line, false)), min(x+caret, l.Width-1), len(out)
	case short:
		s.first = len(out) + 1 // a row is not a single answer
		return append(out, s.oneRow(l)), -1, 0
	}
	for i, an := range s.Answers {
		out = append(out, l.Row(append(s.label(l, an), s.beside(l, an)...), i == s.at))
	}
	return out, -1, 0
}

func (s *Permission) label(l look.Look, an answer) styled.Line {
	return styled.Line{{Text: an.Key + "  ", Style: l.FG(theme.Accent, styled.Bold)}, {Text: l.T(an.label), Style: l.FG(theme.Text)}}
}

// beside is the remark next to an answer: how much of what it allows has not
// been shown, or what it would allow.
func (s *Permission) beside(l look.Look, an answer) styled.Line {
	switch n := s.body.Unread(); {
	case an.Key == allowOnce.Key && n > 0:
		return styled.Plain(l.T(fmt.Sprintf("  not shown to its end: %s below", say.Plural(n, "line"))), l.FG(theme.Warning))
	case an.Key == allowMore.Key:
		return styled.Plain(l.Glyph(" …  ", " ... ")+inWords(l, approval.Offers(s.Ask)[0]), l.FG(theme.Muted))
	}
	return nil
}

// inWords says in the person's language what an offer would allow.
func inWords(l look.Look, o approval.Offer) string {
	words := o.Words()
	for i, w := range words {
		words[i] = l.T(styled.OneLine(w))
	}
	return strings.Join(words, ", ")
}

// oneRow draws the answers in one row, for small terminals; on the smallest only
// the keys.
func (s *Permission) oneRow(l look.Look) styled.Line {
	line := s.short(l, true)
	if line.Width(l.Method) > l.Width-3 {
		line = s.short(l, false)
	}
	return l.Row(line, false)
}

func (s *Permission) short(l look.Look, words bool) styled.Line {
	var line styled.Line
	for i, an := range s.Answers {
		style := l.FG(theme.Accent, styled.Bold)
		if i == s.at {
			style = style.With(styled.Reverse)
		}
		line = append(line, styled.Span{Text: an.Key, Style: style}, styled.Span{Text: " "})
		if words {
			word, _, _ := strings.Cut(strings.TrimPrefix(an.label, "allow "), " and ")
			line = append(line, styled.Span{Text: l.T(word) + "  ", Style: l.FG(theme.Text)})
		}
	}
	if n := s.body.Unread(); n > 0 {
		line = append(line, styled.Span{Text: l.T(fmt.Sprintf("%d unread", n)), Style: l.FG(theme.Warning)})
	}
	return line
}

// what says what is asked for. A command and a change are shown whole.
func (s *Permission) what(l look.Look) []styled.Line {
	var out []styled.Line
	for _, f := range approval.Facts(s.Ask) {
		out = append(out, fact(l, f)...)
	}
	return out
}

// fact draws one thing that the person has to know.
func fact(l look.Look, f approval.Fact) []styled.Line {
	text := strings.TrimSpace(styled.Clean(f.Text))
	line := func(label string, key theme.Key) []styled.Line {
		return styled.Wrap(styled.Line{{Text: label, Style: l.FG(theme.Muted)}, {Text: text, Style: l.FG(key)}}, l.Width-3, l.Method)
	}
	label := l.T(f.Label)
	if label != "" {
		label += ": "
	}
	switch f.Kind {
	case approval.Purpose:
		return line("", theme.Muted)
	case approval.Command:
		return styled.Wrap(append(styled.Line{{Text: "$ ", Style: l.FG(theme.Muted)}}, command(l, text)...), l.Width-3, l.Method)
	case approval.Step:
		return line("  "+l.T(f.Label)+" ", theme.Accent)
	case approval.Also:
		text = l.T(text)
	case approval.Careful:
		text = l.T(text)
		return line(label, theme.Warning)
	case approval.Diff:
		l.Stacked = true // two columns would cut long lines
		return change.Draw(l, f.Text, l.Width-4)
	case approval.Content:
		return content(l, label, f.Text)
	}
	return line(label, theme.Text)
}

// command is a command in the colours of a shell, as on its card.
func command(l look.Look, text string) styled.Line {
	var out styled.Line
	for i, line := range markdown.Highlight("sh", strings.Split(text, "\n"), l.MD) {
		if i > 0 {
			out = append(out, styled.Span{Text: "\n"})
		}
		out = append(out, line...)
	}
	return out
}

// content draws a text that would be written, whole.
func content(l look.Look, label, text string) []styled.Line {
	out := []styled.Line{styled.Plain(label, l.FG(theme.Muted))}
	lines := strings.Split(strings.TrimSuffix(styled.Clean(text), "\n"), "\n")
	digits := change.Digits(len(lines))
	for i, s := range lines {
		for j, part := range styled.Hard(styled.Plain(s, l.FG(theme.DiffAdded)), max(l.Width-digits-5, 8), l.Method) {
			number := change.Number(0, digits)
			if j == 0 {
				number = change.Number(i+1, digits)
			}
			out = append(out, append(styled.Line{{Text: number, Style: l.FG(theme.DiffNumber)}}, part...))
		}
	}
	return out
}
