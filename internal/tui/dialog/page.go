package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Page is a sheet to read, and to search in.
type Page struct {
	Title  string
	Lines  func(l look.Look) []styled.Line
	First  func(l look.Look) []styled.Line // optional: shown above Lines, and not searched
	top    int
	rows   int          // that were drawn
	search *edit.Editor // while words are looked for
}

// Tall says that a page takes the whole screen.
func (s *Page) Tall() bool { return true }

func (s *Page) Paste(text string) {
	if s.search != nil {
		s.search.Type(styled.OneLine(text))
	}
}

func (s *Page) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	stroke := Stroke(k)
	if s.search != nil && s.look(h, k, stroke) {
		return nil
	}
	switch stroke {
	case "esc", "ctrl+c", "q", "enter":
		return Close{s}
	case "/":
		s.search, s.top = &edit.Editor{}, 0
	case "up", "k":
		s.top--
	case "down", "j":
		s.top++
	case "pgup":
		s.top -= max(1, s.rows-1)
	case "pgdown", "space":
		s.top += max(1, s.rows-1)
	case "home":
		s.top = 0
	case "end":
		s.top = 1 << 30
	}
	s.top = max(0, s.top)
	return nil
}

// look handles the keys of a search, and reports whether the key was one.
func (s *Page) look(h Host, k tea.KeyPressMsg, stroke string) bool {
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		s.search = nil
	case k.Text != "":
		s.search.Type(k.Text)
		s.top = 0
	case stroke == "up" || stroke == "down" || stroke == "pgup" || stroke == "pgdown" || stroke == "enter":
		return false
	default:
		for _, act := range h.Keys().Plain(stroke) {
			if act != keys.Newline && s.search.Do(act) {
				break
			}
		}
	}
	return true
}

// found returns the lines that contain the words searched for.
func (s *Page) found(body []styled.Line) []styled.Line {
	words := strings.Fields(strings.ToLower(s.search.Text()))
	var out []styled.Line
	for _, line := range body {
		text, all := strings.ToLower(line.Text()), len(line) > 0
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			out = append(out, line)
		}
	}
	return out
}

func (s *Page) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	body, rows := s.Lines(l), max(1, height-1)
	hint, x := "esc close", -1
	out := []styled.Line{nil}
	if s.search != nil {
		hint = "esc all"
		body, rows = s.found(body), max(1, rows-1)
		words, caret := s.search.OneRow(l.Width-5, l.Method)
		out = append(out, l.Row(styled.Join(styled.Plain(l.Glyph("⌕ ", "? "), l.FG(theme.Muted)), styled.Plain(words, l.FG(theme.Text))), false))
		x = min(4+caret, l.Width-1)
	}
	if s.search == nil && s.First != nil {
		body = append(s.First(l), body...)
	}
	last := max(0, len(body)-rows)
	s.rows = rows
	s.top = min(s.top, last)
	if last > 0 {
		hint = l.Glyph("↑↓", "up/down") + " scroll · / search · " + hint
	}
	out[0] = l.Title(s.Title, hint)
	for _, line := range body[s.top:min(len(body), s.top+rows)] {
		out = append(out, l.Row(line, false))
	}
	return out, x, 1
}
