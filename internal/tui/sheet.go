package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// sheet is something that stands between the conversation and the status line and
// takes the keys: a dialog, a permission ask, a question.
type sheet interface {
	// key handles a keystroke.
	key(a *App, k tea.KeyPressMsg) tea.Cmd
	// paste takes pasted text.
	paste(text string)
	// draw returns at most height lines, and where the caret stands in them; a
	// negative x hides it.
	draw(l look, height int) (lines []styled.Line, x, y int)
}

// item is one row of a list.
type item struct {
	id, title, detail, right string
	group                    string
	current                  bool
}

// list is a sheet to choose from, with a filter.
type list struct {
	title string
	hint  string
	items []item
	empty string // shown when there is nothing
	pick  func(a *App, it item) tea.Cmd
	// move is told about the item that is marked now; may be nil.
	move func(a *App, it item)
	// closed is told that the person left without choosing; may be nil.
	closed func(a *App)
	// keys are further keystrokes; they return what to do, or nil for nothing.
	keys map[keys.Action]func(a *App, it item) tea.Cmd

	filter edit.Editor
	shown  []int
	at     int
}

// newList returns a list that begins at the current item.
func newList(l list) *list {
	l.refresh()
	for n, i := range l.shown {
		if l.items[i].current {
			l.at = n
		}
	}
	return &l
}

// refresh filters the items. Without a filter they keep their order.
func (s *list) refresh() {
	query := strings.TrimSpace(s.filter.Text())
	s.shown = s.shown[:0]
	scores := map[int]int{}
	for i, it := range s.items {
		score, ok := match(query, it.title+" "+it.detail+" "+it.group)
		if ok {
			scores[i] = score
			s.shown = append(s.shown, i)
		}
	}
	if query != "" {
		slices.SortStableFunc(s.shown, func(a, b int) int { return scores[b] - scores[a] })
	}
	s.at = max(0, min(s.at, len(s.shown)-1))
}

func (s *list) marked() (item, bool) {
	if len(s.shown) == 0 {
		return item{}, false
	}
	return s.items[s.shown[s.at]], true
}

func (s *list) paste(text string) {
	s.filter.Type(styled.OneLine(text))
	s.at = 0
	s.refresh()
}

func (s *list) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	it, any := s.marked()
	switch stroke := keyName(k); stroke {
	case "esc", "ctrl+c":
		a.close(s)
		if s.closed != nil {
			s.closed(a)
		}
		return nil
	case "enter":
		if !any {
			return nil
		}
		a.close(s)
		return s.pick(a, it)
	case "up", "ctrl+p":
		s.step(a, -1)
	case "down", "ctrl+n":
		s.step(a, 1)
	case "pgup":
		s.step(a, -8)
	case "pgdown":
		s.step(a, 8)
	default:
		return s.other(a, k, stroke, it, any)
	}
	return nil
}

func (s *list) other(a *App, k tea.KeyPressMsg, stroke string, it item, any bool) tea.Cmd {
	actions := a.keys.Plain(stroke)
	for _, act := range actions {
		if do := s.keys[act]; do != nil && any {
			return do(a, it)
		}
	}
	if k.Text != "" {
		s.filter.Type(k.Text)
		s.at = 0
		s.refresh()
		s.tell(a)
		return nil
	}
	for _, act := range actions {
		if act != keys.Newline && s.filter.Do(act) {
			s.at = 0
			s.refresh()
			s.tell(a)
			break
		}
	}
	return nil
}

func (s *list) step(a *App, by int) {
	if n := len(s.shown); n > 0 {
		next := s.at + by
		switch {
		case by == 1 && next == n:
			next = 0
		case by == -1 && next < 0:
			next = n - 1
		}
		s.at = max(0, min(next, n-1))
	}
	s.tell(a)
}

func (s *list) tell(a *App) {
	if it, ok := s.marked(); ok && s.move != nil {
		s.move(a, it)
	}
}

func (s *list) draw(l look, height int) (lines []styled.Line, x, y int) {
	lines = append(lines, l.title(s.title, s.hint))
	body := max(1, min(height-3, len(s.shown)+s.groups()))
	lines = append(lines, l.row(styled.Join(styled.Plain(l.glyph("⌕ ", "? "), l.fg(theme.Muted)), styled.Plain(s.filter.Text(), l.fg(theme.Text))), false))
	x, y = 4+styled.Width(s.filter.Text()[:s.filter.Caret()], l.method), 1
	if len(s.shown) == 0 {
		empty := s.empty
		if s.filter.Text() != "" || empty == "" {
			empty = "nothing matches"
		}
		return append(lines, l.row(styled.Plain(empty, l.fg(theme.Muted)), false)), x, y
	}
	return append(lines, s.rows(l, body)...), x, y
}

