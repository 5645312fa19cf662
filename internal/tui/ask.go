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

// quiet is how long the person must not have typed, or used a dialog, before an ask
// takes keys, so that nobody approves in the middle of a word.
const quiet = 700 * time.Millisecond

// haste is how long after the reply to an ask further keys are held to belong to
// it. Who replies to several in a row looks at them.
const haste = 300 * time.Millisecond

// answer is one way to answer an ask.
type answer struct {
	key, label string
	reply      lathe.Reply
	words      bool // with a message
}

// askSheet is a permission ask.
type askSheet struct {
	ask     lathe.Ask
	pattern *edit.Editor // while the person changes it
	keep    bool         // the pattern is for the project
	other   bool         // it is of a session that is not on screen, such as a subagent's
	shown   time.Time
	answers []answer
	at      int
	first   int          // the line of the first answer, as of the last drawing
	message *edit.Editor // of a rejection, while it is written
}

func newAsk(ask lathe.Ask, other bool, now time.Time) *askSheet {
	s := &askSheet{ask: ask, other: other, shown: now, answers: []answer{{"y", "allow once", lathe.Reply{Kind: lathe.Once}, false}}}
	if protected, _ := ask.Metadata["protected"].(bool); len(ask.Always) > 0 && !protected {
		s.answers = append(s.answers,
			answer{"a", "allow in this session", lathe.Reply{Kind: lathe.Always}, false},
			answer{"p", "allow in this project", lathe.Reply{Kind: lathe.Always, Project: true}, false},
			answer{"e", "change the pattern, then allow", lathe.Reply{Kind: lathe.Always}, true})
	}
	s.answers = append(s.answers,
		answer{"n", "reject", lathe.Reply{Kind: lathe.Reject}, false},
		answer{"t", "reject and tell why", lathe.Reply{Kind: lathe.Reject}, true})
	return s
}

func (s *askSheet) appeared() time.Time { return s.shown }

func (s *questionSheet) appeared() time.Time { return s.shown }

func (s *askSheet) paste(text string) {
	switch {
	case s.message != nil:
		s.message.Type(styled.OneLine(text))
	case s.pattern != nil:
		s.pattern.Type(text)
	}
}

func (s *askSheet) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	stroke := keyName(k)
	if a.opts.Now().Before(a.deaf) {
		return nil // meant for what stood here before
	}
	switch {
	case s.message != nil:
		return s.write(a, k, stroke)
	case s.pattern != nil:
		return s.change(a, k, stroke)
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

// click marks an answer, and takes the one that is marked: a single stray click
// allows nothing.
func (s *askSheet) click(a *App, y int) tea.Cmd {
	i := y - s.first
	switch {
	case s.message != nil || s.pattern != nil || i < 0 || i >= len(s.answers) || a.opts.Now().Before(a.deaf):
	case s.at == i:
		return s.choose(a, s.answers[i])
	default:
		s.at = i
	}
	return nil
}

func (s *askSheet) choose(a *App, an answer) tea.Cmd {
	if an.words {
		if an.reply.Kind == lathe.Reject {
			s.message = &edit.Editor{}
		} else {
			s.pattern = &edit.Editor{}
			s.pattern.Set(strings.Join(s.ask.Always, "\n"))
		}
		return nil
	}
	a.close(s)
	return a.reply(s.ask, an.reply)
}

// change takes the keys while the pattern is changed: one a line.
func (s *askSheet) change(a *App, k tea.KeyPressMsg, stroke string) tea.Cmd {
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		s.pattern = nil
	case stroke == "tab":
		s.keep = !s.keep
	case stroke == "enter":
		r := lathe.Reply{Kind: lathe.Always, Project: s.keep}
		for line := range strings.Lines(s.pattern.Text()) {
			if line = strings.TrimSpace(line); line != "" {
				r.Patterns = append(r.Patterns, line)
			}
		}
		if s.pattern.Text() == strings.Join(s.ask.Always, "\n") {
			r.Patterns = nil
		} else if len(r.Patterns) == 0 {
			a.notify(toastWarning, "a pattern is needed; esc goes back")
			return a.tick()
		}
		a.close(s)
		return a.reply(s.ask, r)
	case k.Text != "":
		s.pattern.Type(k.Text)
	default:
		s.edit(a, stroke)
	}
	return nil
}

func (s *askSheet) edit(a *App, stroke string) {
	for _, act := range a.keys.Plain(stroke) {
		switch act {
		case keys.HistoryPrevious, keys.Up:
			s.pattern.Vertical(-1, a.look.width, a.look.method)
			return
		case keys.HistoryNext, keys.Down:
			s.pattern.Vertical(1, a.look.width, a.look.method)
			return
		}
		if s.pattern.Do(act) {
			return
		}
	}
}

// drawPattern draws the pattern that is changed, and where the caret is.
func (s *askSheet) drawPattern(l look, out []styled.Line) ([]styled.Line, int, int) {
	where := "in this session"
	if s.keep {
		where = "in this project"
	}
	head := "allow " + where + " what matches (* is anything, one pattern a line); tab: where, enter: allow, esc: back"
	for _, line := range styled.Wrap(styled.Plain(head, l.fg(theme.Muted)), l.width-3, l.method) {
		out = append(out, l.row(line, false))
	}
	before := s.pattern.Text()[:s.pattern.Caret()]
	y := len(out) + strings.Count(before, "\n")
	x := 2 + styled.Width(before[strings.LastIndexByte(before, '\n')+1:], l.method)
	for _, text := range strings.Split(s.pattern.Text(), "\n") {
		out = append(out, l.row(styled.Plain(text, l.fg(theme.Text)), false))
	}
	return out, x, y
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
	if s.pattern != nil {
		room = max(2, height-4-strings.Count(s.pattern.Text(), "\n"))
	}
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
	if s.pattern != nil {
		return s.drawPattern(l, out)
	}
	s.first = len(out)
	for i, an := range s.answers {
		line := styled.Line{{Text: an.key + "  ", Style: l.fg(theme.Accent, styled.Bold)}, {Text: an.label, Style: l.fg(theme.Text)}}
		if an.reply.Kind == lathe.Always && !an.words {
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
		switch {
		case s.ask.Permission != "bash":
			add("for: ", strings.Join(s.ask.Patterns, ", "), theme.Text)
		case len(s.ask.Patterns) > 1 || len(s.ask.Patterns) == 1 && strings.TrimSpace(s.ask.Patterns[0]) != strings.TrimSpace(cmd):
			for i, p := range s.ask.Patterns { // the commands that it is made of
				add(fmt.Sprintf("  %d ", i+1), p, theme.Accent)
			}
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
