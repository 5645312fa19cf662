package ask

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Question asks the questions of a tool. Several questions are tabs: answering
// one moves to the next without an answer.
type Question struct {
	Ask   lathe.QuestionAsk
	n     int // the question that is shown
	state []answering
	Other bool // it is of a session that is not on screen
	dialog.Patience
	first int // the line of the first row, as of the last drawing
}

// answering is the answer to one question so far.
type answering struct {
	at     int // the row that is marked
	top    int // the first row shown
	chosen map[int]bool
	own    edit.Editor
	done   bool
	body   dialog.Reader // of the question itself
}

func NewQuestion(ask lathe.QuestionAsk, other bool, now time.Time) *Question {
	s := &Question{Ask: ask, Other: other, Patience: dialog.Patience{Came: now}, state: make([]answering, len(ask.Questions))}
	for i := range s.state {
		s.state[i].chosen = map[int]bool{}
	}
	return s
}

func (s *Question) question() lathe.Question { return s.Ask.Questions[s.n] }

func (s *Question) now() *answering { return &s.state[s.n] }

// Paste takes text for an answer of one's own.
func (s *Question) Paste(text string) {
	if s.custom() {
		s.Words(styled.OneLine(text))
	}
}

// Writes reports whether a text is an answer.
func (s *Question) Writes() bool { return s.custom() }

// Words begins an answer of the person's own, where there may be one.
func (s *Question) Words(text string) tea.Msg {
	if !s.custom() {
		return dialog.Words{Text: text}
	}
	s.now().at = len(s.question().Options)
	s.now().own.Type(text)
	return nil
}

func (s *Question) custom() bool {
	q := s.question()
	return q.Custom || len(q.Options) == 0
}

// typing reports whether the row for an answer of one's own is marked.
func (s *Question) typing() bool { return s.custom() && s.now().at == len(s.question().Options) }

// Key answers, or goes through the questions and their options.
func (s *Question) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	q, r := s.question(), s.now()
	rows := len(q.Options)
	if s.custom() {
		rows++
	}
	stroke := dialog.Stroke(k)
	atEdge := !s.typing() || r.own.Empty()
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		return dialog.All{dialog.Close{Sheet: s}, Dismissed{s.Ask}}
	case stroke == "up":
		r.at = (r.at + rows - 1) % rows
	case stroke == "down":
		r.at = (r.at + 1) % rows
	case stroke == "tab" || stroke == "right" && atEdge:
		s.turn(1)
	case stroke == "shift+tab" || stroke == "left" && atEdge:
		s.turn(-1)
	case stroke == "enter":
		return s.enter()
	case s.typing():
		s.write(h, k, stroke)
	case stroke == "space":
		s.mark(r.at)
	case len(stroke) == 1 && stroke[0] >= '1' && int(stroke[0]-'1') < len(q.Options):
		r.at = int(stroke[0] - '1')
		if q.Multiple {
			s.mark(r.at)
			return nil
		}
		return dialog.Answer{Text: k.Text, Give: s.enter}
	case strings.TrimSpace(k.Text) != "":
		return s.Words(k.Text)
	default:
		if r.body.Key(stroke) {
			return nil
		}
		return dialog.Scroll{Stroke: stroke}
	}
	return nil
}

// Tall reports whether the question fills the screen.
func (s *Question) Tall() bool { return s.now().body.Full }

// Wheel scrolls the question.
func (s *Question) Wheel(by int) bool { return s.now().body.Wheel(by) }

// Click chooses the option in a row, or puts the caret into the person's own answer.
func (s *Question) Click(_ dialog.Host, y int) tea.Msg {
	q, r := s.question(), s.now()
	i := y - s.first + r.top
	switch {
	case y < s.first || i > len(q.Options) || i == len(q.Options) && !s.custom():
		return nil
	case i == len(q.Options):
		r.at = i
		return nil
	}
	r.at = i
	if q.Multiple {
		s.mark(i)
		return nil
	}
	return s.enter()
}

func (s *Question) write(h dialog.Host, k tea.KeyPressMsg, stroke string) {
	r := s.now()
	if k.Text != "" {
		r.own.Type(k.Text)
		return
	}
	for _, act := range h.Keys().Plain(stroke) {
		if act != keys.Newline && r.own.Do(act) {
			return
		}
	}
}

// turn goes to another question.
func (s *Question) turn(by int) {
	n := len(s.Ask.Questions)
	s.n = (s.n + by + n) % n
}

func (s *Question) mark(i int) {
	r := s.now()
	if s.question().Multiple && i < len(s.question().Options) {
		r.chosen[i] = !r.chosen[i]
	}
}

// labels returns what is answered to a question as it stands.
func (s *Question) labels(n int) []string {
	q, r := s.Ask.Questions[n], &s.state[n]
	out := []string{}
	for i, o := range q.Options {
		if r.chosen[i] {
			out = append(out, o.Label)
		}
	}
	own := strings.TrimSpace(r.own.Text())
	if own != "" && (q.Multiple || len(out) == 0) {
		out = append(out, own)
	}
	return out
}