// groups counts the headings that are shown: only without a filter.
func (s *list) groups() int {
	if s.filter.Text() != "" {
		return 0
	}
	n, last := 0, ""
	for _, i := range s.shown {
		if g := s.items[i].group; g != last {
			n, last = n+1, g
		}
	}
	return n
}

// rows draws the part of the list around the marked item.
func (s *list) rows(l look, height int) []styled.Line {
	var all []styled.Line
	mark, last := 0, ""
	for n, i := range s.shown {
		it := s.items[i]
		if s.filter.Text() == "" && it.group != last {
			last = it.group
			all = append(all, l.row(styled.Plain(it.group, l.fg(theme.Secondary, styled.Bold)), false))
		}
		if n == s.at {
			mark = len(all)
		}
		all = append(all, l.row(l.item(it), n == s.at))
	}
	first := max(0, min(mark-height/2, len(all)-height))
	return all[first:min(len(all), first+height)]
}

func (l look) item(it item) styled.Line {
	dot := styled.Span{Text: "  "}
	if it.current {
		dot = styled.Span{Text: l.glyph("● ", "* "), Style: l.fg(theme.Success)}
	}
	right := styled.Plain(it.right+" ", l.fg(theme.Muted))
	room := l.width - 2 - right.Width(l.method)
	line := styled.Line{dot, {Text: it.title, Style: l.fg(theme.Text)}}
	if it.detail != "" {
		line = append(line, styled.Span{Text: "  " + it.detail, Style: l.fg(theme.Muted)})
	}
	return styled.Join(line.Cut(room-1, l.method).Pad(room, l.method, ""), right)
}

// title draws the first line of a sheet: its name and what keys do.
func (l look) title(text, hint string) styled.Line {
	left := styled.Plain(" "+text+" ", l.fg(theme.Primary, styled.Bold))
	right := styled.Plain(" "+hint+" ", l.fg(theme.Muted))
	dash := l.glyph("─", "-")
	fill := l.width - left.Width(l.method) - right.Width(l.method) - 2
	if fill < 2 {
		return left.Cut(l.width, l.method)
	}
	rule := func(n int) styled.Line { return styled.Plain(strings.Repeat(dash, n), l.fg(theme.Border)) }
	return styled.Join(rule(2), left, rule(fill), right)
}

// field is a sheet that asks for one line of text.
type field struct {
	title, hint string
	secret      bool // what is written is not shown
	edit        edit.Editor
	done        func(a *App, text string) tea.Cmd
}

func (s *field) paste(text string) { s.edit.Type(styled.OneLine(text)) }

func (s *field) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	switch stroke := keyName(k); {
	case stroke == "esc" || stroke == "ctrl+c":
		a.close(s)
	case stroke == "enter":
		a.close(s)
		return s.done(a, strings.TrimSpace(s.edit.Text()))
	case k.Text != "":
		s.edit.Type(k.Text)
	default:
		for _, act := range a.keys.Plain(stroke) {
			if act != keys.Newline && s.edit.Do(act) {
				break
			}
		}
	}
	return nil
}

func (s *field) draw(l look, _ int) ([]styled.Line, int, int) {
	text := styled.Plain(s.edit.Text(), l.fg(theme.Text))
	if s.secret {
		n := utf8.RuneCountInString(s.edit.Text())
		dots := styled.Plain(strings.Repeat(l.glyph("•", "*"), min(n, 40)), l.fg(theme.Text))
		return []styled.Line{l.title(s.title, s.hint), l.row(dots, false)}, 2 + min(n, 40), 1
	}
	x := 2 + styled.Width(s.edit.Text()[:s.edit.Caret()], l.method)
	return []styled.Line{l.title(s.title, s.hint), l.row(text, false)}, x, 1
}

// page is a sheet to read.
type page struct {
	title string
	lines func(l look) []styled.Line
	top   int
	last  int // the lowest top, as of the last drawing
}

func (s *page) paste(string) {}

func (s *page) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	switch keyName(k) {
	case "esc", "ctrl+c", "q", "enter":
		a.close(s)
	case "up", "k":
		s.top--
	case "down", "j":
		s.top++
	case "pgup":
		s.top -= 10
	case "pgdown", "space":
		s.top += 10
	case "home":
		s.top = 0
	case "end":
		s.top = s.last
	}
	s.top = max(0, min(s.top, s.last))
	return nil
}

func (s *page) draw(l look, height int) ([]styled.Line, int, int) {
	body := s.lines(l)
	rows := max(1, height-1)
	s.last = max(0, len(body)-rows)
	s.top = min(s.top, s.last)
	hint := "esc close"
	if s.last > 0 {
		hint = l.glyph("↑↓", "up/down") + " scroll · esc close"
	}
	out := []styled.Line{l.title(s.title, hint)}
	for _, line := range body[s.top:min(len(body), s.top+rows)] {
		out = append(out, l.row(line, false))
	}
	return out, -1, 0
}
