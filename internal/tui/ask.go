package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/approval"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// answer is one way to answer an ask.
type answer struct {
	key, label string
	do         func(s *askSheet) tea.Msg
}

var (
	allowOnce = answer{"y", "allow once", func(s *askSheet) tea.Msg { return s.reply(lathe.Reply{Kind: lathe.Once}) }}
	allowMore = answer{"a", "allow from now on", func(s *askSheet) tea.Msg {
		s.grant = &grantForm{offers: approval.Offers(s.ask), body: reader{full: s.body.full}}
		return nil
	}}
	reject = answer{"n", "reject", func(s *askSheet) tea.Msg { return s.reply(lathe.Reply{Kind: lathe.Reject}) }}
	reason = answer{"t", "reject and tell why", func(s *askSheet) tea.Msg { s.message = &edit.Editor{}; return nil }}
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
	// Dismissed says that the person does not want to be asked that.
	Dismissed struct{ Ask lathe.QuestionAsk }
)

// askSheet is a permission ask.
type askSheet struct {
	patience
	ask     lathe.Ask
	other   bool // it is of a session that is not on screen, such as a subagent's
	answers []answer
	at      int
	first   int // the line of the first answer, as of the last drawing
	body    reader
	grant   *grantForm   // while the person looks at what they would allow
	message *edit.Editor // of a rejection, while it is written
}

func newAsk(ask lathe.Ask, other bool, now time.Time) *askSheet {
	s := &askSheet{ask: ask, other: other, patience: patience{came: now}, answers: []answer{allowOnce, allowMore, reject, reason}}
	if len(approval.Offers(ask)) == 0 {
		s.answers = []answer{allowOnce, reject, reason}
	}
	return s
}

// Tall reports whether it wants the whole screen.
func (s *askSheet) Tall() bool {
	if s.grant != nil {
		return s.grant.body.full
	}
	return s.body.full
}

// Paste takes text for what is written at the moment.
func (s *askSheet) Paste(text string) {
	switch {
	case s.message != nil:
		s.message.Type(styled.OneLine(text))
	case s.grant != nil && s.grant.own != nil:
		s.grant.own.Type(text)
	}
}

// Wheel scrolls what is asked for.
func (s *askSheet) Wheel(by int) bool {
	if s.grant != nil {
		return s.grant.body.wheel(by)
	}
	return s.body.wheel(by)
}

// Key answers, or goes through the answers and what is asked for.
func (s *askSheet) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	stroke := keyName(k)
	switch {
	case s.message != nil:
		return s.write(h, k, stroke)
	case s.grant != nil:
		return s.granting(s.grant.key(h, k, stroke))
	}
	switch stroke {
	case "up", "left", "shift+tab":
		s.at = (s.at + len(s.answers) - 1) % len(s.answers)
	case "down", "right", "tab":
		s.at = (s.at + 1) % len(s.answers)
	case "enter":
		return s.answers[s.at].do(s)
	case "esc", "ctrl+c":
		if s.body.full {
			s.body.full = false
			return nil
		}
		return reject.do(s)
	default:
		for _, an := range s.answers {
			if an.key == stroke {
				return an.do(s)
			}
		}
		if s.body.key(stroke) {
			return nil
		}
		return Scroll{stroke}
	}
	return nil
}

// Click marks an answer, and takes the one that is marked: a single stray click
// allows nothing.
func (s *askSheet) Click(_ Host, y int) tea.Msg {
	if s.grant != nil {
		return s.granting(s.grant.click(y))
	}
	i := y - s.first
	switch {
	case s.message != nil || i < 0 || i >= len(s.answers):
	case s.at == i:
		return s.answers[i].do(s)
	default:
		s.at = i
	}
	return nil
}

func (s *askSheet) reply(r lathe.Reply) tea.Msg {
	return All{Close{s}, Reply{Ask: s.ask, Reply: r}}
}

// granting does what came of the form: it allows from now on, goes back, or goes on.
func (s *askSheet) granting(done grantStep) tea.Msg {
	switch done {
	case grantBack:
		s.grant = nil
	case grantGive:
		g := s.grant
		return All{Close{s}, Reply{Ask: s.ask, Reply: g.offer().Reply(g.project), Granted: g.offer().Granted(g.project)}}
	}
	return nil
}

