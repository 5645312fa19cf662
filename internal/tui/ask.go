package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// quiet is how long the person must not have typed before an ask takes keys, so
// that nobody approves in the middle of a word.
const quiet = 700 * time.Millisecond

// answer is one way to answer an ask.
type answer struct {
	key, label string
	reply      lathe.Reply
	words      bool // with a message
}

// askSheet is a permission ask.
type askSheet struct {
	ask     lathe.Ask
	other   bool // it is of a session that is not on screen, such as a subagent's
	shown   time.Time
	answers []answer
	at      int
	message *edit.Editor // of a rejection, while it is written
}

func newAsk(ask lathe.Ask, other bool, now time.Time) *askSheet {
	s := &askSheet{ask: ask, other: other, shown: now, answers: []answer{{"y", "allow once", lathe.Reply{Kind: lathe.Once}, false}}}
	if protected, _ := ask.Metadata["protected"].(bool); len(ask.Always) > 0 && !protected {
		s.answers = append(s.answers,
			answer{"a", "allow in this session", lathe.Reply{Kind: lathe.Always}, false},
			answer{"p", "allow in this project", lathe.Reply{Kind: lathe.Always, Project: true}, false})
	}
	s.answers = append(s.answers,
		answer{"n", "reject", lathe.Reply{Kind: lathe.Reject}, false},
		answer{"t", "reject and tell why", lathe.Reply{Kind: lathe.Reject}, true})
	return s
}

func (s *askSheet) appeared() time.Time { return s.shown }

func (s *questionSheet) appeared() time.Time { return s.shown }

func (s *askSheet) paste(text string) {
	if s.message != nil {
		s.message.Type(styled.OneLine(text))
	}
}

func (s *askSheet) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	stroke := keyName(k)
	if s.message != nil {
		return s.write(a, k, stroke)
	}
	switch stroke {
	case "up", "left", "shift+tab":
		s.at = (s.at + len(s.answers) - 1) % len(s.answers)
	case "down", "right", "tab":
		s.at = (s.at + 1) % len(s.answers)
	case "enter":
		return s.choose(a, s.answers[s.at])
	case "esc", "ctrl+c":
		return s.choose(a, s.answers[len(s.answers)-2])
	default:
		for _, an := range s.answers {
			if an.key == stroke {
				return s.choose(a, an)
			}
		}
		return a.scrollKey(stroke)
	}
	return nil
}

func (s *askSheet) choose(a *App, an answer) tea.Cmd {
	if an.words {
		s.message = &edit.Editor{}
		return nil
	}
	a.close(s)
	return a.reply(s.ask, an.reply)
}

func (s *askSheet) write(a *App, k tea.KeyPressMsg, stroke string) tea.Cmd {
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		s.message = nil
	case stroke == "enter":
		a.close(s)
		return a.reply(s.ask, lathe.Reply{Kind: lathe.Reject, Message: strings.TrimSpace(s.message.Text())})
	case k.Text != "":
		s.message.Type(k.Text)
	default:
		for _, act := range a.keys.Plain(stroke) {
			if act != keys.Newline && s.message.Do(act) {
				break
			}
		}
	}
	return nil
}

func (s *askSheet) draw(l look, height int) ([]styled.Line, int, int) {
	title := "permission: " + styled.OneLine(s.ask.Permission)
	if s.other {
		title += " (another session, such as a subagent's)"
	}
	out := []styled.Line{l.title(title, "the turn waits for you")}
	room := max(2, height-2-len(s.answers))
	body := s.what(l)
	if len(body) > room {
		more := styled.Plain(fmt.Sprintf("%s %d lines more; make the window larger to see them", l.glyph("…", "..."), len(body)-room+1), l.fg(theme.Warning))
		body = append(body[:room-1:room-1], more)
	}
	for _, line := range body {
		out = append(out, l.row(line, false))
	}
	if s.message != nil {
		line := styled.Line{{Text: "tell it: ", Style: l.fg(theme.Warning)}, {Text: s.message.Text(), Style: l.fg(theme.Text)}}
		x := 2 + len("tell it: ") + styled.Width(s.message.Text()[:s.message.Caret()], l.method)
		return append(out, l.row(line, false)), x, len(out)
	}
	for i, an := range s.answers {
		line := styled.Line{{Text: an.key + "  ", Style: l.fg(theme.Accent, styled.Bold)}, {Text: an.label, Style: l.fg(theme.Text)}}
		if an.reply.Kind == lathe.Always {
			line = append(line, styled.Span{Text: "  " + styled.OneLine(strings.Join(s.ask.Always, ", ")), Style: l.fg(theme.Muted)})
		}
		out = append(out, l.row(line, i == s.at))
	}
	return out, -1, 0
}