// enter takes the answer and goes to the next question without one; after the
// last it sends all answers.
func (s *Question) enter() tea.Msg {
	q, r := s.question(), s.now()
	switch {
	case !q.Multiple && !s.typing():
		r.chosen = map[int]bool{r.at: true}
	case !q.Multiple:
		r.chosen = map[int]bool{}
	case len(s.labels(s.n)) == 0 && !s.typing():
		s.mark(r.at)
	}
	r.done = true
	for i := range s.state {
		if next := (s.n + i) % len(s.state); !s.state[next].done {
			s.n = next
			return nil
		}
	}
	answers := make([][]string, len(s.state))
	for i := range answers {
		answers[i] = s.labels(i)
	}
	return dialog.All{dialog.Close{Sheet: s}, Answers{s.Ask, answers}}
}

// tabs draws the questions as a row of tabs.
func (s *Question) tabs(l look.Look) styled.Line {
	var line styled.Line
	for i, q := range s.Ask.Questions {
		name := styled.Plain(styled.OneLine(look.Or(q.Header, q.Text)), "").Cut(18, l.Method).Text()
		text := fmt.Sprintf(" %d %s ", i+1, name)
		if s.state[i].done {
			text = " " + l.Glyph("✓", "x") + text[2:]
		}
		style := l.FG(theme.Muted)
		if i == s.n {
			style = l.FG(theme.Primary, styled.Bold)
		}
		line = append(line, styled.Span{Text: text, Style: style}, styled.Span{Text: l.Glyph("│", "|"), Style: l.FG(theme.Border)})
	}
	return line
}

// Draw shows the question and what can be answered.
func (s *Question) Draw(l look.Look, height int) (out []styled.Line, x, y int) {
	q, r := s.question(), s.now()
	title, hint := "question", "enter choose · esc dismiss"
	if q.Multiple {
		hint = "space mark · enter done · esc dismiss"
	}
	if n := len(s.Ask.Questions); n > 1 {
		title = fmt.Sprintf("question %d of %d", s.n+1, n)
		hint = strings.Replace(hint, "esc", "tab next · esc", 1)
	}
	if q.Header != "" {
		title += ": " + styled.OneLine(q.Header)
	}
	if s.Other {
		title += " (another session)"
	}
	out = append(out, l.Title(title, hint))
	if len(s.Ask.Questions) > 1 {
		out = append(out, l.Row(s.tabs(l), false))
	}
	text := styled.Wrap(styled.Plain(styled.Clean(q.Text), l.FG(theme.Text, styled.Bold)), l.Width-3, l.Method)
	for _, line := range r.body.Window(l, text, max(1, height/2-1)) {
		out = append(out, l.Row(line, false))
	}
	rows := s.rows(l)
	s.first = len(out)
	foot := s.foot(l, height)
	room := max(1, height-len(out)-len(foot))
	r.top = max(0, min(r.top, r.at, len(rows)-room))
	r.top = max(r.top, r.at-room+1)
	x = -1
	if s.typing() {
		_, caret := s.own(l)
		x = 2 + styled.Width(l.T(ownLabel)+" ", l.Method) + caret
		y = len(out) + r.at - r.top
	}
	return slices.Concat(out, rows[r.top:min(len(rows), r.top+room)], foot), x, y
}

// foot is the description of the option that is marked, if its row has no room for it.
func (s *Question) foot(l look.Look, height int) []styled.Line {
	if s.typing() || height < 8 {
		return nil
	}
	o := s.question().Options[s.now().at]
	if label, about := styled.OneLine(o.Label), styled.OneLine(o.Description); 6+styled.Width(label+about, l.Method)+2 > l.Width {
		text := about
		if styled.Width(label, l.Method) > l.Width/2 {
			text = label + ": " + about
		}
		lines := styled.Wrap(styled.Plain(text, l.FG(theme.Muted)), l.Width-5, l.Method)
		lines = lines[:min(len(lines), 3)]
		for i, line := range lines {
			lines[i] = l.Row(styled.Join(styled.Plain("  "), line), false)
		}
		return lines
	}
	return nil
}

const ownLabel = "your answer:"

// rows draws what can be answered, one line each.
func (s *Question) rows(l look.Look) []styled.Line {
	q, r := s.question(), s.now()
	var out []styled.Line
	for i, o := range q.Options {
		mark := fmt.Sprintf("%d ", i+1)
		switch {
		case q.Multiple && r.chosen[i]:
			mark = l.Glyph("☑ ", "[x] ")
		case q.Multiple:
			mark = l.Glyph("☐ ", "[ ] ")
		case r.done && r.chosen[i]:
			mark = l.Glyph("● ", "* ")
		}
		out = append(out, l.Row(styled.Line{
			{Text: mark, Style: l.FG(theme.Accent)}, {Text: styled.OneLine(o.Label), Style: l.FG(theme.Text)},
			{Text: "  " + styled.OneLine(o.Description), Style: l.FG(theme.Muted)},
		}, i == r.at))
	}
	if s.custom() {
		text, _ := s.own(l)
		line := styled.Line{{Text: l.T(ownLabel) + " ", Style: l.FG(theme.Muted)}, {Text: text, Style: l.FG(theme.Text)}}
		out = append(out, l.Row(line, s.typing()))
	}
	return out
}

// own returns what is shown of the person's own answer, and where the caret is in it.
func (s *Question) own(l look.Look) (text string, caret int) {
	return s.now().own.OneRow(l.Width-3-styled.Width(l.T(ownLabel)+" ", l.Method), l.Method)
}