func (s *askSheet) write(h Host, k tea.KeyPressMsg, stroke string) tea.Msg {
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
func (s *askSheet) Draw(l look, height int) ([]styled.Line, int, int) {
	if s.grant != nil {
		return s.grant.draw(l, height)
	}
	title := "permission: " + styled.OneLine(s.ask.Permission)
	if s.other {
		title += " (another session, such as a subagent's)"
	}
	out := []styled.Line{l.title(title, "the turn waits for you")}
	rows := len(s.answers)
	short := height < rows+4 // the answers on one line leave room to read
	if short || s.message != nil {
		rows = 1
	}
	for _, line := range s.body.window(l, s.what(l), max(1, height-1-rows)) {
		out = append(out, l.row(line, false))
	}
	s.first = len(out)
	switch {
	case s.message != nil:
		line := styled.Line{{Text: "tell it: ", Style: l.fg(theme.Warning)}, {Text: s.message.Text(), Style: l.fg(theme.Text)}}
		x := 2 + len("tell it: ") + styled.Width(s.message.Text()[:s.message.Caret()], l.method)
		return append(out, l.row(line, false)), min(x, l.width-1), len(out)
	case short:
		s.first = len(out) + 1 // no row is one answer
		return append(out, s.oneRow(l)), -1, 0
	}
	for i, an := range s.answers {
		out = append(out, l.row(append(s.label(l, an), s.beside(l, an)...), i == s.at))
	}
	return out, -1, 0
}

func (s *askSheet) label(l look, an answer) styled.Line {
	return styled.Line{{Text: an.key + "  ", Style: l.fg(theme.Accent, styled.Bold)}, {Text: an.label, Style: l.fg(theme.Text)}}
}

// beside is what stands beside an answer: how much was not shown of what it
// allows, or what it would allow.
func (s *askSheet) beside(l look, an answer) styled.Line {
	switch n := s.body.unread(); {
	case an.key == allowOnce.key && n > 0:
		return styled.Plain(fmt.Sprintf("  not shown to its end: %s below", plural(n, "line")), l.fg(theme.Warning))
	case an.key == allowMore.key:
		return styled.Plain(l.glyph(" …  ", " ... ")+styled.OneLine(strings.Join(approval.Offers(s.ask)[0].Words(), ", ")), l.fg(theme.Muted))
	}
	return nil
}

// oneRow draws the answers beside each other, for small terminals; on the smallest
// the keys alone.
func (s *askSheet) oneRow(l look) styled.Line {
	line := s.short(l, true)
	if line.Width(l.method) > l.width-3 {
		line = s.short(l, false)
	}
	return l.row(line, false)
}

func (s *askSheet) short(l look, words bool) styled.Line {
	var line styled.Line
	for i, an := range s.answers {
		style := l.fg(theme.Accent, styled.Bold)
		if i == s.at {
			style = style.With(styled.Reverse)
		}
		line = append(line, styled.Span{Text: an.key, Style: style}, styled.Span{Text: " "})
		if words {
			word, _, _ := strings.Cut(strings.TrimPrefix(an.label, "allow "), " and ")
			line = append(line, styled.Span{Text: word + "  ", Style: l.fg(theme.Text)})
		}
	}
	if n := s.body.unread(); n > 0 {
		line = append(line, styled.Span{Text: fmt.Sprintf("%d unread", n), Style: l.fg(theme.Warning)})
	}
	return line
}

// what says what is asked for. A command and a change are shown whole.
func (s *askSheet) what(l look) []styled.Line {
	var out []styled.Line
	for _, f := range approval.Facts(s.ask) {
		out = append(out, fact(l, f)...)
	}
	return out
}

// fact draws something that the person has to know.
func fact(l look, f approval.Fact) []styled.Line {
	text := strings.TrimSpace(styled.Clean(f.Text))
	line := func(label string, key theme.Key) []styled.Line {
		return styled.Wrap(styled.Line{{Text: label, Style: l.fg(theme.Muted)}, {Text: text, Style: l.fg(key)}}, l.width-3, l.method)
	}
	label := f.Label
	if label != "" {
		label += ": "
	}
	switch f.Kind {
	case approval.Purpose:
		return line("", theme.Muted)
	case approval.Command:
		return line("$ ", theme.Text)
	case approval.Step:
		return line("  "+f.Label+" ", theme.Accent)
	case approval.Careful:
		return line(label, theme.Warning)
	case approval.Diff:
		l.stacked = true // two columns would cut long lines
		return drawChange(l, f.Text, l.width-4)
	case approval.Content:
		return content(l, label, f.Text)
	}
	return line(label, theme.Text)
}

// content draws a text that would be written, whole.
func content(l look, label, text string) []styled.Line {
	out := []styled.Line{styled.Plain(label, l.fg(theme.Muted))}
	for i, s := range strings.Split(strings.TrimSuffix(styled.Clean(text), "\n"), "\n") {
		for j, part := range styled.Hard(styled.Plain(s, l.fg(theme.DiffAdded)), max(l.width-9, 8), l.method) {
			number := "     "
			if j == 0 {
				number = fmt.Sprintf("%4d ", i+1)
			}
			out = append(out, append(styled.Line{{Text: number, Style: l.fg(theme.DiffNumber)}}, part...))
		}
	}
	return out
}

func listText(v any) []string {
	var out []string
	switch list := v.(type) {
	case []string:
		return list
	case []any:
		for _, x := range list {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