// what says what is asked for. A command and a change are shown in full.
func (s *askSheet) what(l look) []styled.Line {
	text := func(k string) string { v, _ := s.ask.Metadata[k].(string); return v }
	var out []styled.Line
	add := func(label, value string, key theme.Key) {
		if value = strings.TrimSpace(styled.Clean(value)); value == "" {
			return
		}
		line := styled.Line{{Text: label, Style: l.fg(theme.Muted)}, {Text: value, Style: l.fg(key)}}
		out = append(out, styled.Wrap(line, l.width-3, l.method)...)
	}
	add("", text("description"), theme.Muted)
	if cmd := text("command"); cmd != "" {
		add("$ ", cmd, theme.Text)
		if s.ask.Permission != "bash" {
			add("for: ", strings.Join(s.ask.Patterns, ", "), theme.Text)
		}
	} else {
		add("", strings.Join(s.ask.Patterns, ", "), theme.Text)
	}
	add("careful: ", text("reason"), theme.Warning)
	for _, r := range listText(s.ask.Metadata["reasons"]) {
		add("since ", r, theme.Warning)
	}
	if d := text("diff"); d != "" {
		out = append(out, l.diff(d, l.width-4)...)
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

// questionSheet asks the questions of a tool, one after the other.
type questionSheet struct {
	ask     lathe.QuestionAsk
	n       int // the question that is asked
	at      int
	chosen  map[int]bool
	own     edit.Editor
	answers [][]string
	shown   time.Time
}

func newQuestion(ask lathe.QuestionAsk, now time.Time) *questionSheet {
	return &questionSheet{ask: ask, chosen: map[int]bool{}, shown: now}
}

func (s *questionSheet) question() lathe.Question { return s.ask.Questions[s.n] }

func (s *questionSheet) paste(text string) {
	if s.typing() {
		s.own.Type(styled.OneLine(text))
	}
}

// typing reports whether the row for an answer of one's own is marked.
func (s *questionSheet) typing() bool { return s.at == len(s.question().Options) }

func (s *questionSheet) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	q := s.question()
	rows := len(q.Options)
	if q.Custom || rows == 0 {
		rows++
	}
	switch stroke := keyName(k); {
	case stroke == "esc" || stroke == "ctrl+c":
		a.close(s)
		return a.dismiss(s.ask)
	case stroke == "up":
		s.at = (s.at + rows - 1) % rows
	case stroke == "down" || stroke == "tab":
		s.at = (s.at + 1) % rows
	case stroke == "enter":
		return s.enter(a)
	case s.typing() && k.Text != "":
		s.own.Type(k.Text)
	case s.typing():
		for _, act := range a.keys.Plain(stroke) {
			if act != keys.Newline && s.own.Do(act) {
				break
			}
		}
	case stroke == "space" && q.Multiple:
		s.chosen[s.at] = !s.chosen[s.at]
	case len(stroke) == 1 && stroke[0] >= '1' && int(stroke[0]-'1') < len(q.Options):
		s.at = int(stroke[0] - '1')
		if q.Multiple {
			s.chosen[s.at] = !s.chosen[s.at]
			return nil
		}
		return s.enter(a)
	}
	return nil
}

// enter takes the answer and goes to the next question, at last to the engine.
func (s *questionSheet) enter(a *App) tea.Cmd {
	q := s.question()
	var labels []string
	for i, o := range q.Options {
		if s.chosen[i] || !q.Multiple && i == s.at {
			labels = append(labels, o.Label)
		}
	}
	if own := strings.TrimSpace(s.own.Text()); own != "" && (s.typing() || q.Multiple) {
		labels = append(labels, own)
	}
	if q.Multiple && len(labels) == 0 && !s.typing() {
		labels = append(labels, q.Options[s.at].Label)
	}
	s.answers = append(s.answers, labels)
	s.n, s.at, s.chosen, s.own = s.n+1, 0, map[int]bool{}, edit.Editor{}
	if s.n < len(s.ask.Questions) {
		return nil
	}
	a.close(s)
	return a.answer(s.ask, s.answers)
}

func (s *questionSheet) draw(l look, height int) (out []styled.Line, x, y int) {
	q := s.question()
	title := "question"
	if n := len(s.ask.Questions); n > 1 {
		title = fmt.Sprintf("question %d of %d", s.n+1, n)
	}
	if q.Header != "" {
		title += ": " + styled.OneLine(q.Header)
	}
	hint := "enter choose · esc dismiss"
	if q.Multiple {
		hint = "space mark · enter done · esc dismiss"
	}
	out = append(out, l.title(title, hint))
	for _, line := range styled.Wrap(styled.Plain(styled.Clean(q.Text), l.fg(theme.Text, styled.Bold)), l.width-3, l.method) {
		out = append(out, l.row(line, false))
	}
	for i, o := range q.Options {
		mark := fmt.Sprintf("%d ", i+1)
		if q.Multiple {
			mark = l.glyph("☐ ", "[ ] ")
			if s.chosen[i] {
				mark = l.glyph("☑ ", "[x] ")
			}
		}
		out = append(out, l.row(styled.Line{
			{Text: mark, Style: l.fg(theme.Accent)}, {Text: styled.OneLine(o.Label), Style: l.fg(theme.Text)},
			{Text: "  " + styled.OneLine(o.Description), Style: l.fg(theme.Muted)},
		}, i == s.at))
	}
	x = -1
	if q.Custom || len(q.Options) == 0 {
		label := "your answer: "
		line := styled.Line{{Text: label, Style: l.fg(theme.Muted)}, {Text: s.own.Text(), Style: l.fg(theme.Text)}}
		if s.typing() {
			x, y = 2+len(label)+styled.Width(s.own.Text()[:s.own.Caret()], l.method), len(out)
		}
		out = append(out, l.row(line, s.typing()))
	}
	if cut := len(out) - max(height, 2); cut > 0 {
		out = append(out[:1:1], out[1+cut:]...)
		y -= cut
	}
	return out, x, y
}
