package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// questionSheet asks the questions of a tool. Several are tabs: answering one
// goes to the next that has no answer yet.
type questionSheet struct {
	ask   lathe.QuestionAsk
	n     int // the question that is shown
	state []answering
	other bool // it is of a session that is not on screen
	patience
	first int // the line of the first row, as of the last drawing
}

// answering is what was answered to one question so far.
type answering struct {
	at     int // the row that is marked
	top    int // the first row shown
	chosen map[int]bool
	own    edit.Editor
	done   bool
	body   reader // of the question itself
}

func newQuestion(ask lathe.QuestionAsk, other bool, now time.Time) *questionSheet {
	s := &questionSheet{ask: ask, other: other, patience: patience{came: now}, state: make([]answering, len(ask.Questions))}
	for i := range s.state {
		s.state[i].chosen = map[int]bool{}
	}
	return s
}

func (s *questionSheet) question() lathe.Question { return s.ask.Questions[s.n] }

func (s *questionSheet) now() *answering { return &s.state[s.n] }

// Paste takes text for an answer of one's own.
func (s *questionSheet) Paste(text string) {
	if s.typing() {
		s.now().own.Type(styled.OneLine(text))
	}
}

func (s *questionSheet) custom() bool {
	q := s.question()
	return q.Custom || len(q.Options) == 0
}

// typing reports whether the row for an answer of one's own is marked.
func (s *questionSheet) typing() bool { return s.custom() && s.now().at == len(s.question().Options) }

// Key answers, or goes through the questions and their options.
func (s *questionSheet) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	q, r := s.question(), s.now()
	rows := len(q.Options)
	if s.custom() {
		rows++
	}
	stroke := keyName(k)
	atEdge := !s.typing() || r.own.Empty()
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		return All{Close{s}, Dismissed{s.ask}}
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
		return s.enter()
	case k.Text != "" && s.custom(): // writing begins an answer of one's own
		r.at = len(q.Options)
		s.write(h, k, stroke)
	default:
		if r.body.key(stroke) {
			return nil
		}
		return Scroll{stroke}
	}
	return nil
}

// Tall reports whether the question fills the screen.
func (s *questionSheet) Tall() bool { return s.now().body.full }

// Wheel scrolls the question.
func (s *questionSheet) Wheel(by int) bool { return s.now().body.wheel(by) }

// Click chooses what a row says, or puts the caret into the answer of one's own.
func (s *questionSheet) Click(_ Host, y int) tea.Msg {
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

func (s *questionSheet) write(h Host, k tea.KeyPressMsg, stroke string) {
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
func (s *questionSheet) turn(by int) {
	n := len(s.ask.Questions)
	s.n = (s.n + by + n) % n
}

func (s *questionSheet) mark(i int) {
	r := s.now()
	if s.question().Multiple && i < len(s.question().Options) {
		r.chosen[i] = !r.chosen[i]
	}
}

// labels returns what is answered to a question as it stands.
func (s *questionSheet) labels(n int) []string {
	q, r := s.ask.Questions[n], &s.state[n]
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

// enter takes the answer and goes to the next question without one, at last to
// the engine.
func (s *questionSheet) enter() tea.Msg {
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
	return All{Close{s}, Answers{s.ask, answers}}
}

// tabs draws the questions beside each other.
func (s *questionSheet) tabs(l look) styled.Line {
	var line styled.Line
	for i, q := range s.ask.Questions {
		name := styled.Plain(styled.OneLine(or(q.Header, q.Text)), "").Cut(18, l.method).Text()
		text := fmt.Sprintf(" %d %s ", i+1, name)
		if s.state[i].done {
			text = " " + l.glyph("✓", "x") + text[2:]
		}
		style := l.fg(theme.Muted)
		if i == s.n {
			style = l.fg(theme.Primary, styled.Bold)
		}
		line = append(line, styled.Span{Text: text, Style: style}, styled.Span{Text: l.glyph("│", "|"), Style: l.fg(theme.Border)})
	}
	return line
}

// Draw shows the question and what can be answered.
func (s *questionSheet) Draw(l look, height int) (out []styled.Line, x, y int) {
	q, r := s.question(), s.now()
	title, hint := "question", "enter choose · esc dismiss"
	if q.Multiple {
		hint = "space mark · enter done · esc dismiss"
	}
	if n := len(s.ask.Questions); n > 1 {
		title = fmt.Sprintf("question %d of %d", s.n+1, n)
		hint = strings.Replace(hint, "esc", "tab next · esc", 1)
	}
	if q.Header != "" {
		title += ": " + styled.OneLine(q.Header)
	}
	if s.other {
		title += " (another session)"
	}
	out = append(out, l.title(title, hint))
	if len(s.ask.Questions) > 1 {
		out = append(out, l.row(s.tabs(l), false))
	}
	text := styled.Wrap(styled.Plain(styled.Clean(q.Text), l.fg(theme.Text, styled.Bold)), l.width-3, l.method)
	for _, line := range r.body.window(l, text, max(1, height/2-1)) {
		out = append(out, l.row(line, false))
	}
	rows := s.rows(l)
	s.first = len(out)
	foot := s.foot(l, height)
	room := max(1, height-len(out)-len(foot))
	r.top = max(0, min(r.top, r.at, len(rows)-room))
	r.top = max(r.top, r.at-room+1)
	x = -1
	if s.typing() {
		x = 2 + len(ownLabel) + styled.Width(r.own.Text()[:r.own.Caret()], l.method)
		y = len(out) + r.at - r.top
	}
	return slices.Concat(out, rows[r.top:min(len(rows), r.top+room)], foot), x, y
}

// foot is the description of the option that is marked, if its row has no room for it.
func (s *questionSheet) foot(l look, height int) []styled.Line {
	if s.typing() || height < 8 {
		return nil
	}
	o := s.question().Options[s.now().at]
	if label, about := styled.OneLine(o.Label), styled.OneLine(o.Description); 6+styled.Width(label+about, l.method)+2 > l.width {
		text := about
		if styled.Width(label, l.method) > l.width/2 {
			text = label + ": " + about
		}
		lines := styled.Wrap(styled.Plain(text, l.fg(theme.Muted)), l.width-5, l.method)
		lines = lines[:min(len(lines), 3)]
		for i, line := range lines {
			lines[i] = l.row(styled.Join(styled.Plain("  "), line), false)
		}
		return lines
	}
	return nil
}

const ownLabel = "your answer: "

// rows draws what can be answered, one line each.
func (s *questionSheet) rows(l look) []styled.Line {
	q, r := s.question(), s.now()
	var out []styled.Line
	for i, o := range q.Options {
		mark := fmt.Sprintf("%d ", i+1)
		switch {
		case q.Multiple && r.chosen[i]:
			mark = l.glyph("☑ ", "[x] ")
		case q.Multiple:
			mark = l.glyph("☐ ", "[ ] ")
		case r.done && r.chosen[i]:
			mark = l.glyph("● ", "* ")
		}
		out = append(out, l.row(styled.Line{
			{Text: mark, Style: l.fg(theme.Accent)}, {Text: styled.OneLine(o.Label), Style: l.fg(theme.Text)},
			{Text: "  " + styled.OneLine(o.Description), Style: l.fg(theme.Muted)},
		}, i == r.at))
	}
	if s.custom() {
		line := styled.Line{{Text: ownLabel, Style: l.fg(theme.Muted)}, {Text: r.own.Text(), Style: l.fg(theme.Text)}}
		out = append(out, l.row(line, s.typing()))
	}
	return out
}
